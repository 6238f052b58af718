package results

import (
	"strings"
	"testing"
)

func TestDisturbed(t *testing.T) {
	quiet := RankProcessor{Wall: 1, Ran: 0.999, Waited: 0.001, ProbeRan: 0.02, ProbeWaited: 0.001}
	node := NodeLoad{Node: "n1", CPUs: 4, Threads: 2, Load: 3.5}
	for name, test := range map[string]struct {
		change func(*Launch)
		want   string
	}{
		"quiet": {func(*Launch) {}, ""},
		"half of a processor": {func(l *Launch) { l.Processors.Ranks[1].Waited = 1 },
			"rank 1 on n1 waited for a processor 50 % of the time that it could run while it measured (load 3.5)"},
		"a little": {func(l *Launch) {
			l.Processors.Ranks[1].Waited = 0.04
		}, ""},
		"the kernel's own": {func(l *Launch) {
			l.Processors.Ranks[0] = RankProcessor{Ran: 1e-4, Waited: 1.5e-4}
		}, ""},
		"sleeps on purpose": {func(l *Launch) {
			l.Processors.Ranks[1].Waited, l.Processors.Ranks[1].Sleeps = 1, true
		}, ""},
		"during a probe": {func(l *Launch) {
			l.Processors.Ranks[0].ProbeWaited = 0.02
		}, "while it probed the path"},
		"a full node": {func(l *Launch) { // the kernel's network has a fifth of it
			l.Processors.Nodes[0].Threads = l.Processors.Nodes[0].CPUs
			l.Processors.Ranks[1].Ran, l.Processors.Ranks[1].Waited = 0.08, 0.02
		}, ""},
		"a full node with a busy thread": {func(l *Launch) {
			l.Processors.Nodes[0].Threads = l.Processors.Nodes[0].CPUs
			l.Processors.Ranks[1].Ran, l.Processors.Ranks[1].Waited = 0.05, 0.05
		}, "waited for a processor 50 %"},
		"more than cores": {func(l *Launch) {
			l.Processors.Ranks[1].Waited, l.Processors.Nodes[0].Threads = 1, 8
		}, ""},
		"stolen": {func(l *Launch) {
			l.Processors.Nodes[0].Steal, l.Processors.Nodes[0].Stolen = 0.2, 0.3
		}, "the hypervisor gave 20 %"},
		"stolen for a tick": {func(l *Launch) {
			l.Processors.Nodes[0].Steal, l.Processors.Nodes[0].Stolen = 0.2, 0.02
		}, ""},
		"stolen from a crowd": {func(l *Launch) {
			l.Processors.Nodes[0].Threads, l.Processors.Nodes[0].Steal, l.Processors.Nodes[0].Stolen = 8, 0.2, 0.3
		}, "the hypervisor"},
		"simulated": {func(l *Launch) {
			l.Processors.Ranks[1].Waited, l.Simulated = 1, true
		}, ""},
		"an old version": {func(l *Launch) {
			l.Processors = nil
		}, ""},
		"another session": {func(l *Launch) {
			l.Processors.Ranks[1].Waited, l.Processors.Nodes[0].Sessions = 1, 1
		}, "(load 3.5, another session of weir)"},
	} {
		l := &Launch{Nodes: []string{"n1", "n1"}, Processors: &Processors{
			Ranks: []RankProcessor{quiet, quiet}, Nodes: []NodeLoad{node},
		}}
		l.Processors.Ranks[1].Rank = 1
		test.change(l)
		got := l.Disturbed()
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestOfManyRanksThoseThatWaitedLongestAreListed(t *testing.T) {
	var all []RankProcessor
	for r := range 40 {
		all = append(all, RankProcessor{Rank: r, Ran: 1, Waited: float64(r % 20)})
	}
	p := &Processors{}
	p.SetRanks(all)
	if len(p.Ranks) != mostProcessors || p.Ranks[0].Rank != 12 || p.Ranks[15].Rank != 39 {
		t.Errorf("%v", p.Ranks)
	}
}
