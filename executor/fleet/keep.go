package fleet

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"weir/executor/agent"
)

// Bounds of the logs that a node may send in a session.
const (
	// mostLogged is in bytes of disk: a small file takes a block, too.
	mostLogged = 4 << 30
	// block is what a file takes at least.
	block = 4 << 10
	// lateTasks are those that have ended and whose logs may still come, as an agent sends
	// them when it has ended what was withdrawn.
	lateTasks = 64
)

// expected are the logs that nodes may send: of the tasks that were placed on them, by the
// names that the coordinator gave.
type expected struct {
	tasks map[string]map[string][]string // names of files, by task and node
	late  []string                       // tasks that have ended, the oldest first
}

// Expect says which logs a task makes on its nodes. It comes before the task is placed.
func (f *Fleet) Expect(task string, logs map[string][]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expected.tasks[task] = logs
	f.expected.late = slices.DeleteFunc(f.expected.late, func(other string) bool { return other == task })
}

// Ended says that a task is over.
func (f *Fleet) Ended(task string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := &f.expected
	if _, ok := e.tasks[task]; !ok {
		return
	}
	if e.late = append(e.late, task); len(e.late) > lateTasks {
		delete(e.tasks, e.late[0])
		e.late = e.late[1:]
	}
}

// keep puts a piece of a log that another node has sent where the session's logs are, if it
// is one that the node was asked for. Output of a task that is unknown, or no longer
// known, is dropped. The error is the node's fault.
func (f *Fleet) keep(node, task string, l *agent.Log) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	nodes, known := f.expected.tasks[task]
	if !known {
		return nil
	}
	if !slices.Contains(nodes[node], l.Name) {
		return fmt.Errorf("node %s sends a log %.80q, which task %.80q does not have there", node, l.Name, task)
	}
	if f.logged[node] += onDisk(l.From, len(l.Text)); f.logged[node] > mostLogged {
		return fmt.Errorf("node %s has sent more than %d bytes of logs", node, int64(mostLogged))
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

// onDisk is how much of the disk a piece takes, wherever in its file it is: whole blocks, and one
// for the file itself.
func onDisk(from int64, size int) int64 {
	first, end := from/block, (from+int64(size)+block-1)/block
	return max(1, end-first) * block
}

func writeAt(path string, at int64, text []byte) (err error) {
	flags := os.O_WRONLY | os.O_CREATE | unix.O_NOFOLLOW
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
