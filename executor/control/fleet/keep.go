package fleet

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/executor/agent"
)

// Limits of the logs that a node may send in a session.
const (
	mostLogged = 4 << 30 // bytes on disk
	block      = 4 << 10 // smallest size of a file on disk, in bytes
	lateTasks  = 64      // ended tasks with logs that may still arrive
)

// expected are the logs that nodes may send.
type expected struct {
	tasks map[string]map[string][]string // names of files by task and node
	late  []string                       // ended tasks, the oldest first
}

// Expect registers the logs of a task, by node, before the task is placed.
func (f *Fleet) Expect(task string, logs map[string][]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expected.tasks[task] = logs
	f.expected.late = slices.DeleteFunc(f.expected.late, func(other string) bool { return other == task })
}

// Ended marks a task as ended.
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

// keep writes a part of an expected log of a node to the session's logs. Logs of unknown tasks are
// dropped. The error is about what the node sent.
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

// onDisk is the size of a part of a file on disk, in bytes: full blocks, and at least one.
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
