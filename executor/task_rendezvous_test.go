package executor

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/wire"
	"github.com/weir-bench/weir/results"
)

// sentOrders are those of a rendezvous, in order: NODE KIND.
type sentOrders []string

func (all *sentOrders) order(node string, o agent.Order) error {
	kind := "?"
	switch {
	case o.Peers != nil:
		peers, err := wire.DecodePeers(o.Peers, 3)
		if err != nil {
			return err
		}
		kind = fmt.Sprintf("peers %s", peers)
	case o.Go:
		kind = "go"
	case o.Abort != "":
		kind = o.Abort
	}
	*all = append(*all, node+" "+kind)
	return nil
}

// addresses are the addresses of ranks, as agents report them.
func addresses(of map[uint64]string) []byte {
	var text []byte
	for _, rank := range []uint64{0, 1, 2, 3} {
		if a, ok := of[rank]; ok {
			text = binary.AppendUvarint(text, rank)
			text = append(binary.AppendUvarint(text, uint64(len(a))), a...)
		}
	}
	return text
}

// Ranks 0 and 2 are on node a, rank 1 is on node b.
func TestRendezvous(t *testing.T) {
	ofA := agent.Report{Node: "a", Addresses: addresses(map[uint64]string{0: "zero", 2: "two"})}
	ofB := agent.Report{Node: "b", Addresses: addresses(map[uint64]string{1: "one"})}
	connected := func(node string) agent.Report { return agent.Report{Node: node, Connected: true} }
	introduced := []string{"a peers [zero one two]", "b peers [zero one two]"}
	for name, test := range map[string]struct {
		reports []agent.Report
		want    []string
	}{
		"one has come":  {[]agent.Report{ofB}, nil},
		"all have come": {[]agent.Report{ofB, ofA}, introduced},
		"all are connected": {
			[]agent.Report{ofA, ofB, connected("b"), connected("a")}, append(slices.Clone(introduced), "a go", "b go"),
		},
		"connected before it was introduced": {[]agent.Report{ofA, connected("a"), connected("b")}, nil},
		"a node fails": {
			[]agent.Report{ofA, {Node: "b", Failing: "rank 1 died"}, ofB},
			[]string{"a stopped, because on node b rank 1 died"},
		},
		"another node's rank": {
			[]agent.Report{{Node: "b", Addresses: ofA.Addresses}},
			[]string{
				"a node b has the addresses of 2 ranks that are not its own 1",
				"b node b has the addresses of 2 ranks that are not its own 1",
			},
		},
		"malformed addresses": {
			[]agent.Report{{Node: "b", Addresses: []byte{9, 9}}},
			[]string{
				"a node b: reading addresses: malformed", "b node b: reading addresses: malformed",
			},
		},
		"addresses twice": {
			[]agent.Report{ofB, ofB},
			[]string{
				"a node b has sent the addresses of its ranks twice",
				"b node b has sent the addresses of its ranks twice",
			},
		},
	} {
		var got sentOrders
		m := newRendezvous("l", []string{"a", "b", "a"}, got.order)
		for _, r := range test.reports {
			if !m.handleReport(r) {
				t.Errorf("%s: %+v is not taken", name, r)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if m.handleReport(agent.Report{Node: "a", Progress: &agent.Progress{}}) {
			t.Errorf("%s: it takes progress", name)
		}
	}
	if m := newRendezvous("l", []string{"a", "a"}, nil); m != nil || m.handleReport(ofA) {
		t.Error("ranks of one node meet")
	}
}

// A node that waited for ranks without success learns from the session which ones are missing. Later reports
// change nothing.
func TestRanksThatDoNotComeAreNamed(t *testing.T) {
	ofA := agent.Report{Node: "a", Addresses: addresses(map[uint64]string{0: "zero", 2: "two"})}
	ofB := agent.Report{Node: "b", Addresses: addresses(map[uint64]string{1: "one"})}
	late := agent.Report{Node: "a", Failing: "did not learn the other ranks' addresses"}
	for want, reports := range map[string][]agent.Report{
		"addresses: waiting for rank 1":   {ofA, late, ofB},
		"connections: waiting for rank 1": {ofA, ofB, {Node: "a", Connected: true}, late, {Node: "b", Connected: true}},
	} {
		var got sentOrders
		m := newRendezvous("l", []string{"a", "b", "a"}, got.order)
		for _, r := range reports {
			m.handleReport(r)
		}
		o := waited(t)
		if m.completeFailure(o); o.Failure.Rank != 1 || o.Failure.Cause != want || o.Failure.Log != nil {
			t.Errorf("%+v, want %s", o.Failure, want)
		}
		other := &agent.Outcome{Failure: &results.Failure{Rank: 0, Cause: "it died"}}
		if m.completeFailure(other); other.Failure.Cause != "it died" {
			t.Errorf("another failure is %+v", other.Failure)
		}
	}
	var many []int
	for r := range 11 {
		many = append(many, r)
	}
	if got := listRanks(many); got != "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 3 more" {
		t.Error(got)
	}
}

// waited is the encoded outcome of a node that waited for ranks of others.
func waited(t *testing.T) *agent.Outcome {
	t.Helper()
	head := `{"task": "l", "outcome": {"kind": 10, "failure": {"rank": 0, "phase": "connect", "cause": "it waited", "log": ["x"]}}}`
	r, err := agent.DecodeReport("a", []byte(head), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Outcome.PeersMissing() || !strings.Contains(r.Outcome.Failure.Cause, "waited") {
		t.Fatalf("%+v is none of a rank that waited", r.Outcome)
	}
	return r.Outcome
}
