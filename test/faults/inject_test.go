package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/ledger"
)

// row is what came of one injection.
type row struct {
	injection
	outcome  string
	took     time.Duration // from the injection to the end of the command
	hit      bool          // something was broken while the session was not over yet
	causes   []string      // that its launches failed of
	problems []string
}

func (r *row) wrong(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// Outcomes.
const (
	late    = "too late" // the session was over
	idle    = "nothing to break"
	held    = "held"      // it did not even have to make a launch again
	mended  = "mended"    // launches failed, with the cause, and were made again
	failed  = "failed"    // with the cause
	resumed = "resumed"   // it was ended and brought to its end by --resume
	hung    = "hung"      // it did not end in time
	unbegun = "not begun" // it was ended before there was anything to resume
)

// settle is how long leases may take to end, agents to come back and processes to go.
const settle = 45 * time.Second

// calm waits for the cluster and has a session in it to which nothing happens.
func (w *cluster) calm() {
	w.t.Helper()
	if what, ok := w.settled(); !ok {
		w.t.Fatalf("the cluster does not come up: %s\n%s\n%s", what, w.tail("etcd.log"), w.tail("a.log"))
	}
	start := time.Now()
	s := w.run("")
	if !s.wait(bound) || s.code() != 0 {
		why := ""
		if doc, err := s.document(); err == nil && doc != nil {
			why = strings.Join(causes(doc), "\n  ")
		}
		w.t.Fatalf("a session without a fault ends with %v: %s\n%s\n%s", s.cmd.ProcessState, why, w.tail(s.log),
			w.tail(w.nodes[1].name+".log"))
	}
	happened := s.happened()
	w.usual = len(happened)
	for _, e := range happened {
		if e.Type == event.NodeReady {
			w.opening = e.Time.Sub(start)
		}
	}
	if what, ok := w.settled(); !ok {
		w.t.Fatalf("a session without a fault leaves %s", what)
	}
}

// runWithFault injects a fault into a session and checks the result.
func (w *cluster) runWithFault(r *rand.Rand, i injection) row {
	result := row{injection: i}
	s := w.run("")
	for i.share > 0 && !s.over() && float64(len(s.happened())) < i.share*float64(w.usual) {
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(i.after)
	w.aim(r, &i)
	result.injection = i
	struck := time.Now()
	over := s.over()
	undo, done := w.inject(r, i, s.cmd)
	healed := make(chan struct{})
	go func() {
		defer close(healed)
		time.Sleep(i.held)
		undo()
	}()
	inTime := s.wait(i.held + bound)
	result.took = time.Since(struck)
	<-healed
	switch {
	case !inTime:
		result.outcome = hung
		result.wrong("the session did not end within %v", i.held+bound)
	case over:
		result.outcome = late
	case !done:
		result.outcome = idle
	default:
		result.hit = true
		w.judge(s, &result)
	}
	w.killed = !s.resumed && s.code() < 0
	if what, ok := w.settled(); !ok {
		result.wrong("left behind: %s", what)
	}
	if len(result.problems) > 0 {
		w.keep = true
		text := fmt.Sprintf("%v, in %s\n  %s\n%s", i, s.dir, strings.Join(result.problems, "\n  "), w.tail(s.log))
		for _, n := range w.nodes {
			text += "\n" + w.tail(n.name+".log")
		}
		w.t.Error(text)
	} else {
		os.RemoveAll(s.dir)
	}
	w.t.Logf("%v: %s after %.1f s", i, result.outcome, result.took.Seconds())
	return result
}

// judge holds a session that has ended to what it promises.
func (w *cluster) judge(s *session, r *row) {
	finished, err := s.finished()
	if err != nil {
		r.wrong("its journal: %v", err)
	}
	if launches, cases := s.finishedCounts(); len(finished) < cases {
		r.wrong("it told that %d launches are finished, and its journal has %d of their %d cases", launches,
			len(finished), cases)
	}
	mayEnd := map[int]bool{0: true, 6: true}
	if r.target == "coordinator" {
		switch r.how {
		case killed:
			mayEnd[-1] = true
		case terminated:
			mayEnd[143] = true
			if _, err := os.Stat(s.dir); err != nil {
				mayEnd[-1] = true // before it had begun to listen to signals, and anything else
			}
		}
	}
	if !mayEnd[s.code()] {
		r.wrong("it ended with %v", s.cmd.ProcessState)
	}
	doc, err := s.document()
	switch {
	case err != nil:
		r.wrong("its document: %v", err)
	case doc == nil && s.refusal() != "" && r.target == "etcd": // not begun, for it could not: nothing is lost
		r.outcome = failed + ": " + s.refusal()
		return
	case doc == nil && s.code() >= 0:
		r.wrong("it ended with %d and wrote no document", s.code())
	case doc != nil:
		if doc.Session.ExitCode != s.code() && s.code() >= 0 {
			r.wrong("it ended with %d, and its document says %d", s.code(), doc.Session.ExitCode)
		}
		for _, what := range unnamed(doc) {
			r.wrong("no cause: %s", what)
		}
		r.causes = causes(doc)
		if what := r.misled(doc); what != "" {
			r.wrong("not its cause: %s", what)
		}
		if keys := lost(finished, doc); len(keys) > 0 {
			r.wrong("its document lost %v", keys)
		}
	}
	switch {
	case s.code() == 0:
		r.outcome = held
		if doc == nil {
			return
		}
		for _, c := range doc.Cases {
			for _, l := range c.Launches {
				if l.Retried {
					r.outcome = mended
				}
			}
		}
		if n := len(finished); n != w.launches {
			r.wrong("it passed with %d launches of %d", n, w.launches)
		}
		return
	case s.code() == 6:
		r.outcome = failed
		if doc != nil {
			r.outcome += ": " + doc.Session.Reason + strings.Join(r.causes, "; ")
		}
		return
	}
	w.goOn(s, r, finished)
}

// goOn resumes a session that was ended, which must then get to its end.
func (w *cluster) goOn(s *session, r *row, finished map[string]time.Time) {
	r.outcome = resumed
	w.killed = s.code() < 0
	if what, ok := w.settled(); !ok { // before a later session can have tidied up
		r.wrong("left behind: %s", what)
	}
	for _, name := range []string{ledger.JournalName, ledger.PlanName} {
		if _, err := os.Stat(filepath.Join(s.dir, name)); err != nil {
			r.outcome = unbegun
			return
		}
	}
	again := w.run(s.dir)
	if !again.wait(bound) || again.code() != 0 {
		r.wrong("--resume ended with %v\n%s", again.cmd.ProcessState, w.tail(again.log))
		return
	}
	doc, err := again.document()
	if err != nil || doc == nil {
		r.wrong("the document of --resume: %v", err)
		return
	}
	s.resumed = true
	if keys := lost(finished, doc); len(keys) > 0 {
		r.wrong("--resume lost %v", keys)
	}
}

// settled waits until all agents are there and nothing is left of any session. Where it
// does not come to that, it says what there is.
func (w *cluster) settled() (what string, ok bool) {
	ok = eventuallyEach(200*time.Millisecond, settle, func() (ok bool) {
		if what, ok = w.idle(); ok {
			what = strings.Join(w.leftovers(), ", ")
		}
		return what == ""
	})
	return what, ok
}
