package gate

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// moving is a case of five steady launches, of the fourth of which a counter moved.
func moving(counters ...results.Counter) *results.Case {
	c := caseOf("a", 10, 10, 10, 10, 10)
	for _, l := range c.Launches {
		l.Fabric, l.Nodes = "ucx", []string{"n1", "n2"}
	}
	c.Launches[3].Counters = counters
	return c
}

func moved(device, name, class string) results.Counter {
	return results.Counter{Node: "n2", Device: device, Name: name, Class: class, By: 4}
}

func TestCountersThatMovedSpoilAVerdict(t *testing.T) {
	symbol := moved("mlx5_0:1", "symbol_error", results.LinkClass)
	crc := moved("eth0 (mlx5_0)", "rx_crc_errors", results.LinkClass)
	by := func(devices ...string) func(*results.Launch) {
		return func(l *results.Launch) {
			for _, d := range devices {
				l.Transports = append(l.Transports, results.Transport{
					Name: "rc", Device: d, Use: results.DataUse, Ranks: []int{0},
				})
			}
		}
	}
	for name, test := range map[string]struct {
		counter results.Counter
		change  func(*results.Launch)
		spoils  bool
	}{
		"throttling": {moved("package 0", "core_throttle_count", results.ThrottleClass), nil, true},
		"throttling over shared memory": {moved("package 0", "core_throttle_count", results.ThrottleClass),
			func(l *results.Launch) { l.Fabric = "shm" }, true},
		"memory":                   {moved("mc0", "ce_count", results.MemoryClass), nil, true},
		"a link":                   {symbol, nil, true},
		"a link and shared memory": {symbol, func(l *results.Launch) { l.Fabric = "shm" }, false},
		"a link and loopback": {crc,
			func(l *results.Launch) { l.Fabric, l.Nodes = "tcp", []string{"n2", "n2"} }, false},
		"a link and sockets":           {crc, func(l *results.Launch) { l.Fabric = "tcp" }, true},
		"the link that carried data":   {symbol, by("mlx5_0:1"), true},
		"another port of the device":   {symbol, by("mlx5_0:2"), true},
		"the interface of that device": {crc, by("mlx5_0:1"), true},
		"another device":               {symbol, by("mlx5_1:1"), false},
		"one of several devices":       {symbol, by("mlx5_1:1", "mlx5_0:1"), true},
		"a device that nobody names":   {symbol, by("mlx5_1:1", ""), true},
		"a library with opaque transports": {symbol,
			func(l *results.Launch) { by("mlx5_1:1")(l); l.Transports[0].Opaque = true }, true},
		"dropped packets": {moved("eth0", "rx_dropped", results.RecoveredClass), by("eth0"), false},
	} {
		c := moving(test.counter)
		if test.change != nil {
			test.change(c.Launches[3])
		}
		a := band(p(7), nil, looks)
		doc := judged(c, a)
		if !test.spoils {
			if a.Verdict != results.Pass || doc.Session.ExitCode != ExitPassed || strings.Contains(a.Message, "moved") {
				t.Errorf("%s: %s: %s", name, a.Verdict, a.Message)
			}
			continue
		}
		if a.Verdict != results.ErrorVerdict || doc.Session.ExitCode != ExitExecution || len(Undecided(doc)) > 0 {
			t.Errorf("%s: %s, exit code %d", name, a.Verdict, doc.Session.ExitCode)
		}
		want := test.counter.String()
		if !has(a.Reasons, "node-trouble launch=4") || !strings.Contains(a.Message, want) {
			t.Errorf("%s: %q lacks %q", name, a.Message, want)
		}
	}
}

// What moves by itself under load is no error, and stands beside a verdict that asks why.
func TestRecoveredErrorsExplainAFailure(t *testing.T) {
	dropped := moved("eth0", "rx_dropped", results.RecoveredClass)
	c := moving(dropped)
	c.Launches[4].Counters = []results.Counter{dropped}
	a := band(p(12), nil, []int{5})
	judged(c, a)
	wantVerdict(t, a, results.Fail)
	if want := "counters-moved"; !has(a.Reasons, want) {
		t.Errorf("%q lacks %q", a.Message, want)
	}
}

// A launch that was made again counts for nothing, and what moved then neither.
func TestCountersOfARetriedLaunch(t *testing.T) {
	c := moving(moved("mlx5_0:1", "link_downed", results.LinkClass))
	c.Launches[3].Status, c.Launches[3].Retried = results.Error, true
	a := band(p(9), nil, []int{4})
	judged(c, a)
	wantVerdict(t, a, results.Pass)
}

func TestManyCountersAreCounted(t *testing.T) {
	var all []results.Counter
	for _, device := range []string{"mlx5_0:1", "mlx5_1:1", "mlx5_2:1", "mlx5_3:1", "mlx5_4:1"} {
		all = append(all, moved(device, "symbol_error", results.LinkClass))
	}
	a := band(p(9), nil, looks)
	judged(moving(all...), a)
	if !strings.Contains(a.Message, ", and 2 more;") || strings.Contains(a.Message, "mlx5_3") {
		t.Errorf("%s", a.Message)
	}
}
