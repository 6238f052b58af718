package agent

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// logPieceSize is how much of a log is reported at a time, in bytes.
const logPieceSize = 1 << 20

// shipLaunch reports the logs of a launch's ranks, once they are complete, where the
// agent's log directory is not the session's. During the launch they stay on the node:
// passing them on would cost what is measured processor time.
func (a *Agent) shipLaunch(task string, l *assignment) {
	for _, rank := range l.Ranks {
		a.ship(task, filepath.Join(l.LogDir, strconv.Itoa(l.launch.Index), strconv.Itoa(rank)+".log"))
	}
}

// ship reports a file below the log directory, which is then removed. One that cannot
// be read has nothing to report: what is wrong with it shows in its task.
func (a *Agent) ship(task, name string) {
	if !a.o.ShipLogs {
		return
	}
	path := filepath.Join(a.o.LogDir, name)
	defer os.Remove(path)
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	for from := int64(0); from < maxOutput; {
		piece := make([]byte, logPieceSize)
		n, err := io.ReadFull(f, piece)
		if n > 0 || from == 0 {
			a.report(Report{Task: task, Log: &Log{Name: name, From: from, Text: piece[:n]}})
		}
		from += int64(n)
		if err != nil {
			return
		}
	}
}
