package executor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

func TestLaunchOfSeveralCases(t *testing.T) {
	for _, ranks := range []int64{2, 4} {
		b := newBench(t)
		cases := []*planner.Case{
			aCase("bw[block_size=4KiB]", withOption("ranks", ranks)),
			aCase("bw[block_size=1MiB]", withOption("ranks", ranks), withOption("block_size", quantity.Size(1<<20))),
		}
		doc := b.run(aPlan(cases, aGroup("bw", cases, 2)))
		if doc.Session.Status != results.Passed || doc.Session.ExitCode != 0 {
			t.Errorf("%d ranks: session %+v", ranks, doc.Session)
		}
		for _, c := range doc.Cases {
			if c.Status != results.OK || len(c.Launches) != 2 {
				t.Fatalf("%d ranks: %s is %s after %d launches: %s", ranks, c.Key, c.Status, len(c.Launches), c.Reason)
			}
			for i, l := range c.Launches {
				if l.Index != i || l.Status != results.OK || !l.Verified || l.Transport != "test/loopback" ||
					l.Fabric != "shm" || len(l.Nodes) != int(ranks) {
					t.Errorf("%d ranks: %s: %+v", ranks, c.Key, l)
				}
				if l.Metrics.At("bandwidth") <= 0 || l.Duration <= 0 {
					t.Errorf("%d ranks: %s: metrics %v in %v s", ranks, c.Key, l.Metrics, l.Duration)
				}
				if len(l.Samples) != int(ranks)/2 {
					t.Errorf("%d ranks: %s: sample files %v", ranks, c.Key, l.Samples)
				}
				for _, file := range l.Samples {
					s, err := results.ReadSamplesFile(filepath.Join(b.dir, "session", file))
					if err != nil {
						t.Fatal(err)
					}
					if s.Case != c.Key || s.Launch != i || s.Ops != 20 {
						t.Errorf("%s holds the samples of case %s, launch %d with %d requests", file, s.Case, s.Launch,
							s.Ops)
					}
				}
			}
		}
		for _, kind := range []event.Type{event.CaseStarted, event.CaseFinished, event.CaseMeasured} {
			if n := b.count(kind, cases[1].Key); n != 2 {
				t.Errorf("%d ranks: %d %s events for the second case, want one for each launch", ranks, n, kind)
			}
		}
		log, err := os.ReadFile(filepath.Join(b.dir, "session", "logs", "bw", "1", "1.log"))
		if err != nil || !strings.Contains(string(log), "rank 1 of") ||
			!strings.Contains(string(log), "UCX_POSIX_DIR="+sharedMemory) {
			t.Errorf("log of launch 1, rank 1: %q, %v", log, err)
		}
	}
}

func TestSessionDirectoryHoldsEverything(t *testing.T) {
	b := newBench(t)
	good, bad := aCase("good"), aCase("bad", env(faultEnv, "error run 0"))
	skipped := aCase("skipped", func(c *planner.Case) { c.Status, c.Reason = planner.Excluded, "known slow" })
	plan := aPlan([]*planner.Case{good, bad, skipped}, aGroup("good", []*planner.Case{good}),
		aGroup("bad", []*planner.Case{bad}))
	doc := b.run(plan)
	dir := filepath.Join(b.dir, "session")

	records, err := ledger.ReadJournal(filepath.Join(dir, ledger.JournalName))
	if err != nil {
		t.Fatal(err)
	}
	rebuilt := map[string][]*results.Launch{}
	var last ledger.Record
	for _, r := range records {
		if r.Launch != nil {
			for _, c := range r.Launch.Cases {
				rebuilt[c.Key] = append(rebuilt[c.Key], c.Launch)
			}
		}
		last = r
	}
	for _, c := range doc.Cases {
		want, err := json.Marshal(append([]*results.Launch{}, c.Launches...))
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(append([]*results.Launch{}, rebuilt[c.Key]...))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s: the journal has %s, the document %s", c.Key, got, want)
		}
	}
	if records[0].Session == nil || records[0].Session.PlanDigest != plan.Digest ||
		len(records[0].Session.Environment.Nodes) != 1 {
		t.Errorf("the journal begins with %+v", records[0])
	}
	if last.End == nil || last.End.Status != results.Errored || last.End.ExitCode != 6 {
		t.Errorf("the journal ends with %+v", last.End)
	}

	var saved planner.Plan
	text, err := os.ReadFile(filepath.Join(dir, "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &saved); err != nil || saved.Digest != plan.Digest {
		t.Errorf("plan.json: digest %q, %v", saved.Digest, err)
	}
	events, err := os.ReadFile(filepath.Join(dir, "events.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(events)), "\n")
	if len(lines) != len(b.events) {
		t.Errorf("events.ndjson has %d lines, and there were %d events", len(lines), len(b.events))
	}
	var first, final event.Event
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || first.Type != event.SessionStarted {
		t.Errorf("first event %q: %v", lines[0], err)
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &final); err != nil || final.Type != event.SessionFinished {
		t.Errorf("last event %q: %v", lines[len(lines)-1], err)
	}
	if c := doc.Case("skipped"); c.Status != results.Excluded || c.Reason != "known slow" {
		t.Errorf("the excluded case is %s: %s", c.Status, c.Reason)
	}
}

func TestASessionIsNeverOverwritten(t *testing.T) {
	b := newBench(t)
	b.run(onePlan(aCase("c")))
	doc, err := Run(t.Context(), onePlan(aCase("c")), b.options())
	if err == nil || !strings.Contains(err.Error(), "already has a session") {
		t.Errorf("error %v", err)
	}
	if doc.Session.ExitCode != 6 || doc.Case("c").Status != results.Skipped {
		t.Errorf("document: %+v, %+v", doc.Session, doc.Case("c"))
	}
}

func TestRanksOfSeveralAgents(t *testing.T) {
	b := newBench(t)
	across := func(c *planner.Case) { c.Place.Nodes = 2 }
	c := aCase("c", across, withOption("ranks", int64(4)), withOption("fabric", "auto"))
	doc := b.run(onePlan(c), func(o *Options) { o.Nodes = []string{"n1", "n2"} })
	l := doc.Case("c")
	if l.Status != results.OK {
		t.Fatalf("%s: %s", l.Status, l.Reason)
	}
	if want := []string{"n1", "n1", "n2", "n2"}; !slices.Equal(l.Launches[0].Nodes, want) {
		t.Errorf("ranks on %v, want %v: pairs must cross between the nodes", l.Launches[0].Nodes, want)
	}
	if l.Launches[0].Fabric != "tcp" {
		t.Errorf("fabric auto between nodes is %s", l.Launches[0].Fabric)
	}
	if why := l.Launches[0].FabricReason; why != "ranks on nodes n1, n2, and no RDMA device with an active port is on n1, n2" {
		t.Errorf("because %s", why)
	}
}
