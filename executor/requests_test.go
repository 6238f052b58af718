package executor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"weir/executor/cluster"
	"weir/planner"
	"weir/results"
	"weir/test/phase"
)

// requestsPerLaunch is what one more launch of a plan's only group costs etcd.
func requestsPerLaunch(t *testing.T, c *planner.Case, nodes ...string) string {
	t.Helper()
	const few, many = 1, 4
	of := func(launches int) map[string]int {
		b := newBench(t)
		dir := etcdDir(t)
		server, err := cluster.StartServer(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		doc := b.run(aPlan([]*planner.Case{c}, aGroup("g", []*planner.Case{c}, launches)),
			func(o *Options) { o.Etcd, o.Nodes = server.Config(), nodes })
		if got := doc.Case(c.Key); got.Status != results.OK || len(got.Launches) != launches {
			t.Fatalf("%s after %d launches, want %d", got.Status, len(got.Launches), launches)
		}
		return server.Requests()
	}
	one, more := of(few), of(many)
	delete(more, "LeaseKeepAlive") // a matter of time
	delete(more, "WatchCancel")    // the last ones may be overtaken by the end
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(more)) {
		if n := more[kind] - one[kind]; n%(many-few) != 0 {
			all = append(all, fmt.Sprintf("%s %d in %d launches", kind, n, many-few))
		} else if n != 0 {
			all = append(all, fmt.Sprintf("%s %d", kind, n/(many-few)))
		}
	}
	return strings.Join(all, ", ")
}

// A launch whose ranks are all on one node is placed and forgotten, and nothing else is
// said of it. One of two nodes is heard of and watched on both; each is asked what was
// said before it came, and tells of its ranks twice.
func TestRequestsOfALaunch(t *testing.T) {
	phase.Long(t)
	if got := requestsPerLaunch(t, aCase("c")); got != "Put 1, Txn 1" {
		t.Errorf("on one node: %s", got)
	}
	two := aCase("c", option("fabric", "tcp"), func(c *planner.Case) { c.Place.Nodes = 2 })
	if got := requestsPerLaunch(t, two, "n1", "n2"); got != "Put 6, Range 3, Txn 2, Watch 3" {
		t.Errorf("on two nodes: %s", got)
	}
}
