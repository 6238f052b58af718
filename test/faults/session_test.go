package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/results"
)

// scenario has launches on two nodes, of which there are more, and on one with shared
// memory, and makes those that the infrastructure spoils again.
const scenario = across + `
  within:
    workload: transfer
    place: {nodes: 1}
    options: {fabric: shm, iterations: 50, warmup: 5}
    sweep:
      block_size: [4KiB, 64KiB]
    launches: 3
    timeout: 10s
    retry: {times: 4, wait: 0s}
`

// across is a scenario that needs one processor of each node.
const across = `
scenario: faults
runs:
  across:
    workload: transfer
    place: {nodes: 2}
    options: {fabric: tcp, iterations: 50, warmup: 5}
    sweep:
      block_size: [4KiB, 64KiB]
    launches: 3
    timeout: 10s
    retry: {times: 4, wait: 0s}`

// allLaunches is what the scenario comes to, in launches of a case.
const allLaunches = 12

// bound is how long a session may take after whatever was broken is whole again.
const bound = 60 * time.Second

// session is one run of weir.
type session struct {
	w     *cluster
	dir   string
	log   string
	cmd   *exec.Cmd
	ended chan struct{}

	resumed bool // it was ended, and brought to its end
}

// run starts a session. resume is the directory of one to go on with, "" for a new one.
func (w *cluster) run(resume string, extra ...string) *session {
	w.t.Helper()
	w.runs++
	s := &session{w: w, dir: resume, log: fmt.Sprintf("run-%d.log", w.runs), ended: make(chan struct{})}
	args := []string{"run", "--resume", resume}
	if resume == "" {
		s.dir = w.path(fmt.Sprintf("out-%d", w.runs))
		file := w.path("faults.yaml")
		if err := os.WriteFile(file, []byte(w.scenario), 0o644); err != nil {
			w.t.Fatal(err)
		}
		args = []string{"run", file, "--out", s.dir}
	}
	args = append(args, "--quiet", "--etcd", w.etcdURL, "--cluster", w.path("cluster"), "--listen", w.at+":0", "--wait",
		"40s")
	args = append(args, atSite(w.t, w.secure.client())...)
	s.cmd = exec.Command(w.weir, append(args, extra...)...)
	s.cmd.Env = append(os.Environ(), "TMPDIR="+w.path("tmp"))
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	w.logged(s.cmd, s.log)
	go func() {
		s.cmd.Wait() // how it ended stands in its state
		close(s.ended)
	}()
	return s
}

// wait waits for the end of the session. One that does not end in time is told to say
// where it is, and killed.
func (s *session) wait(within time.Duration) bool {
	select {
	case <-s.ended:
		return true
	case <-time.After(within):
	}
	s.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-s.ended:
	case <-time.After(5 * time.Second):
		s.cmd.Process.Kill()
		<-s.ended
	}
	return false
}

// over says whether the session has ended.
func (s *session) over() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// code is the exit code, -1 if a signal ended it.
func (s *session) code() int { return s.cmd.ProcessState.ExitCode() }

// document is the session's, nil if it has written none.
func (s *session) document() (*results.Document, error) {
	d, err := results.Read(filepath.Join(s.dir, "results.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return d, err
}

// refusal is what a session says that did not begin, for etcd did not answer; "" of any other.
func (s *session) refusal() string {
	if _, err := os.Stat(s.dir); err == nil {
		return ""
	}
	text, _ := os.ReadFile(s.w.path(s.log)) // then it has said nothing
	said, line := "", strings.TrimSpace(string(text))
	if i := strings.LastIndexByte(line, '\n'); i >= 0 {
		said, line = line[:i], line[i+1:]
	}
	if strings.HasPrefix(line, "weir: connecting to etcd at ") &&
		(said == "" || strings.HasPrefix(said, "weir: etcd at ") && !strings.Contains(said, "\n")) {
		return line
	}
	return ""
}

// finished are the launches of cases that the journal has as measured.
func (s *session) finished() (map[string]time.Time, error) {
	records, err := ledger.ReadJournal(filepath.Join(s.dir, ledger.JournalName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all := map[string]time.Time{}
	for _, r := range records {
		if r.Launch == nil {
			continue
		}
		for _, c := range r.Launch.Cases {
			if c.Launch.Status == results.OK {
				all[fmt.Sprintf("%s/%d", c.Key, c.Launch.Index)] = c.Launch.Started
			}
		}
	}
	return all, nil
}

// happened are the session's events until now, but for those of progress, of which a slow
// machine has more.
func (s *session) happened() (all []event.Event) {
	text, _ := os.ReadFile(filepath.Join(s.dir, "events.ndjson")) // none yet: nothing has happened
	for line := range bytes.Lines(text) {
		var e event.Event
		if json.Unmarshal(line, &e) == nil && e.Type != event.CaseProgress { // the last may be half written
			all = append(all, e)
		}
	}
	return all
}

// finishedCounts is of how many launches the session has said that they are finished well, and how
// many cases these have together: one that is made again has those that are missing.
func (s *session) finishedCounts() (launches, cases int) {
	has := map[string]int{}
	for _, e := range s.happened() {
		switch {
		case e.Type == event.LaunchStarted:
			has[fmt.Sprintf("%s/%d", e.Group, *e.Launch)] = e.Cases
		case e.Type == event.LaunchFinished && e.Status == results.OK:
			launches++
			cases += has[fmt.Sprintf("%s/%d", e.Group, *e.Launch)]
		}
	}
	return launches, cases
}
