package trust

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// authorityName is what the files of an authority are called, without .pem and .key.
const authorityName = "ca"

// Save writes ca.pem, and ca.key that only its owner can read, into a directory, which
// it makes if it must. It replaces nothing.
func (a *Authority) Save(dir string) error {
	key, err := encodeKey(a.key)
	if err != nil {
		return err
	}
	if err := save(dir, authorityName, a.pem, key); err != nil {
		return fmt.Errorf("saving the certificate authority: %w", err)
	}
	return nil
}

// LoadAuthority reads what Save writes, and what Revoke does. A key that others can read
// is no secret any more and is refused.
func LoadAuthority(dir string) (*Authority, error) {
	cert, key, err := load(dir, authorityName)
	if err != nil {
		return nil, fmt.Errorf("loading the certificate authority: %w", err)
	}
	a := &Authority{pem: cert}
	if a.cert, err = parseAuthority(cert); err != nil {
		return nil, fmt.Errorf("loading %s: %w", filepath.Join(dir, authorityName+".pem"), err)
	}
	if a.key, err = parseKey(key); err != nil {
		return nil, fmt.Errorf("loading %s: %w", filepath.Join(dir, authorityName+".key"), err)
	}
	if !a.key.PublicKey.Equal(a.cert.PublicKey) {
		return nil, fmt.Errorf("loading the certificate authority in %s: the key is not that of the certificate", dir)
	}
	if a.revoked, err = readRevoked(dir); err != nil {
		return nil, fmt.Errorf("loading the certificate authority: %w", err)
	}
	return a, nil
}

// Save writes the certificate and the key of an identity into a directory that has, or
// will have, its authority's ca.pem: name.pem, and name.key that only its owner can
// read. It replaces nothing.
func (i Identity) Save(dir, name string) error {
	if err := save(dir, name, i.Certificate, i.Key); err != nil {
		return fmt.Errorf("saving the identity %s: %w", name, err)
	}
	return nil
}

// LoadIdentity reads what Identity.Save writes, ca.pem beside it, and what Revoke writes:
// peers whose certificates are revoked are strangers to the identity.
func LoadIdentity(dir, name string) (Identity, error) {
	var i Identity
	var err error
	if i.Certificate, i.Key, err = load(dir, name); err == nil {
		if i.CA, err = read(filepath.Join(dir, authorityName+".pem"), false); err == nil {
			_, _, err = i.Role()
		}
	}
	if err == nil {
		i.revoked, err = readRevoked(dir)
	}
	if err != nil {
		return Identity{}, fmt.Errorf("loading the identity %s: %w", filepath.Join(dir, name), err)
	}
	return i, nil
}

func save(dir, name string, cert, key []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	secret, public := filepath.Join(dir, name+".key"), filepath.Join(dir, name+".pem")
	if err := WriteNew(secret, key, 0o600); err != nil {
		return err
	}
	if err := WriteNew(public, cert, 0o644); err != nil {
		return errors.Join(err, os.Remove(secret)) // half of a pair would be in the way of the next attempt
	}
	return nil
}

// WriteNew writes a file that must not be there yet and leaves nothing of it if it
// cannot be written whole.
func WriteNew(path string, text []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

func load(dir, name string) (cert, key []byte, err error) {
	if key, err = read(filepath.Join(dir, name+".key"), true); err != nil {
		return nil, nil, err
	}
	cert, err = read(filepath.Join(dir, name+".pem"), false)
	return cert, key, err
}

// read reads a short file. A secret one must be its owner's alone, by what is opened
// and not by what was at the path before.
func read(path string, secret bool) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file", path)
	case secret && st.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s can be read by others (mode %#o), so it may not be secret any more: if it is, chmod 600 %s",
			path, st.Mode().Perm(), path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxPEM+1))
	if err == nil && len(text) > maxPEM {
		err = fmt.Errorf("%s is longer than %d bytes", path, maxPEM)
	}
	return text, err
}
