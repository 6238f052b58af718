package hosts

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/lab"
)

// On two hosts an expert-parallel group is made, taken apart, grown and shrunk, and loses ranks of the
// host that has not the leader; what is known of the hosts' clocks stands beside the times.
func TestExpertParallelOnTwoHosts(t *testing.T) {
	t.Parallel()
	l := lab.New(t, "h1", "h2")
	p, out := overSSH(t, l.SSH(), `scenario: ep
cluster: {nodes: 2, distinct_hosts: true}
defaults: {launches: 1, options: {ep_elastic: {tokens: 8, hidden: 256, top_k: 4, iterations: 8}}}
runs:
  control:
    workload: ep_control
    options: {ranks: 4, tokens: 4, hidden: 256, experts_per_rank: 2, rounds: 2}
    place: {ranks_per_node: 2}
    assert: [ranks_passed >= 4]
  elastic:
    workload: ep_elastic
    place: {ranks_per_node: 2}
    options:
      silence: 20s
      phases: [{ranks: 0..2}, {ranks: 0..3}, {kill: 3}, {ranks: 0..3}, {leave: 2, kill: 3, at: combine}]
    assert: [wrong_tokens <= 0, mask.wrong <= 0]
  mute:
    workload: ep_elastic
    place: {ranks_per_node: 2}
    options: {silence: 5s, phases: [{ranks: 0..3}, {mute: 2}]}
    assert: [wrong_tokens <= 0, mask.wrong <= 0]
`, "h1,h2")
	p.ends(0)
	doc := document(t, out)
	if len(doc.Cases) != 8 {
		t.Fatalf("%d cases", len(doc.Cases))
	}
	for _, c := range doc.Cases {
		if c.Status != results.OK ||
			strings.Join(slices.Compact(slices.Clone(c.Launches[0].Nodes)), " ") != "h1 h2" {
			t.Errorf("%s: %s on %v", c.Key, c.Status, c.Launches[0].Nodes)
			continue
		}
		m := c.Launches[0].Metrics
		if c.Run == "control" {
			if m.At("connect.avg") <= 0 || m.At("reconnect.avg") <= 0 {
				t.Errorf("%s: %+v", c.Key, m)
			}
			continue
		}
		if m.At("clock.bound") <= 0 {
			t.Errorf("%s: nothing is said of the clocks: %+v", c.Key, m)
		}
		if m.At("killed")+m.At("muted") > 0 &&
			(m.At("detect.time") <= 0 || m.At("recover.time") < m.At("detect.time")) {
			t.Errorf("%s: detected after %v, recovered after %v", c.Key, m.At("detect.time"), m.At("recover.time"))
		}
	}
	for _, h := range l.Hosts {
		leaves(t, h)
	}
}

// endless is a group of four ranks on two nodes with a phase that lasts until something happens to it.
const endless = `scenario: endless
cluster: {nodes: 2}
runs:
  a:
    workload: ep_elastic
    options: {fabric: tcp, tokens: 8, hidden: 256, top_k: 4, iterations: 65536, phases: [{ranks: 0..3}, {kill: 1}]}
    place: {ranks_per_node: 2}
    launches: 1
    timeout: 10m
`

// What happens to a group and is in no phase ends its launch with the cause, and leaves nothing.
func TestElasticFaultsThatNoPhaseSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent("a")
	b := w.agent("b")
	for _, c := range []struct {
		what  string
		does  func(p *process)
		code  int
		cause string
		kind  string
		node  string
	}{
		{"a rank is killed", func(*process) { w.toRank(t, 2, syscall.SIGKILL) }, 6,
			"killed by signal 9 (SIGKILL)", results.Crashed, "b"},
		{"the leader is killed", func(*process) { w.toRank(t, 0, syscall.SIGKILL) }, 6,
			"killed by signal 9 (SIGKILL)", results.Crashed, "a"},
		{"a rank that is to be killed later is stopped", func(*process) { w.toRank(t, 1, syscall.SIGSTOP) }, 6,
			"it was stopped by a signal", results.TimedOut, "a"},
		{"an agent is killed", func(*process) { b.signal(syscall.SIGKILL) }, 6, "", results.NodeLost, "b"},
	} {
		p, out := w.run(endless)
		events(t, p, out, `"case_progress"`, 60*time.Second)
		c.does(p)
		p.ends(c.code)
		if c.code == 6 {
			f := document(t, out).Cases[0].Launches[0].Failure
			if f == nil || !strings.Contains(f.Cause, c.cause) || f.Kind != c.kind || f.Node != c.node {
				t.Errorf("%s: %v, %+v", c.what, f, *cmp.Or(f, &results.Failure{}))
			}
		}
		if c.kind == results.NodeLost {
			b = w.agent("b") // it tidies up what the one that was killed has left
		}
		w.clean(p)
	}
	p, out := w.run(endless)
	events(t, p, out, `"case_progress"`, 60*time.Second)
	if n := len(w.ranks()); n != 4 {
		t.Fatalf("%d ranks", n)
	}
	p.signal(syscall.SIGKILL) // the coordinator: its own directory of temporary files stays
	p.ends(-1)
	await(t, "no rank is left", 30*time.Second, func() bool { return len(w.ranks()) == 0 },
		func() string { return strings.Join(w.ranks(), "\n") })
}

// toRank signals the process of a rank: ranks are started in their order.
func (w *world) toRank(t *testing.T, rank int, s syscall.Signal) {
	t.Helper()
	byNode := map[string][]int{}
	for _, file := range w.ranks() {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			t.Fatal(err)
		}
		_, parent, _ := strings.Cut(string(status), "PPid:\t")
		parent, _, _ = strings.Cut(parent, "\n")
		argv, err := os.ReadFile("/proc/" + parent + "/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		_, node, _ := strings.Cut(string(argv), "--node\x00")
		node, _, _ = strings.Cut(node, "\x00")
		byNode[node] = append(byNode[node], pid)
	}
	all := slices.Concat(slices.Sorted(slices.Values(byNode["a"])), slices.Sorted(slices.Values(byNode["b"])))
	if len(all) != 4 {
		t.Fatalf("there are ranks %v", byNode)
	}
	if err := syscall.Kill(all[rank], s); err != nil {
		t.Fatal(err)
	}
}
