package reporters

import (
	"bytes"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// chosenByWeir is a session with a fabric chosen by weir, with a setting that did nothing and a
// statement about a transport that does not hold.
func chosenByWeir() *results.Document {
	doc := &results.Document{
		Schema: results.Schema, Session: results.Session{ID: "s", Status: results.Failed, ExitCode: 1},
		Environment: results.Environment{
			Nodes: []results.Node{
				{
					Name: "n1", RDMA: []results.RDMA{
						{Name: "mlx5_0", Ports: []results.RDMAPort{{Port: 1, State: "DOWN"}}},
					},
				},
			},
		},
		Cases: []*results.Case{{
			Key: "c", Run: "r", Status: results.OK,
			Launches: []*results.Launch{{
				Status: results.OK, Nodes: []string{"n1", "n2"}, Fabric: "tcp", FabricReason: "no RDMA device is on n1",
				Ignored: []results.Ignored{{Name: "UCX_TLSS", Suggestion: "UCX_TLS"}},
				Counters: []results.Counter{
					{Node: "n1", Device: "eth0", Name: "rx_dropped", Class: results.RecoveredClass, By: 4},
				},
				Transports: []results.Transport{
					{Name: "tcp", Device: "eth0", Use: results.DataUse}, {Name: "ud", Use: results.ControlUse},
				},
			}},
			Assertions: []*results.AssertionVerdict{{
				Assertion: assertion.Assertion{
					Name: "t", Text: `transport != "tcp"`, Lowered: "no transport is tcp", Severity: assertion.Gate,
					Transport: &assertion.Transport{Of: assertion.None, Names: []string{"tcp"}},
				},
				Verdict: results.Fail, Message: "tcp/eth0 carried data",
			}},
		}},
	}
	doc.Summarize()
	return doc
}

// Where a library does not say which of several it used, no report says all of them.
func TestPossibleTransportsAreAlternatives(t *testing.T) {
	doc := chosenByWeir()
	l := doc.Cases[0].Launches[0]
	l.Transports = []results.Transport{
		{Name: "posix", Use: results.PossibleUse}, {Name: "cma", Use: results.PossibleUse},
	}
	if got := written(t, "junit", doc); !strings.Contains(got,
		"launch 1 on n1, n2: posix or cma (one or more of them)\n") {
		t.Errorf("junit: %s", got)
	}
	l.Transports = nil
	if got := written(t, "junit", doc); !strings.Contains(got,
		"launch 1 on n1, n2: unknown transports\n") {
		t.Errorf("junit: %s", got)
	}
}

func TestReportsSayWhatWasChosenAndUsed(t *testing.T) {
	chosen, ignored, carried := "fabric auto was tcp in 1 case: no RDMA device is on n1",
		"UCX_TLSS is set and the library ignores it; did you mean UCX_TLS? (1 case)", "tcp/eth0 carried data"
	moved := "rx_dropped of eth0 on node n1 moved by 4 in a launch (recovered, 1 case)"
	for format, says := range map[string][]string{
		"table":    {chosen, moved, ignored, carried, "✗ fail"},
		"markdown": {chosen, moved, ignored, carried, "✗ fail", "mlx5_0 (no active port)"},
		"html": {chosen, moved, ignored, carried, "✗ fail", "<dt>RDMA mlx5_0</dt><dd>no active port</dd>",
			"launch 1 on n1, n2: tcp/eth0"},
		"junit": {"launch 1 on n1, n2: tcp/eth0\n", carried, "<failure"},
		"json": {`"fabric_reason": "no RDMA device is on n1"`, `"suggestion": "UCX_TLS"`, `"class": "recovered"`,
			`"observed": null`},
		"csv": {",c,ok,fail,"},
	} {
		r, ok := Lookup(format)
		if !ok {
			t.Fatal(format)
		}
		var b bytes.Buffer
		if err := r.Write(&b, chosenByWeir()); err != nil {
			t.Fatal(err)
		}
		for _, s := range says {
			if !strings.Contains(strings.ReplaceAll(b.String(), `\_`, "_"), s) {
				t.Errorf("%s does not say %q:\n%s", format, s, b.String())
			}
		}
	}
}

// A baseline's environment is compared item by item, and not by a fingerprint alone.
func TestReportsSayWhatDiffersFromTheBaseline(t *testing.T) {
	doc := read(t, "several")
	for _, format := range []string{"html", "markdown"} {
		if got := written(t, format, doc); !strings.Contains(strings.NewReplacer(`\_`, "_", "&gt;", ">").Replace(got),
			"rdma.mlx5_0.firmware: 20.31 -> 20.32 (n1, n2)") {
			t.Errorf("%s does not say what differs:\n%s", format, got)
		}
	}
	doc.Cases[0].Assertions[0].Reference = &assertion.Reference{Table: "p5", Environment: "sha256:other"}
	if got := written(t, "html", doc); !strings.Contains(got, "environment of references p5") ||
		!strings.Contains(got, "different: fingerprint other") {
		t.Error("the page does not compare the references' environment")
	}
	for range 2 * mostDifferences {
		doc.Baseline.Differences = append(doc.Baseline.Differences, results.Difference{What: "x"})
	}
	if lines := baselineDiffers(doc); len(lines) != mostDifferences+1 ||
		lines[mostDifferences] != "and 102 more; results.json has all" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}
