package reporters

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// busyDocument is a session of many cases on a busy host.
func busyDocument(cases int, d *results.Disturbance) *results.Document {
	doc := &results.Document{Schema: results.Schema, Session: results.Session{ID: "s"}}
	low := 10.
	for i := range cases {
		c := &results.Case{Key: fmt.Sprintf("a[i=%d]", i), Run: "a", Workload: "transfer", Status: results.OK}
		for j := range 3 {
			c.Launches = append(c.Launches, &results.Launch{
				Index: j, Status: results.OK, Verified: true, Discarded: d.Text, Disturbance: d,
				Nodes:   []string{"n", "n"},
				Metrics: results.ValuesOf(map[string]float64{"bandwidth": 9.9}),
				Processors: &results.Processors{
					Ranks: []results.RankProcessor{{Rank: 0, Ran: 1, Waited: 1}},
					Nodes: []results.NodeLoad{{Node: "n", CPUs: 2, Threads: 2, Load: 9}},
				},
			})
		}
		c.Assertions = []*results.AssertionVerdict{{Looks: []int{3, 5}, Assertion: assertion.Assertion{
			Name: "fast", Text: "bandwidth >= 10 GB/s", Lowered: "bandwidth >= 10 GB/s", Severity: assertion.Gate,
			Subject: &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s"}, Unit: "GB/s",
			Bounds: assertion.Bounds{Lower: &low},
		}}}
		doc.Cases = append(doc.Cases, c)
	}
	gate.Judge(doc)
	return doc
}

// However many gates a busy host leaves open, the cause and the remedy are reported once, and no command that would end
// as this one did.
func TestBusyHostIsToldOnce(t *testing.T) {
	waited := &results.Disturbance{Cause: results.Waited, Share: 0.5,
		Text: "rank 0 on n was runnable but not scheduled"}
	for _, format := range []string{"table", "markdown", "github"} {
		var b bytes.Buffer
		r, _ := Lookup(format)
		if err := r.Write(&b, busyDocument(14, waited)); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		once := strings.Count(text, waited.Text) == 1 && strings.Count(text, "busy") == 1
		if !once || strings.Contains(text, "again") || !strings.Contains(text, "14 assertions") ||
			!strings.Contains(text, "host too busy: 42 of 42 measurements of cases discarded") ||
			!strings.Contains(text, "wait until n is idle (load below 0.5), or count disturbed launches with --disturbed keep") {
			t.Errorf("%s: %s", format, text)
		}
	}
	var b bytes.Buffer
	r, _ := Lookup("junit")
	if err := r.Write(&b, busyDocument(14, waited)); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Count(text, "wait until n is idle") != 1 || strings.Contains(text, "again") ||
		strings.Count(text, `message="host too busy: 3 of 3 launches discarded"`) != 14 {
		t.Errorf("junit: %s", text)
	}
	throttled := &results.Disturbance{Cause: results.Throttled, Share: 0.5, Text: "the CPU limit of node n"}
	if got := busyText(busyDocument(1, throttled)); !strings.HasPrefix(got, "CPU limit too low: 3 of 3 launches") ||
		!strings.Contains(got, "raise the CPU limit of the container or job") {
		t.Error(got)
	}
}

// Launches that were disturbed and count are reported, with the worst of them.
func TestDisturbedLaunchesThatCountAreTold(t *testing.T) {
	doc := busyDocument(2, &results.Disturbance{Cause: results.Waited, Share: 0.5, Text: "it waited"})
	for _, c := range doc.Cases {
		for _, l := range c.Launches {
			l.Discarded = ""
		}
	}
	if got := disturbedKept(doc); len(got) != 1 ||
		got[0] != "6 of 6 measurements of cases disturbed but counted (worst: it waited)" {
		t.Errorf("%q", got)
	}
	if got := discarded(doc); got != nil {
		t.Errorf("%q", got)
	}
	alone := *doc
	if alone.Cases = doc.Cases[:1]; !strings.HasPrefix(disturbedKept(&alone)[0], "3 of 3 launches disturbed") {
		t.Error("launches of one case are those of the plan")
	}
	doc.Cases[0].Launches[0].Discarded = "it waited"
	if got := disturbedKept(doc); len(got) != 1 ||
		got[0] != "5 of the 5 measurements of cases that were not discarded: disturbed but counted (worst: it waited)" {
		t.Errorf("%q", got)
	}
}

// A row without a usable launch has the values of its discarded ones in parentheses, and says so.
func TestDiscardedValuesAreShown(t *testing.T) {
	doc := busyDocument(1, &results.Disturbance{Cause: results.Waited, Share: 0.5, Text: "it waited"})
	for _, format := range []string{"table", "markdown"} {
		var b bytes.Buffer
		r, _ := Lookup(format)
		if err := r.Write(&b, doc); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); !strings.Contains(text, "(9.90)") ||
			!strings.Contains(text, "the median of discarded launches") {
			t.Errorf("%s: %s", format, text)
		}
	}
	if text := drawn(t, doc, false, 0); !strings.Contains(text, "; no verdict uses it\n") {
		t.Errorf("%s", text)
	}
	doc.Cases[0].Assertions[0].Reasons = []results.Reason{{Kind: results.DiscardedPass}}
	if text := drawn(t, doc, false, 0); !strings.Contains(text, "; verdicts use it only where they hold") {
		t.Errorf("a verdict uses them:\n%s", text)
	}
}
