package executor

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// BenchmarkCoordination runs a session with one launch of 15 cases that take no time: what remains is the survey,
// processes, barriers and teardown. It must take less than half a second.
func BenchmarkCoordination(b *testing.B) {
	bench := newBench(b)
	var cases []*planner.Case
	for i := range 15 {
		cases = append(cases, aCase(fmt.Sprintf("c[x=%d]", i), withOption("iterations", int64(1))))
	}
	for b.Loop() {
		bench.pass(onePlan(cases...))
	}
}

// sixteen is a case of 16 ranks on this host that do nearly nothing.
func sixteen(key string) *planner.Case {
	return aCase(key, withOption("iterations", int64(1)), withOption("ranks", int64(16)))
}

// pass runs a plan and removes its directory.
func (b *bench) pass(p *planner.Plan, change ...func(*Options)) {
	b.t.Helper()
	if doc := b.run(p, change...); doc.Session.Status != results.Passed {
		b.t.Fatal(doc.Session)
	}
	if err := os.RemoveAll(b.dir); err != nil {
		b.t.Fatal(err)
	}
}

// BenchmarkLaunches measures what a launch of 16 ranks on this host adds to a session: new processes, their
// connections, one iteration and their end. With fewer processors than ranks most of it is the start of processes.
func BenchmarkLaunches(b *testing.B) {
	bench := newBench(b)
	c := sixteen("c")
	bench.pass(aPlan([]*planner.Case{c}, aGroup("g", []*planner.Case{c}, b.N)))
	spent := map[event.Type]time.Duration{}
	for i, e := range bench.events {
		if i > 0 && e.Launch != nil {
			spent[e.Type] += e.Time.Sub(bench.events[i-1].Time)
		}
	}
	for event, name := range map[event.Type]string{
		event.LaunchStarted: "between-ms", event.CaseStarted: "until-connected-ms", event.CaseFinished: "case-ms",
		event.LaunchFinished: "end-ms",
	} {
		b.ReportMetric(spent[event].Seconds()*1e3/float64(b.N), name)
	}
}

// BenchmarkCases measures what a case adds to a launch of 16 ranks on this host.
func BenchmarkCases(b *testing.B) {
	bench := newBench(b)
	var cases []*planner.Case
	for i := range b.N {
		cases = append(cases, sixteen(fmt.Sprintf("c[x=%d]", i)))
	}
	bench.pass(onePlan(cases...))
}

// BenchmarkDeadRank measures how long a launch lasts after one of its ranks was killed, from the begin of the case
// that kills it in its tenth iteration. It must take less than a second.
func BenchmarkDeadRank(b *testing.B) {
	bench := newBench(b)
	longest := time.Duration(0)
	for b.Loop() {
		bench.events = nil
		doc := bench.run(onePlan(aCase("c", env(faultEnv, "kill run 1 c"))))
		if f := failure(b, doc, "c"); f.Rank != 1 || f.Kind != results.Crashed {
			b.Fatalf("%+v", f)
		}
		longest = max(longest, bench.silence())
		if err := os.RemoveAll(bench.dir); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(longest.Seconds()*1e3, "ms-longest")
}
