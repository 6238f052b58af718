package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
)

// crowd is a coordinator and the agents of many nodes, which share some connections:
// a test has not the processors of so many hosts.
type crowd struct {
	server      *Server
	coordinator *Session
	agents      []*Session
	placements  []<-chan Placement
	names       []string
}

func newCrowd(t testing.TB, nodes int) *crowd {
	t.Helper()
	c := &crowd{server: startServer(t)}
	c.coordinator = openSession(t, c.server, "s")
	shared := make([]*Session, min(nodes, 20))
	for i := range shared {
		shared[i] = openSession(t, c.server, "s")
	}
	for i := range nodes {
		name, s := fmt.Sprintf("n%d", i), shared[i%len(shared)]
		p, err := s.Placements(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		c.names, c.agents, c.placements = append(c.names, name), append(c.agents, s), append(c.placements, p)
	}
	return c
}

// launch is a whole launch of 8 ranks on each node, with addresses as UCX has them.
func (c *crowd) launch(t testing.TB, id string) {
	t.Helper()
	const each, size = 8, 300
	var byRank []string
	specs := map[string][]byte{}
	for _, name := range c.names {
		specs[name] = noise(500)
		for range each {
			byRank = append(byRank, name)
		}
	}
	h, err := c.coordinator.Host(t.Context(), id, byRank)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	text := noise(50 << 10)
	where := TextFor(text, len(c.names))
	if err := c.coordinator.Share(t.Context(), id, where, text); err != nil {
		t.Fatal(err)
	}
	if err := c.coordinator.Place(t.Context(), id, specs); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i, s := range c.agents {
		wg.Go(func() {
			<-c.placements[i]
			if err := c.take(t.Context(), s, id, i, each, size, where); err != nil {
				t.Errorf("node %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	if err := c.coordinator.Forget(t.Context(), id, c.names); err != nil {
		t.Fatal(err)
	}
	for _, p := range c.placements {
		<-p
	}
}

// take is one node's part.
func (c *crowd) take(ctx context.Context, s *Session, id string, node, each, size int, where Text) error {
	if _, err := s.Shared(ctx, id, where); err != nil {
		return err
	}
	var mine []int
	addresses := map[int][]byte{}
	for i := range each {
		mine = append(mine, node*each+i)
		addresses[node*each+i] = noise(size)
	}
	m, err := s.Meet(ctx, id, c.names[node], mine, len(c.names)*each)
	if err != nil {
		return err
	}
	defer m.Close()
	if err := m.Publish(ctx, addresses); err != nil {
		return err
	}
	for arrived := false; !m.Started(); {
		if err := m.Broken(); err != nil {
			return err
		}
		if m.Addresses() != nil && !arrived {
			arrived = true
			if err := m.Arrive(ctx); err != nil {
				return err
			}
		}
		<-m.Changed()
	}
	return nil
}

// requests are what a launch costs the server, without what is due to time, and the ends
// of watches, which the end of the launch may overtake.
func (c *crowd) requests(t testing.TB, id string) (all int, kinds map[string]int) {
	before := c.server.Requests()
	c.launch(t, id)
	kinds = c.server.Requests()
	for kind := range kinds {
		if kinds[kind] -= before[kind]; kinds[kind] == 0 || kind == "LeaseKeepAlive" || kind == "WatchCancel" {
			delete(kinds, kind)
		}
	}
	for _, n := range kinds {
		all += n
	}
	return all, kinds
}

// Two hundred nodes meet, and it costs ten times as many requests as twenty, or less.
func TestRequestsGrowWithNodesNotWithPairs(t *testing.T) {
	few, _ := newCrowd(t, 20).requests(t, "l")
	many, kinds := newCrowd(t, 200).requests(t, "l")
	t.Logf("20 nodes: %d, 200 nodes: %d %v", few, many, kinds)
	if many > 10*few {
		t.Errorf("20 nodes cost %d requests, 200 nodes %d", few, many)
	}
	if most := 200 * 6; many > most { // to read the launch and what was said before, two words, and a watch
		t.Errorf("200 nodes cost %d requests, more than %d", many, most)
	}
}

// BenchmarkMeeting is what a launch of 8 ranks on each node costs etcd.
func BenchmarkMeeting(b *testing.B) {
	for _, nodes := range []int{1, 2, 10, 30, 100, 300, 1000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			c := newCrowd(b, nodes)
			all, launches := 0, 0
			var kinds map[string]int
			for b.Loop() {
				var n int
				n, kinds = c.requests(b, fmt.Sprintf("l%d", launches))
				all += n
				launches++
			}
			b.ReportMetric(float64(all)/float64(launches), "requests/launch")
			b.ReportMetric(float64(all)/float64(launches*nodes), "requests/node")
			var parts []string
			for _, kind := range slices.Sorted(maps.Keys(kinds)) {
				parts = append(parts, fmt.Sprintf("%s %d", kind, kinds[kind]))
			}
			b.Log(strings.Join(parts, ", "))
		})
	}
}
