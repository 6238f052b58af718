package daemon

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"weir/executor/link"
	"weir/executor/trust"
)

// What a daemon keeps in its state directory.
const (
	lockFile        = "lock"
	authorityFile   = "ca.pem"
	certificateFile = "agent.pem"
	keyFile         = "agent.key"
)

// lockState makes the state directory this process's own as long as it lives. id is the
// directory's, by which a later process knows that this one had it.
func lockState(dir string) (lock *os.File, id string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", fmt.Errorf("making the state directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, "", fmt.Errorf("locking the state directory: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, "", wrong("state directory %s is another agent's that runs now; give this one another --state and --node",
			dir)
	}
	return f, idIn(f), nil
}

// idIn reads what a file has, or makes it up. It is "" where neither is possible, as on a
// full disk: then nobody succeeds this process before its lease has run out.
func idIn(f *os.File) string {
	id := make([]byte, 16)
	if n, _ := f.ReadAt(id, 0); n < len(id) {
		rand.Read(id)
		if _, err := f.WriteAt(id, 0); err != nil {
			return ""
		}
	}
	return hex.EncodeToString(id)
}

// SetupError is a mistake in how the daemon was started, and not something that failed.
type SetupError struct{ err error }

func (e *SetupError) Error() string { return e.err.Error() }
func (e *SetupError) Unwrap() error { return e.err }

func wrong(format string, args ...any) error { return &SetupError{fmt.Errorf(format, args...)} }

// errNoCluster tells how an agent comes to trust somebody.
var errNoCluster = errors.New("this agent has joined no cluster, so it would trust nobody: " +
	"make one where sessions are started with `weir cluster init`, a token for agents with `weir cluster token --out FILE`, and start this agent with --join FILE")

// credentials reads what an earlier process was given, or the token to be given it.
func (d *daemon) credentials(now time.Time) error {
	if d.Join != "" {
		t, err := trust.ReadToken(d.Join)
		if err != nil {
			return wrong("join token: %w", err)
		}
		if t.Node != "" && t.Node != d.Node {
			return wrong("join token: it is for node %s, and this is %s", t.Node, d.Node)
		}
		d.token = t
	}
	identity, err := readIdentity(d.State)
	switch {
	case err != nil:
		return err
	case identity.CA == nil && d.Join == "":
		return &SetupError{errNoCluster}
	case identity.CA != nil && (d.Join == "" || string(identity.CA) == string(d.token.CA)):
		if err := d.own(identity, now); err != nil || d.identity.CA != nil {
			return err
		}
	}
	if now.After(d.token.Expires) {
		return wrong("join token: it ended at %s; make a new one with `weir cluster token`",
			d.token.Expires.Format(time.RFC3339))
	}
	return nil
}

// own takes an identity of this node. That of another name is of no use, nor is one that
// has ended: with a token, another takes its place.
func (d *daemon) own(i trust.Identity, now time.Time) error {
	_, name, err := i.Role()
	if err != nil {
		return wrong("the certificate in %s: %w", d.State, err)
	}
	ends, err := i.Expires()
	if err != nil {
		return wrong("the certificate in %s: %w", d.State, err)
	}
	switch {
	case name == d.Node && now.Before(ends):
		d.identity = i
	case d.Join != "":
	case name != d.Node:
		return wrong("the certificate in %s is that of node %s, and this is %s: start it with --node %s, or with --join FILE to join anew",
			d.State, name, d.Node, name)
	default:
		return wrong("the certificate in %s ended at %s: make a token with `weir cluster token` and start this agent with --join FILE",
			d.State, ends.Format(time.RFC3339))
	}
	return nil
}

// authority is the certificate authority whose coordinators this agent obeys.
func (d *daemon) authority() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.identity.CA != nil {
		return d.identity.CA
	}
	return d.token.CA
}

// enrolled is this node's identity. The first session that has the authority's key
// gives it one, in exchange for the token. Sessions that come at the same time do not wait
// for each other, as the coordinator of one may not answer; the first identity stays.
func (d *daemon) enrolled(ctx context.Context, coordinator []string) (trust.Identity, error) {
	d.mu.Lock()
	i := d.identity
	d.mu.Unlock()
	if i.Certificate != nil {
		return i, nil
	}
	i, err := d.enrol(ctx, coordinator)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.identity.Certificate != nil:
		return d.identity, nil
	case err != nil:
		return trust.Identity{}, err
	}
	if err := writeIdentity(d.State, i); err != nil {
		return trust.Identity{}, err
	}
	d.identity = i
	d.Say(fmt.Sprintf("node %s has joined the cluster; its certificate is in %s", d.Node, d.State))
	return i, nil
}

func (d *daemon) enrol(ctx context.Context, coordinator []string) (trust.Identity, error) {
	calling, cancel := context.WithTimeout(ctx, meeting)
	defer cancel()
	conn, err := dialer(coordinator)(calling)
	if err != nil {
		return trust.Identity{}, fmt.Errorf("%w: %w", errBroken, err)
	}
	defer conn.Close()
	i, err := link.Enrol(calling, conn, d.token, d.Join, d.Node)
	if err != nil {
		return trust.Identity{}, fmt.Errorf("joining the cluster: %w", err)
	}
	return i, nil
}

// readIdentity is empty where there is none.
func readIdentity(dir string) (trust.Identity, error) {
	var i trust.Identity
	for name, to := range map[string]*[]byte{authorityFile: &i.CA, certificateFile: &i.Certificate, keyFile: &i.Key} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			return trust.Identity{}, nil // that of a process that was killed while it wrote is none
		}
		if err != nil {
			return trust.Identity{}, fmt.Errorf("reading the agent's certificate: %w", err)
		}
		*to = b
	}
	return i, nil
}

// writeIdentity leaves the key for last: only with it is there an identity.
func writeIdentity(dir string, i trust.Identity) error {
	for _, f := range []struct {
		name string
		text []byte
	}{{keyFile, nil}, {authorityFile, i.CA}, {certificateFile, i.Certificate}, {keyFile, i.Key}} {
		path := filepath.Join(dir, f.name)
		if f.text == nil {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("keeping the agent's certificate: %w", err)
			}
			continue
		}
		early := path + ".new"
		if err := os.WriteFile(early, f.text, 0o600); err != nil {
			return fmt.Errorf("keeping the agent's certificate: %w", err)
		}
		if err := os.Rename(early, path); err != nil {
			return fmt.Errorf("keeping the agent's certificate: %w", err)
		}
	}
	return nil
}
