package link

import (
	"crypto/ecdsa"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Files are the paths of the files of an identity.
type Files struct{ CA, Certificate, Key string }

// FilesIn are the files of a name in a directory of Authority.Save and Identity.Save.
func FilesIn(dir, name string) Files {
	return Files{
		CA: filepath.Join(dir, authorityName+".pem"), Certificate: filepath.Join(dir, name+".pem"),
		Key: filepath.Join(dir, name+".key"),
	}
}

// authorityName is the base name of the files of an authority.
const authorityName = "ca"

// Load reads the files. As Credentials, it uses a renewed certificate for the next connection. A key that
// others can read is an error.
func (f Files) Load() (i Identity, err error) {
	for _, file := range []struct {
		path   string
		secret bool
		to     *[]byte
	}{{f.CA, false, &i.CA}, {f.Certificate, false, &i.Certificate}, {f.Key, true, &i.Key}} {
		if *file.to, err = read(file.path, file.secret); err != nil {
			return Identity{}, err
		}
	}
	return i, nil
}

// Save writes ca.pem, and ca.key with mode 0600, into a directory, which it creates if needed. It replaces
// no file.
func (a *Authority) Save(dir string) error {
	i, err := a.identity(a.cert.Raw, a.key)
	if err != nil {
		return err
	}
	return i.Save(dir, authorityName)
}

// LoadAuthority reads the files of Authority.Save.
func LoadAuthority(dir string) (*Authority, error) {
	i, err := FilesIn(dir, authorityName).Load()
	if err != nil {
		return nil, fmt.Errorf("loading the certificate authority: %w", err)
	}
	pair, _, err := i.pair()
	if err != nil {
		return nil, fmt.Errorf("loading the certificate authority in %s: %w", dir, err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok || !pair.Leaf.IsCA {
		return nil, fmt.Errorf("the certificate in %s is not that of an authority of weir", dir)
	}
	return &Authority{key: key, cert: pair.Leaf, pem: i.Certificate}, nil
}

// Save writes name.pem, and name.key with mode 0600, into the directory of the authority. It replaces no file.
func (i Identity) Save(dir, name string) error {
	if err := save(dir, name, i.Certificate, i.Key); err != nil {
		return fmt.Errorf("saving certificate %s: %w", name, err)
	}
	return nil
}

func save(dir, name string, cert, key []byte) error {
	if _, err := tls.X509KeyPair(cert, key); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	files := FilesIn(dir, name)
	if err := writeNew(files.Key, key, 0o600); err != nil {
		return err
	}
	if err := writeNew(files.Certificate, cert, 0o644); err != nil {
		return errors.Join(err, os.Remove(files.Key)) // else the next attempt would fail
	}
	return nil
}

// writeNew creates a file, and removes it if it cannot be written completely.
func writeNew(path string, text []byte, mode os.FileMode) error {
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

// read reads a short regular file. Only the owner may read a secret one; the mode of the open file counts.
func read(path string, secret bool) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe without a writer does not block
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case secret && st.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s can be read by others (mode %#o): if it is still secret, chmod 600 %s", path,
			st.Mode().Perm(), path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxPEM+1))
	if err == nil && len(text) > maxPEM {
		err = fmt.Errorf("%s is longer than %d bytes", path, maxPEM)
	}
	return text, err
}
