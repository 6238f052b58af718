package executor

import (
	"path/filepath"
	"testing"

	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/test/phase"
)

// A session that was interrupted when the clock was a century ahead, and is resumed after it was set back, goes on
// from there: launches stay in the order of their starts, by which they are paired.
func TestResumedAfterTheClockWasSetBack(t *testing.T) {
	phase.Long(t)
	b := newBench(t)
	p := aPlan(nil)
	c := aCase("c", gated)
	p.Cases = append(p.Cases, c)
	p.Groups = append(p.Groups, aGroup("c", p.Cases, 1))
	b.run(p, deterministic)
	journal := filepath.Join(b.dir, "session", ledger.JournalName)
	replace(t, journal, `"time":"20`, `"time":"21`)
	b.events = nil
	doc := b.run(p, deterministic, resuming)
	before, err := ledger.ReadJournal(journal)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range before {
		if r.Time.Year() < 2100 || i > 0 && r.Time.Before(before[i-1].Time) {
			t.Errorf("record %d is at %v, after %v", i, r.Time, before[max(0, i-1)].Time)
		}
	}
	for _, e := range b.events {
		if e.Time.Year() < 2100 {
			t.Errorf("%s is at %v", e.Type, e.Time)
		}
	}
	if doc.Session.Finished.Year() < 2100 {
		t.Errorf("it ended at %v", doc.Session.Finished)
	}
}
