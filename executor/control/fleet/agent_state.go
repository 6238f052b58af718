package fleet

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/executor/control/link"
)

// lockFile is the file in the state directory that the agent locks.
const lockFile = "lock"

// lockState locks the state directory for this process. id identifies the directory, so that a later
// process recognises this one as its predecessor.
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
		return nil, "", setupError("state directory %s is in use by another agent; give this one another --state and --node",
			dir)
	}
	return f, idIn(f), nil
}

// idIn reads the ID in a file, or writes a new one. It is "" if neither is possible, as on a full disk: a
// later process then waits for this one's lease to expire.
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

// SetupError is wrong usage of the agent, as opposed to a failure.
type SetupError struct{ err error }

func (e *SetupError) Error() string { return e.err.Error() }
func (e *SetupError) Unwrap() error { return e.err }

func setupError(format string, args ...any) error { return &SetupError{fmt.Errorf(format, args...)} }

// checkCredentials checks this node's certificate.
func (d *daemon) checkCredentials() error {
	i, err := d.Credentials()
	if err == nil {
		err = i.Check(link.Agent, d.Node)
	}
	if err != nil {
		return setupError("this agent's certificate: %w", err)
	}
	return nil
}
