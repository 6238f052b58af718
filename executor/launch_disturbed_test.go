package executor

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/weir-bench/weir/results"
)

// robbed is a host with a hypervisor that takes half of its processors during the first launches: its times are
// read before and after each launch.
type robbed struct {
	fs.FS
	launches int
	asked    *int
}

func (r robbed) Open(name string) (fs.File, error) {
	if name != "proc/stat" {
		return r.FS.Open(name)
	}
	*r.asked++
	launch, after := (*r.asked-1)/2, (*r.asked-1)%2
	busy, stolen := 1000*(launch+after), 100*min(launch+after, r.launches)
	return fstest.MapFS{name: {Data: fmt.Appendf(nil, "cpu  %d 0 0 9 9 0 0 %d 0 0\n", busy/10, stolen)}}.Open(name)
}

func TestDisturbedLaunchesAreVoid(t *testing.T) {
	for _, test := range []struct{ disturbed, made, void int }{{0, 3, 0}, {1, 4, 1}, {2, 5, 2}, {9, 3, 3}} {
		b := newBench(t)
		host := robbed{fstest.MapFS{}, test.disturbed, new(int)}
		plan := onePlan(aCase("r[a]"))
		plan.Groups[0].Looks = []int{3}
		doc := b.run(plan, func(o *Options) { o.Nodes, o.Host, o.Disturbed = []string{"n1"}, host, RepeatDisturbed })
		c := doc.Cases[0]
		if len(c.Launches) != test.made || c.Discarded() != test.void || c.Status != results.OK {
			t.Fatalf("%d launches disturbed: %d made, %d discarded, %s: %s", test.disturbed, len(c.Launches),
				c.Discarded(), c.Status, c.Reason)
		}
		for i, l := range c.Launches {
			if i < test.void != strings.Contains(l.Discarded, "of the launch's time of node n1") {
				t.Errorf("%d launches disturbed: launch %d is discarded because %q", test.disturbed, i, l.Discarded)
			}
		}
	}
}

func TestDisturbedLaunchesAreKeptWhereTheyAreWanted(t *testing.T) {
	b := newBench(t)
	plan := onePlan(aCase("r[a]"))
	plan.Groups[0].Looks = []int{3}
	doc := b.run(plan, func(o *Options) {
		o.Nodes, o.Host, o.Disturbed = []string{"n1"}, robbed{fstest.MapFS{}, 9, new(int)}, KeepDisturbed
	})
	c := doc.Cases[0]
	if len(c.Launches) != 3 || c.Discarded() != 0 || c.Launches[0].Disturbance == nil {
		t.Errorf(
			"%d launches, %d void, the first disturbed by %v",
			len(c.Launches),
			c.Discarded(),
			c.Launches[0].Disturbance,
		)
	}
}

func TestDisturbedLaunchesFailWhereThatIsWanted(t *testing.T) {
	b := newBench(t)
	plan := onePlan(aCase("r[a]"))
	doc := b.run(plan, func(o *Options) {
		o.Nodes, o.Host, o.Disturbed = []string{"n1"}, robbed{fstest.MapFS{}, 9, new(int)}, FailDisturbed
	})
	if f := doc.Cases[0].Launches[0].Failure; f == nil || f.Kind != results.Disturbed ||
		!strings.Contains(f.Cause, "the hypervisor stole") {
		t.Errorf("%v", f)
	}
}

// Launches that are discarded one after the other are spaced further and further, within a bound for the session.
func TestWaitsForAQuietHost(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		inARow       int
		waited, want time.Duration
	}{
		{0, 0, 0},
		{1, 0, 500 * ms},
		{2, 500 * ms, 1000 * ms},
		{3, 1500 * ms, 2000 * ms},
		{400, 5000 * ms, 2000 * ms},
		{5, 14500 * ms, 500 * ms},
		{5, 15000 * ms, 0},
	} {
		if got := quietWait(c.inARow, c.waited); got != c.want {
			t.Errorf("%d in a row after %v: %v, want %v", c.inARow, c.waited, got, c.want)
		}
	}
}
