package faults

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/control/registry"
)

// claims are the processors that sessions have claimed of a node, by session.
func (w *cluster) claims(n *node) map[string][]int {
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	from := prefix + "claims/" + n.name + "/"
	var body struct {
		Kvs []struct{ Key, Value []byte } `json:"kvs"`
	}
	query := fmt.Sprintf(`{"key":%q,"range_end":%q}`, b64(from), b64(strings.TrimSuffix(from, "/")+"0"))
	if err := w.ask("/v3/kv/range", query, &body); err != nil {
		w.t.Error(err)
	}
	all := map[string][]int{}
	for _, kv := range body.Kvs {
		var c registry.Reservation
		if err := json.Unmarshal(kv.Value, &c); err != nil {
			w.t.Error(err)
		}
		all[strings.TrimPrefix(string(kv.Key), from)] = c.CPUs
	}
	return all
}

// TestTwoSessionsOnTheSameNodes: they run at the same time, each on processors of its own.
func TestTwoSessionsOnTheSameNodes(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("there is one processor")
	}
	w := small(t)
	w.scenario = across
	for _, n := range w.nodes {
		n.stop()
		n.cpus = "0,1"
		n.start()
	}
	if what, ok := w.settled(); !ok {
		t.Fatal(what)
	}
	one, two := w.run(""), w.run("")
	together := eventually(bound, func() bool {
		for _, n := range w.nodes {
			if len(w.claims(n)) < 2 {
				return one.over() || two.over()
			}
		}
		return true
	})
	if !together || one.over() || two.over() {
		t.Errorf("the sessions were not there at the same time\n%s\n%s", w.tail(one.log), w.tail(two.log))
	}
	for _, n := range w.nodes {
		var cpus []int
		for _, c := range w.claims(n) {
			cpus = append(cpus, c...)
		}
		if slices.Sort(cpus); !slices.Equal(cpus, []int{0, 1}) {
			t.Errorf("of node %s the sessions have %v", n.name, w.claims(n))
		}
	}
	for _, s := range []*session{one, two} {
		if !s.wait(bound) || s.code() != 0 {
			t.Errorf("a session ends with %v\n%s", s.cmd.ProcessState, w.tail(s.log))
			continue
		}
		doc, err := s.document()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range failures(doc) {
			t.Errorf("a launch failed of it: %v", f)
		}
	}
	if what, ok := w.settled(); !ok {
		t.Errorf("left behind: %s", what)
	}
}

// TestANodeThatJoinsLate: a session waits for it, and runs on it as on others.
func TestANodeThatJoinsLate(t *testing.T) {
	w := small(t)
	late := w.nodes[1]
	late.stop()
	if !eventually(settle, func() bool {
		keys, err := w.keys()
		return err == nil && !slices.Contains(keys,
			"agents/"+late.name)
	}) {
		t.Fatal("the registration of an agent that is gone stays")
	}
	s := w.run("")
	if !eventually(bound, func() bool {
		return strings.Contains(w.tail(s.log),
			"waiting for agents: 1 of 2 have come")
	}) {
		t.Errorf("it does not name the process that it waits for\n%s", w.tail(s.log))
	}
	time.Sleep(time.Second)
	if s.over() {
		t.Fatalf("it does not wait\n%s", w.tail(s.log))
	}
	late.start()
	doc := s.ends(0)
	for _, f := range failures(doc) {
		t.Errorf("a launch failed of it: %v", f)
	}
	if doc != nil && len(doc.Environment.Nodes) != 2 {
		t.Errorf("its nodes are %v", doc.Environment.Nodes)
	}
}

// TestFullSharedMemory: what weir's own fabric shares has no file, and an agent that finds
// no room there has its directory elsewhere, so nothing depends on it.
func TestFullSharedMemory(t *testing.T) {
	w := small(t)
	for _, n := range w.nodes {
		w.tiny(n, "/dev/shm", "16k")
		fill := n.host.Command("dd", "if=/dev/zero", "of=/dev/shm/full", "bs=1k", "count=64")
		if out, _ := fill.CombinedOutput(); !strings.Contains(string(out), "No space left") {
			t.Fatalf("it is not full: %s", out)
		}
	}
	s := w.run("")
	if !s.wait(bound) || s.code() != 0 {
		t.Errorf("the session ends with %v\n%s", s.cmd.ProcessState, w.tail(s.log))
	}
	doc, err := s.document()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range failures(doc) {
		t.Errorf("a launch failed of it: %v", f)
	}
	for _, n := range w.nodes {
		n.host.Run("rm", "/dev/shm/full")
	}
	if what, ok := w.settled(); !ok {
		t.Errorf("left behind: %s", what)
	}
}

// TestSlowLink: a link that is slow, late or loses packets makes results worse and no
// launch fail.
func TestSlowLink(t *testing.T) {
	w := small(t)
	if w.lab == nil {
		t.Skip("there are no links without root")
	}
	h := w.nodes[1].host
	for name, k := range map[string]struct{ spoil, mend func() error }{
		"slow": {h.Command("tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", "200mbit", "burst",
			"128kb", "latency", "400ms").Run, h.Command("tc", "qdisc", "del", "dev", "eth0", "root").Run},
		"late": {func() error { h.Late(10*time.Millisecond, 10*time.Millisecond); return nil },
			func() error { h.Late(0, 0); return nil }},
		"loses packets": {func() error { h.Lose(1); return nil }, func() error { h.Lose(0); return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			if err := k.spoil(); err != nil {
				t.Skipf("this kernel has no such queue: %v", err)
			}
			for _, f := range failures(w.run("").ends(0)) {
				t.Errorf("a launch failed of it: %v", f)
			}
			if err := k.mend(); err != nil {
				t.Error(err)
			}
		})
	}
}
