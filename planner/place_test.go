package planner

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// placed returns a scenario with a cluster, and a run of four ranks with a place.
func placed(cluster, place string) string {
	return fmt.Sprintf(`scenario: s
cluster: {%s}
runs:
  a:
    workload: transfer
    options: {block_size: 4KiB, ranks: 4}
    place: {%s}
`, cluster, place)
}

func TestPlacesThatContradictAreErrorsAtTheirLine(t *testing.T) {
	for _, c := range []struct{ cluster, place, says string }{
		{"", "nodes: 3", "4 ranks, which cannot be spread evenly over 3 nodes"},
		{"", "nodes: 5", "4 ranks for 5 nodes"},
		{"nodes: 1", "nodes: 2", "placed on 2 nodes, but the cluster has only 1"},
		{"", "ranks_per_node: 3", "4 ranks, which is not a multiple of ranks_per_node (3)"},
		{"", "nodes: 2, ranks_per_node: 1", "2 nodes with 1 rank each make 2, but run \"a\" has 4"},
		{"nodes: 2", "ranks_per_node: 1", "need 4 nodes, but the cluster has only 2"},
		{"distinct_hosts: true", "distinct_hosts: false", "distinct hosts"},
		{"labels: {zone: a}", "labels: {zone: b}", "requires label zone=a, so no node has zone=b"},
	} {
		diags := refuse(t, placed(c.cluster, c.place))
		if text := render(diags); len(diags) != 1 || !strings.Contains(text, c.says) ||
			!strings.Contains(text, "test.yaml:7,") {
			t.Errorf("%s; %s:\n%s", c.cluster, c.place, text)
		}
	}
	text := strings.Replace(placed("", "cpus_per_rank: 2"), "ranks: 4", "threads: 3", 1)
	mentions(t, refuse(t, text), 7, "3 threads", "only 2 processors")
}

// The cluster has the minimum of each node: a run that needs more of a node raises it.
func TestNodesAreAskedForTheGPUsThatRunsNeed(t *testing.T) {
	for _, c := range []struct {
		cluster, place string
		want           int
		warns          bool
	}{
		{"gpus_per_node: 2", "nodes: 1, gpus_per_rank: 1", 4, true},
		{"gpus_per_node: 2", "nodes: 1, gpus_per_rank: 2", 8, true},
		{"nodes: 2, gpus_per_node: 2", "nodes: 2, gpus_per_rank: 1", 2, false},
		{"gpus_per_node: 8", "nodes: 1, gpus_per_rank: 1", 8, false},
		{"", "nodes: 1, gpus_per_rank: 1", 0, false}, // the node reports at the start what it lacks
	} {
		p, diags := plan(t, "test.yaml", placed(c.cluster, c.place))
		if diags.HasErrors() || p.Cluster.GPUsPerNode != c.want || len(diags) > 0 != c.warns {
			t.Errorf("%s; %s: %d GPUs of each node, want %d\n%s", c.cluster, c.place, p.Cluster.GPUsPerNode, c.want,
				render(diags))
		}
		if c.warns {
			mentions(t, diags, 7, "GPUs, but gpus_per_node of the cluster is 2", "Each node must then have")
		}
	}
}

func TestPlaceOfCasesFollowsTheirRanks(t *testing.T) {
	p := build(t, `scenario: s
cluster: {labels: {zone: a}, distinct_hosts: true}
runs:
  a:
    workload: transfer
    options: {block_size: 4KiB}
    place: {ranks_per_node: 2, labels: {rack: 7}, gpus_per_rank: 1}
    sweep: {ranks: [2, 4, 8], exclude: [{when: ranks == 4}]}
  b:
    workload: transfer
    options: {block_size: 4KiB}
`)
	for i, want := range []string{
		"1 node on distinct hosts, 2 ranks each, labelled rack=7 zone=a, 1 GPU for each rank",
		"4 nodes on distinct hosts, 2 ranks each, labelled rack=7 zone=a, 1 GPU for each rank",
		"2 nodes on distinct hosts, 2 ranks each, labelled rack=7 zone=a, 1 GPU for each rank",
		"1 node on distinct hosts, labelled zone=a",
	} {
		equal(t, p.Cases[i].Key, p.Cases[i].Place.String(), want)
	}
	for _, want := range []string{
		"1 node on distinct hosts, labelled zone=a\n", "place",
		"2 ranks each, labelled rack=7 zone=a, 1 GPU for each rank; or 4 nodes",
	} {
		shows(t, saved(t, p), want)
	}
}

// Settings that were added later must not appear in plans that do not use them: results are found
// by the ids of cases, and old plans remain readable.
func TestPlansGrowOnlyByWhatIsSaid(t *testing.T) {
	p := build(t, "scenario: s\nchecks: {c: {command: [x]}}\nruns: {a: {workload: transfer, options: {block_size: 1}}}\n")
	for _, c := range []struct {
		v    any
		want string
	}{
		{p.Cluster, `{"nodes":1,"distinct_hosts":false,"gpus_per_node":0}`},
		{p.Checks, `[{"name":"c","command":["x"]}]`},
		{p.Cases[0].Place, `{"nodes":1,"distinct_hosts":false}`},
	} {
		b, err := json.Marshal(c.v)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "JSON", string(b), c.want)
	}
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "artifacts") {
		t.Error("a plan without artifacts mentions them")
	}
}
