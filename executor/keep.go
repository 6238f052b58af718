package executor

import (
	"fmt"
	"os"
	"path/filepath"

	"weir/executor/agent"
)

// keep puts a piece of a log that another node has sent where the session's logs are.
func (f *fleet) keep(l *agent.Log) {
	path := filepath.Join(f.s.o.Dir, "logs", l.Name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = writeAt(path, l.From, l.Text)
	}
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost = firstError(f.lost, fmt.Errorf("keeping a log: %w", err))
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
	defer func() { err = firstError(err, file.Close()) }()
	_, err = file.WriteAt(text, at)
	return err
}
