package fleet

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"weir/executor/agent"
)

// mostLogged is how much of logs a node may send in a session, in bytes: each file has its
// own bound, their number has not.
const mostLogged = 4 << 30

// keep puts a piece of a log that another node has sent where the session's logs are. The
// error is the node's fault.
func (f *Fleet) keep(node string, l *agent.Log) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.logged[node] += int64(len(l.Text)); f.logged[node] > mostLogged {
		return fmt.Errorf("node %s has sent more than %d bytes of logs", node, mostLogged)
	}
	path := filepath.Join(f.c.Dir, "logs", l.Name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = writeAt(path, l.From, l.Text)
	}
	if err != nil {
		f.lost = cmp.Or(f.lost, fmt.Errorf("keeping a log: %w", err))
	}
	return nil
}

func writeAt(path string, at int64, text []byte) (err error) {
	flags := os.O_WRONLY | os.O_CREATE
	if at == 0 {
		flags |= os.O_TRUNC
	}
	file, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, file.Close()) }()
	_, err = file.WriteAt(text, at)
	return err
}
