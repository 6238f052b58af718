package executor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
)

// requestsPerLaunch is the number of etcd requests of one more launch of a plan's only group.
func requestsPerLaunch(t *testing.T, c *planner.Case, nodes ...string) string {
	t.Helper()
	const few, many = 1, 4
	of := func(launches int) map[string]int {
		b := newBench(t)
		dir := etcdDir(t)
		server, err := registry.StartServer(t.Context(), dir)
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

// Launches make no requests to etcd: orders and reports do not use it.
func TestRequestsOfALaunch(t *testing.T) {
	phase.Long(t)
	if got := requestsPerLaunch(t, aCase("c")); got != "" {
		t.Errorf("on one node: %s", got)
	}
	two := aCase("c", withOption("fabric", "tcp"), func(c *planner.Case) { c.Place.Nodes = 2 })
	if got := requestsPerLaunch(t, two, "n1", "n2"); got != "" {
		t.Errorf("on two nodes: %s", got)
	}
}
