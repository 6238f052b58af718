package planner

import (
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
)

const sequences = `
scenario: sequences
runs:
  written:
    workload: traffic_sequence
    options:
      time_scale: 0.5
      patterns:
        - {matrix: [[0, 1M, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], sleep_before_launch: 2h, metadata: {isl: 4000, worker: 1, own: x}}
        - {matrix: [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2M], [0, 0, 0, 0]], metadata: {isl: 900, worker: 1}}
        - {matrix: [[0, 4K, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], sleep_after_launch: 1ms, metadata: {worker: 1, isl: 16000}}
    sweep: {fabric: [shm, tcp], sleep_before_launch: [0s, 123456789ns]}
    assert: [slowdown <= 3 where isl > 1000]
  generated:
    workload: traffic_sequence
    options:
      generate: {model: llama-405b, isl: 16000, requests: 3, prefill_nodes: 1, decode_nodes: 1, prefill_tp: 8, decode_tp: 8}
`

// An excerpt reports totals over all patterns.
func TestAnExcerptAddsUpWhatItLeavesOut(t *testing.T) {
	table, _ := Tabulate(read(t, "test.yaml", sequences, dsl.Options{}))
	for _, want := range []string{"plays    3 patterns, 3.15 MB in all; ", "… and 11 cases more"} {
		shows(t, table.Excerpt(1, 1), want)
	}
}

// All patterns of a point are in one launch, in order; points that differ in anything else, even in
// the sleeps of some patterns, have other launches.
func TestASequenceIsOneLaunch(t *testing.T) {
	p := build(t, sequences)
	got := map[string][]string{}
	for _, g := range p.Groups {
		got[g.ID] = g.Cases
	}
	want := map[string][]string{"generated": {"generated[pattern=0]", "generated[pattern=1]", "generated[pattern=2]"}}
	for _, fabric := range []string{"shm", "tcp"} {
		for _, sleep := range []string{"0s", "123456789ns"} {
			point := "fabric=" + fabric + ","
			var keys []string
			for _, i := range []string{"0", "1", "2"} {
				// and nothing of the metadata
				keys = append(keys, "written["+point+"pattern="+i+",sleep_before_launch="+sleep+"]")
			}
			want["written["+point+"sleep_before_launch="+sleep+"]"] = keys
		}
	}
	equal(t, "groups", got, want)
	c := p.Case("written[fabric=tcp,pattern=0,sleep_before_launch=0s]")
	if c.Axes["isl"] == nil || option.Text(c.Axes["isl"]) != "4000" ||
		c.Options["sleep_before_launch"] != quantity.Time(7200e9) ||
		c.Options["metadata"] != "isl=4000 worker=1 own=x" {
		t.Errorf("%v, %v", c.Axes, c.Options)
	}
	if order := c.AxisOrder; !slices.Equal(order, []string{
		"fabric", "sleep_before_launch", "pattern", "isl", "worker",
	}) {
		t.Errorf("the patterns are not innermost: %v", order)
	}
}

// Conditions can use the metadata of patterns.
func TestWhereOfMetadata(t *testing.T) {
	p := build(t, sequences)
	var judged []string
	for _, c := range p.Cases {
		if len(c.Assertions) > 0 {
			judged = append(judged, option.Text(c.Axes["isl"]))
		}
	}
	equal(t, "the judged cases", judged, []string{"4000", "16000", "4000", "16000", "4000", "16000", "4000", "16000"})
}

func TestAPlanOfSequencesIsReadBackAsItWas(t *testing.T) {
	p := build(t, sequences)
	q := saved(t, p)
	equal(t, "the text", textOf(t, q), textOf(t, p))
	const key = "written[fabric=tcp,pattern=0,sleep_before_launch=0s]"
	equal(t, "an axis of which the pattern has its own value", q.Case(key).Axes["sleep_before_launch"],
		p.Case(key).Axes["sleep_before_launch"])
}

func TestASequenceIsExcludedAsAWhole(t *testing.T) {
	with := func(exclusion string) string {
		return strings.Replace(sequences, "sweep: {fabric: [shm, tcp]",
			"sweep: {exclude: [{when: '"+exclusion+"'}], fabric: [shm, tcp]", 1)
	}
	for _, part := range []string{"pattern == 1", "isl > 10000", `fabric == "tcp" && isl == 900`} {
		diags := refuse(t, with(part))
		if len(diags) != 1 || diags[0].Summary != "Part of a sequence" {
			t.Errorf("%s: %s", part, render(diags))
		}
	}
	p := build(t, with(`fabric == "tcp"`))
	if n := len(p.Groups); n != 3 {
		t.Errorf("%d launch groups", n)
	}
}

// Selecting some patterns selects the whole sequence.
func TestSelectionsKeepSequencesWhole(t *testing.T) {
	for _, c := range []struct {
		only, skip string
		want       int // launch groups, of three patterns each
	}{
		{"generated[pattern=1]", "", 1},
		{`where:isl == 900 && fabric == "tcp"`, "", 2},
		{"", "generated[pattern=1]", 4},
		{"written", "where:isl == 900 && sleep_before_launch > 0s", 2},
	} {
		p := build(t, sequences)
		if err := p.Select(parse(t, c.only), parse(t, c.skip)); err != nil {
			t.Fatal(err)
		}
		if len(p.Groups) != c.want ||
			slices.ContainsFunc(p.Groups, func(g *LaunchGroup) bool { return len(g.Cases) != 3 }) {
			t.Errorf("only %q, skip %q: %d groups, want %d of 3 cases", c.only, c.skip, len(p.Groups), c.want)
		}
	}
}
