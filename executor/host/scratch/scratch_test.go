package scratch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if root := os.Getenv("SCRATCH_LEAVE_IN"); root != "" {
		d, err := Want{}.Make(root)
		if err != nil {
			panic(err)
		}
		os.Stdout.WriteString(d.Path())
		os.Exit(0) // as a killed session would: nothing is removed
	}
	if root := os.Getenv("SCRATCH_MAKE_IN"); root != "" {
		for {
			makeAndRemove(root)
		}
	}
	os.Exit(m.Run())
}

func makeAndRemove(root string) {
	d, err := Want{}.makeIn(root)
	if err == nil {
		err = os.WriteFile(filepath.Join(d.Path(), "x"), nil, 0o600)
	}
	if err == nil {
		err = d.Remove()
	}
	if err != nil {
		panic(err)
	}
}

// A process may be killed before its directory is locked, or while it is removed. Another one
// makes its own meanwhile.
func TestSweepTakesWhatAProcessLeftWhereverItWasKilled(t *testing.T) {
	root := t.TempDir()
	live, err := Want{}.makeIn(root)
	if err != nil {
		t.Fatal(err)
	}
	unfinished := 0
	for i := 0; i < 150 || unfinished == 0 && i < 3000; i++ { // a busy host kills few at that instant
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "SCRATCH_MAKE_IN="+root)
		child.Stderr = os.Stderr
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(10+i%10) * time.Millisecond)
		Sweep(root)
		makeAndRemove(root)
		if err := child.Process.Kill(); err != nil {
			t.Fatalf("it ended by itself: %v", err)
		}
		_ = child.Wait() // killed
		locks, _ := filepath.Glob(filepath.Join(root, "*", lockName))
		left, err := os.ReadDir(root)
		if err != nil {
			t.Fatal(err)
		}
		unfinished += len(left) - len(locks)
		Sweep(root)
		if left, err = os.ReadDir(root); err != nil || len(left) != 1 {
			t.Fatalf("after %d processes were killed: %v, error %v", i+1, left, err)
		}
	}
	if unfinished == 0 {
		t.Error("none was killed where its directory had no lock: this shows nothing")
	}
	if err := live.Remove(); err != nil {
		t.Error(err)
	}
}

func TestRemoveLeavesNothing(t *testing.T) {
	root := t.TempDir()
	d, err := Want{}.Make(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.Path(), "x"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Remove(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(root); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestMakeFallsBackToTheNextRoot(t *testing.T) {
	root := t.TempDir()
	d, err := Want{}.Make(filepath.Join(root, "absent"), root)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Remove()
	if filepath.Dir(d.Path()) != root {
		t.Errorf("made %s, not below %s", d.Path(), root)
	}
}

func TestSweepTakesOnlyWhatDeadSessionsLeft(t *testing.T) {
	root := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "SCRATCH_LEAVE_IN="+root)
	out, err := child.Output()
	if err != nil {
		t.Fatal(err)
	}
	stale := string(out)
	if _, err := os.Stat(stale); err != nil {
		t.Fatalf("the dead session left nothing to sweep: %v", err)
	}
	live, err := Want{}.makeIn(root)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Remove()
	var others []string
	for _, name := range []string{"weir-main", "weir-2026"} {
		dir := filepath.Join(root, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		others = append(others, dir)
	}
	if err := os.WriteFile(filepath.Join(root, "weir-2026", "notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}

	Sweep(root)

	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Errorf("the dead session's directory is still there (%v)", err)
	}
	for _, dir := range append(others, live.Path()) {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("swept what it must not touch: %v", err)
		}
	}
}

func TestWantedSpaceAndPaths(t *testing.T) {
	root := t.TempDir()
	much := Want{Free: 1 << 60}
	_, err := much.Make(root, root, filepath.Join(root, "absent"))
	if err == nil || strings.Count(err.Error(), root+" has ") != 1 ||
		!strings.Contains(err.Error(), "absent: no such file or directory; name one by TMPDIR") {
		t.Errorf("no room: %v", err)
	}
	d, err := much.Prefer(filepath.Join(root, "absent"), root)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Remove()
	short := t.TempDir()
	long := filepath.Join(short, "long")
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	there, err := Want{Longest: len(short)}.Make(long, short)
	if err != nil {
		t.Fatal(err)
	}
	defer there.Remove()
	if filepath.Dir(there.Path()) != short {
		t.Errorf("made %s, which is too long", there.Path())
	}
}
