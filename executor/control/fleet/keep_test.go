package fleet

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/control/link"
)

// keeping is a fleet of a session that has placed a launch of a rank on each of two nodes.
func keeping(t *testing.T) (*Fleet, string) {
	t.Helper()
	dir := t.TempDir()
	f := New(Config{Options: &Options{}, Dir: dir})
	f.Expect("bw/0", map[string][]string{
		"n1": {agent.RankLog("bw", 0, 0)}, "z4": {agent.RankLog("bw", 0, 1)},
	})
	return f, filepath.Join(dir, "logs")
}

// sent has a node send the beginning of a log, as it comes over the link.
func sent(f *Fleet, node, task, name, text string) error { return piece(f, node, task, name, 0, text) }

func piece(f *Fleet, node, task, name string, from int64, text string) error {
	head, body, err := agent.Report{Task: task, Log: &agent.Log{Name: name, From: from, Text: []byte(text)}}.Encode()
	if err != nil {
		return err
	}
	return f.take(node, link.Message{Head: head, Body: body})
}

// files is how many files and directories there are below one.
func files(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		n++
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A node says nothing in another one's log, nor where a directory is to be.
func TestALogIsItsOwnNodes(t *testing.T) {
	f, logs := keeping(t)
	honest := filepath.Join(logs, "bw", "0", "0.log")
	if err := sent(f, "n1", "bw/0", "bw/0/0.log", "honest"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bw/0/0.log", "bw/0/0.log/x", "bw/0", "other.log", "bw/0/1.log/x"} {
		if err := sent(f, "z4", "bw/0", name, "forged by z4"); err == nil {
			t.Errorf("z4's %s is taken", name)
		}
	}
	if text, err := os.ReadFile(honest); err != nil || string(text) != "honest" {
		t.Errorf("%q, %v", text, err)
	}
	f.Ended("bw/0")
	if err := sent(f, "z4", "bw/0", "bw/0/1.log", "late"); err != nil {
		t.Errorf("a log that comes late: %v", err)
	}
	if n := files(t, logs); n != 5 {
		t.Errorf("%d files and directories", n)
	}
	if err := f.lost; err != nil {
		t.Error(err)
	}
}

// However many logs a node sends of tasks that it was not given, nothing of them is on the disk.
func TestLogsOfNoTaskAreDropped(t *testing.T) {
	f, logs := keeping(t)
	for i := range 1000 {
		name := filepath.Join("d", strconv.Itoa(i), "x.log")
		if err := sent(f, "z4", "never placed", name, ""); err != nil {
			t.Fatal(err)
		}
	}
	for i := range lateTasks + 2 {
		f.Expect(strconv.Itoa(i), map[string][]string{"z4": {"late.log"}})
		f.Ended(strconv.Itoa(i))
	}
	if err := sent(f, "z4", "0", "late.log", "x"); err != nil {
		t.Error(err)
	}
	if n := files(t, logs); n != 0 {
		t.Errorf("%d files and directories", n)
	}
}

// A small file takes a block of the disk, so it counts as one; a node that sends too much is hung
// up on.
func TestLogsAreCountedAsTheDiskDoes(t *testing.T) {
	f, _ := keeping(t)
	for range 3 {
		if err := sent(f, "z4", "bw/0", "bw/0/1.log", "x"); err != nil {
			t.Fatal(err)
		}
	}
	if n := f.logged["z4"]; n != 3*block {
		t.Errorf("%d bytes are counted", n)
	}
	for from, blocks := range map[int64]int64{0: 1, 8 * block: 1, 5*block - 1: 2} { // a file may have holes
		f.logged["z4"] = 0
		if err := piece(f, "z4", "bw/0", "bw/0/1.log", from, "xy"); err != nil {
			t.Fatal(err)
		}
		if n := f.logged["z4"]; n != blocks*block {
			t.Errorf("at byte %d, %d bytes are counted", from, n)
		}
	}
	f.logged["z4"] = mostLogged
	if err := sent(f, "z4", "bw/0", "bw/0/1.log", "x"); err == nil {
		t.Error("there is no end to it")
	}
}

// A link in the session's directory leads no log elsewhere.
func TestLogsFollowNoLink(t *testing.T) {
	f, logs := keeping(t)
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(logs, "bw", "0"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(logs, "bw", "0", "0.log")); err != nil {
		t.Fatal(err)
	}
	if err := sent(f, "n1", "bw/0", "bw/0/0.log", "over it"); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "theirs" || f.lost == nil {
		t.Errorf("%q, %v, %v", text, err, f.lost)
	}
}
