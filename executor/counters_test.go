package executor

import (
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/results"
)

// shaky is a host with one interface, which has one more bad packet each time that it is read.
type shaky struct {
	fs.FS
	asked *int
}

const badPackets = "sys/class/net/eth0/statistics/rx_crc_errors"

func (s shaky) Open(name string) (fs.File, error) {
	if name != badPackets {
		return s.FS.Open(name)
	}
	*s.asked++
	return fstest.MapFS{name: {Data: fmt.Appendln(nil, *s.asked)}}.Open(name)
}

// Counters that increase during a launch are in each of its cases; they are read at no other time.
func TestCountersAreReadAroundALaunch(t *testing.T) {
	b := newBench(t)
	host := shaky{fstest.MapFS{"sys/class/net/eth0/type": {Data: []byte("1\n")}, badPackets: {}}, new(int)}
	p := onePlan(aCase("r[a]"), aCase("r[b]"))
	p.Groups[0].Looks = []int{2}
	doc := b.run(p, func(o *Options) { o.Nodes, o.Host = []string{"n1"}, host })
	want := []results.Counter{{Node: "n1", Device: "eth0", Name: "rx_crc_errors", Class: results.LinkClass, By: 1}}
	for _, c := range doc.Cases {
		if len(c.Launches) != 2 {
			t.Fatalf("%s has %d launches: %s", c.Key, len(c.Launches), c.Reason)
		}
		for _, l := range c.Launches {
			if diff := cmp.Diff(want, l.Counters); diff != "" {
				t.Errorf("%s, launch %d: %s", c.Key, l.Index, diff)
			}
		}
	}
	if got := doc.Environment.Nodes[0].Counters; got[results.LinkClass] != 1 {
		t.Errorf("watched: %v", got)
	}
	if *host.asked != 5 {
		t.Errorf("read %d times, want once for the inventory and twice for each of 2 launches", *host.asked)
	}
}
