package executor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// A rank has the scenario's variables, then the shell's, then its node's own, and weir's own override all; the
// document has the source of each.
func TestVariablesOfRanks(t *testing.T) {
	b := newBench(t)
	t.Setenv("UCX_POSIX_DIR", "/inherited")
	t.Setenv("LD_LIBRARY_PATH", "/opt/lib")
	t.Setenv("UCX_TLS", "own")
	across := func(c *planner.Case) { c.Place.Nodes = 2 }
	c := aCase("c", across, withOption("fabric", "tcp"), env("UCX_POSIX_DIR", "/from-the-scenario"),
		env("UCX_RNDV_THRESH", "8k"), env("NO_LIBRARY", "x"))
	doc := b.run(onePlan(c), func(o *Options) {
		o.Nodes, o.Shell = []string{"n1", "n2"}, map[string]string{"UCX_TLS": "tcp", "UCX_RNDV_THRESH": "1m"}
	})
	log, err := os.ReadFile(filepath.Join(b.dir, "session", "logs", "c", "0", "0.log"))
	if err != nil || !strings.Contains(string(log), "UCX_POSIX_DIR="+sharedMemory) {
		t.Errorf("log %q, %v", log, err)
	}
	l := doc.Case("c").Launches[0]
	if got, want := fmt.Sprint(l.Variables), "[/opt/lib (node) 8k (scenario) tcp (shell)]"; got != want {
		t.Errorf("recorded are %s, want %s", got, want)
	}
	for _, v := range l.Variables {
		if v.Ranks != nil {
			t.Errorf("all ranks have %s, and it names %v", v.Name, v.Ranks)
		}
	}
	// no fabric of the session reads them, which is reported before it: no event repeats that
	if len(l.Ignored) != 2 || l.Ignored[0].Name != "UCX_POSIX_DIR" || l.Ignored[1].Name != "UCX_RNDV_THRESH" ||
		l.Ignored[0].Reason == "" || l.Ignored[1].Reason == "" || b.count(event.EnvIgnored, "") != 0 {
		t.Errorf("ignored: %+v, %d events", l.Ignored, b.count(event.EnvIgnored, ""))
	}
	e := doc.Environment
	if len(e.Variables) != 2 || e.Variables["UCX_TLS"] != "tcp" {
		t.Errorf("of the shell it has %v", e.Variables)
	}
	for _, n := range e.Nodes {
		if n.Variables["LD_LIBRARY_PATH"] != "/opt/lib" || n.Variables["UCX_TLS"] != "" {
			t.Errorf("of node %s it has %v", n.Name, n.Variables)
		}
	}
}

// Simulated cases do not depend on the shell.
func TestWhatIsSimulatedHasNoVariables(t *testing.T) {
	b := newBench(t)
	doc := b.run(onePlan(aSimulation("c")), func(o *Options) { o.Shell = map[string]string{"UCX_TLS": "tcp"} })
	if doc.Environment.Variables != nil || doc.Case("c").Launches[0].Variables != nil {
		t.Errorf("%v, %v", doc.Environment.Variables, doc.Case("c").Launches[0].Variables)
	}
}

// Reports of a node about ranks of other nodes are ignored.
func TestVariablesOfOthersRanks(t *testing.T) {
	l := &launchRun{s: &session{}}
	l.engine.Ranks, l.engine.Nodes = 3, []string{"n1", "n1", "n2"}
	said := func(name string, ranks ...int) results.Variable {
		return results.Variable{Name: name, Value: "v", From: results.FromNode, Ranks: ranks}
	}
	l.variables = append(l.variables, l.ownVariables("n1",
		[]results.Variable{said("A", 0, 1, 2), said("B", 1, -1, 7), said("C", 2)})...)
	l.variables = append(l.variables, l.ownVariables("n2", []results.Variable{said("A", 2)})...)
	want := []results.Variable{said("A"), said("B", 1)}
	want[0].Ranks = nil
	if got := l.mergedVariables(); !slices.EqualFunc(got, want, results.Variable.Equal) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if first, second := l.mergedVariables(), l.mergedVariables(); &first[0] != &second[0] {
		t.Error("launches with the same variables do not share them")
	}
}
