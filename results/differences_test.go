package results_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weir-bench/weir/results"
)

// nodeOf is a node with something of everything.
func nodeOf(name string) results.Node {
	return results.Node{
		Name: name, Kernel: "6.1", CPU: results.CPU{Model: "x", Count: 8, Gov: "powersave"},
		Memory: results.Memory{Total: 1 << 34, Hugepages: []results.Hugepages{{Size: 2 << 20, Total: 4, Free: 4}}},
		NICs: []results.NIC{
			{Name: "eth0", Driver: "ice", MTU: 1500, State: "up", Speed: "10 Gb/s"}, {Name: "docker0", MTU: 1500},
		},
		GPUs:    []results.GPU{{Name: "g", Driver: "1"}, {Name: "g", Driver: "1"}},
		RDMA:    []results.RDMA{{Name: "mlx5_0", Firmware: "20.31"}},
		Fabrics: map[string]results.Fabric{"ucx": {Available: true, Version: "1.13"}},
	}
}

func TestEnvironmentDifferences(t *testing.T) {
	doc := func(change func(*results.Document), nodes ...string) *results.Document {
		d := &results.Document{}
		d.Weir.Version, d.Scenario.Name = "1", "s"
		for _, n := range nodes {
			d.Environment.Nodes = append(d.Environment.Nodes, nodeOf(n))
		}
		change(d)
		return d
	}
	node := func(i int, change func(*results.Node)) func(*results.Document) {
		return func(d *results.Document) { change(&d.Environment.Nodes[i]) }
	}
	as := func(*results.Document) {}
	two := []string{"a", "b"}
	for name, c := range map[string]struct {
		now  *results.Document
		want []string
	}{
		"nothing":            {doc(as, two...), nil},
		"the order of nodes": {doc(as, "b", "a"), nil},
		"what is momentary": {doc(node(0,
			func(n *results.Node) { n.NICs[0].State, n.Memory.Hugepages[0].Free, n.ClockOffset.Value = "down", 1, 3 }),
			two...), nil},
		"a bridge":              {doc(node(0, func(n *results.Node) { n.NICs = n.NICs[:1] }), two...), nil},
		"what the kernel keeps": {doc(node(0, func(n *results.Node) { n.Memory.Total += 4096 }), two...), nil},
		"memory": {doc(node(0, func(n *results.Node) { n.Memory.Total *= 2 }), two...),
			[]string{"memory.total: 16 GiB -> 32 GiB [a]"}},
		"kernel of one": {doc(node(1, func(n *results.Node) { n.Kernel = "6.5" }), two...),
			[]string{"kernel: 6.1 -> 6.5 [b]"}},
		"governor of both": {doc(func(d *results.Document) {
			d.Environment.Nodes[0].CPU.Gov, d.Environment.Nodes[1].CPU.Gov = "performance", "performance"
		}, two...), []string{"cpu.governor: powersave -> performance [a b]"}},
		"firmware": {doc(node(0, func(n *results.Node) { n.RDMA[0].Firmware = "20.32" }), two...),
			[]string{"rdma.mlx5_0.firmware: 20.31 -> 20.32 [a]"}},
		"a library": {doc(node(0, func(n *results.Node) {
			n.Fabrics = map[string]results.Fabric{"ucx": {Available: true, Version: "1.17"}}
		}), two...), []string{"fabrics.ucx.version: 1.13 -> 1.17 [a]"}},
		"one of two GPUs": {doc(node(0, func(n *results.Node) { n.GPUs[1].Driver = "2" }), two...),
			[]string{"gpus.g#1.driver: 1 -> 2 [a]"}},
		"another node": {doc(as, "a", "c"), []string{"node: b -> c []"}},
		"fewer nodes":  {doc(as, "a"), []string{"nodes: 2 -> 1 []"}},
		"weir and the session": {doc(func(d *results.Document) { d.Weir.Version, d.Session.Simulated = "2", true },
			two...), []string{"simulated: no -> yes []", "weir: 1 -> 2 []"}},
		"a variable of the shell": {doc(func(d *results.Document) {
			d.Environment.Variables = map[string]string{"UCX_TLS": "tcp", "FI_PROVIDER": ""}
		}, two...), []string{`shell variable FI_PROVIDER:  -> "" []`, "shell variable UCX_TLS:  -> tcp []"}},
		"a variable of a node": {doc(
			node(1, func(n *results.Node) { n.Variables = map[string]string{"LD_LIBRARY_PATH": "/opt"} }), two...),
			[]string{"variables.LD_LIBRARY_PATH:  -> /opt [b]"}},
		"a variable": {doc(
			func(d *results.Document) { d.Scenario.Variables = map[string]string{"peak": "3"} }, two...),
			[]string{"variable peak:  -> 3 []"}},
	} {
		var got []string
		for _, d := range results.EnvironmentDifferences(doc(as, two...), c.now) {
			got = append(got, fmt.Sprintf("%s: %s -> %s %v", d.What, d.Base, d.New, d.Of))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestCaseDifferences(t *testing.T) {
	side := func(batch float64, transport, node string, env map[string]string) *results.Case {
		return &results.Case{Key: "a", Options: map[string]any{"batch": batch, "verify": "none"}, Env: env,
			Launches: []*results.Launch{
				{
					Status: results.OK, Nodes: []string{"n1", node},
					Transports: []results.Transport{{Name: transport, Use: results.DataUse}},
				},
				{
					Status: results.OK, Nodes: []string{"n1", node}, Transport: "rc_mlx5", Fabric: "ucx",
					Provider: []results.ProviderFact{
						{Name: "FI_EFA_CQ_SIZE", Value: fmt.Sprint(batch), Setting: true},
						{Name: "UCX_TLS", Value: fmt.Sprint(batch), Setting: true}, // told as a variable
					},
				},
				// says nothing of what was measured
				{Status: results.Error, Nodes: []string{"n9", "n9"}, Transport: "none", Fabric: "tcp"},
			}}
	}
	one, other := side(1, "rc_mlx5", "n2", map[string]string{"UCX_TLS": "rc"}), side(2, "tcp", "n3", nil)
	var got []string
	for _, d := range results.CaseDifferences([]results.CasePair{
		{one, other}, {&results.Case{Key: "b"}, &results.Case{Key: "b"}},
	}) {
		got = append(got, fmt.Sprintf("%s: %s -> %s %v", d.What, d.Base, d.New, d.Of))
	}
	want := []string{
		"option batch: 1 -> 2 [a]", "env UCX_TLS: rc ->  [a]", "transport: rc_mlx5 -> rc_mlx5, or tcp [a]",
		"provider FI_EFA_CQ_SIZE: 1 -> 2 [a]",
		"nodes of the ranks: n1, n2 -> n1, n3 [a]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Of options with structure, the values that differ are shown, by their paths, and not the whole JSON.
func TestStructuredOptionsDifferByTheirValues(t *testing.T) {
	of := func(roles any, matrix string) *results.Case {
		return &results.Case{Key: "a", Options: map[string]any{"roles": roles, "matrix": matrix}}
	}
	const server = `{"server":{"run":"serve","args":["-p",8]},"client":{"ranks":2}}`
	for name, c := range map[string]struct {
		base, now *results.Case
		want      string
	}{
		"nothing": {of(server, "[[0,1],[1,0]]"), of(server, "[[0,1],[1,0]]"), "[]"},
		"values": {of(server, "ring"), of(`{"server":{"run":"other","args":["-p",9]},"client":{"ranks":2}}`, "ring"),
			"[option roles.server.args.1: 8 -> 9 [a] option roles.server.run: serve -> other [a]]"},
		"a role less": {of(server, "ring"), of(`{"server":{"run":"serve","args":["-p",8]}}`, "ring"),
			"[option roles.client.ranks: 2 ->  [a]]"},
		"a row": {of("", "[[0,1],[1,0]]"), of("", "[[0,1],[2,0]]"), "[option matrix.1.0: 1 -> 2 [a]]"},
		"another shape": {of("", "[[0,1]]"), of("", "ring"),
			"[option matrix.0.0: 0 ->  [a] option matrix.0.1: 1 ->  [a] option matrix:  -> ring [a]]"},
		"decoded": {of(map[string]any{"x": map[string]any{"ranks": 1.}}, ""),
			of(map[string]any{"x": map[string]any{"ranks": 2.}}, ""), "[option roles.x.ranks: 1 -> 2 [a]]"},
	} {
		var got []string
		for _, d := range results.CaseDifferences([]results.CasePair{{Base: c.base, New: c.now}}) {
			got = append(got, fmt.Sprintf("%s: %s -> %s %v", d.What, d.Base, d.New, d.Of))
		}
		slices.Sort(got)
		if text := fmt.Sprint(got); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}

// What ranks had of shell, node and processors is reported; what the scenario asks for is reported as that.
func TestVariablesOfLaunchesDiffer(t *testing.T) {
	of := func(env map[string]string, launches ...[]results.Variable) *results.Case {
		c := &results.Case{Key: "a", Env: env}
		for _, v := range launches {
			c.Launches = append(c.Launches, &results.Launch{Status: results.OK, Variables: v})
		}
		return c
	}
	tls := func(value, from string, ranks ...int) []results.Variable {
		return []results.Variable{{Name: "UCX_TLS", Value: value, From: from, Ranks: ranks}}
	}
	key := map[string]string{"KEY": "tok-1"}
	rc := map[string]string{"UCX_TLS": "rc"}
	secret := of(nil, nil)
	secret.Secrets = []string{"KEY"}
	for name, c := range map[string]struct {
		base, now *results.Case
		want      string
	}{
		"nothing": {of(nil, tls("tcp", results.FromShell)), of(nil, tls("tcp", results.FromShell)), "[]"},
		"the shell": {of(nil, nil), of(nil, tls("tcp", results.FromShell)),
			"[library variable UCX_TLS:  -> tcp (shell) [a]]"},
		"set and empty": {of(nil, nil), of(nil, tls("", results.FromShell)),
			`[library variable UCX_TLS:  -> "" (shell) [a]]`},
		"of some launches": {of(nil, tls("tcp", results.FromShell)), of(nil, tls("tcp", results.FromShell), tls("rc",
			results.FromBinding, 1)), "[library variable UCX_TLS: tcp (shell) -> rc (seat), or tcp (shell) [a]]"},
		"an older document":    {of(rc, nil), of(rc, tls("rc", results.FromScenario)), "[]"},
		"literal, then secret": {of(key, nil), secret, "[env KEY: *** ->  [a]]"},
		"secret, then literal": {secret, of(key, nil), "[env KEY:  -> *** [a]]"},
		"the scenario":         {of(nil, nil), of(rc, tls("rc", results.FromScenario)), "[env UCX_TLS:  -> rc [a]]"},
	} {
		var got []string
		for _, d := range results.CaseDifferences([]results.CasePair{{Base: c.base, New: c.now}}) {
			got = append(got, fmt.Sprintf("%s: %s -> %s %v", d.What, d.Base, d.New, d.Of))
		}
		if text := fmt.Sprint(got); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}
