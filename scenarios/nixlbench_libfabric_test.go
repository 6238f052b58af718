package scenarios_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/scenarios"
)

// planned is the plan of an entry with variables.
func planned(t *testing.T, name string, vars map[string]string) *planner.Plan {
	t.Helper()
	e, err := scenarios.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return planOf(t, e.File, e.Content, vars)
}

// planOf is the plan of a scenario with variables.
func planOf(t *testing.T, file string, src []byte, vars map[string]string) *planner.Plan {
	t.Helper()
	s, _, diags := dsl.Load(file, src, dsl.Options{Vars: vars})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, diags := planner.Build(s)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return p
}

// refusal is the error of an entry with variables; "": there is none.
func refusal(t *testing.T, name, vars string) string {
	t.Helper()
	e, err := scenarios.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	_, _, diags := dsl.Load(e.File, e.Content, dsl.Options{Vars: variables(vars)})
	var said []string
	for _, d := range diags.Errs() {
		said = append(said, d.Error())
	}
	return strings.Join(said, "\n")
}

// asserted are the bounds of a case's assertions, by name and with their severities.
func asserted(c *planner.Case) map[string]string {
	all := map[string]string{}
	for _, a := range c.Assertions {
		text := string(a.Severity)
		if a.Bounds.Lower != nil {
			text += fmt.Sprintf(" from %.5g", *a.Bounds.Lower)
		}
		if a.Bounds.Upper != nil {
			text += fmt.Sprintf(" to %.5g", *a.Bounds.Upper)
		}
		all[a.Name] = text
	}
	return all
}

// The published table decides where it was published: 46.48 GB/s within 10 % between GPUs with P2P, 40 GB/s between
// host memories, over NIXL's plugin and over libfabric itself.
func TestNixlbenchLibfabricHoldsThePublishedTable(t *testing.T) {
	p := planned(t, "nixlbench-libfabric", nil)
	for _, run := range []string{"nixl_libfabric", "libfabric"} {
		for key, want := range map[string]map[string]string{
			"block_size=64MiB,memory=vram,variant=p2p": {
				"peak between GPUs": "gate from 41.832 to 51.128", "latency": "info from 0.0012994 to 0.0015882",
				"worth of P2P": "warn from 1",
			},
			"block_size=16MiB,memory=vram,variant=p2p": {"large blocks": "warn from 36.954 to 45.166"},
			"block_size=1MiB,memory=vram,variant=p2p":  {"large blocks": "warn from 12.708 to 15.532"},
			"block_size=4KiB,memory=vram,variant=p2p": {
				"small blocks": "info from 0.072 to 0.088", "small transfers": "warn to 5e-05",
			},
			"block_size=64MiB,memory=dram,variant=p2p":     {"least between host memories": "gate from 40"},
			"block_size=64MiB,memory=vram,variant=p2p_off": {},
		} {
			c := p.Case(run + "[" + key + "]")
			if c == nil {
				t.Errorf("%s has no case %s", run, key)
				continue
			}
			got := asserted(c)
			for name, text := range want {
				if got[name] != text {
					t.Errorf("%s: %s is %q, want %q", c.Key, name, got[name], text)
				}
			}
			off := map[string]string{"p2p": "0", "p2p_off": "1"}[c.Axes["variant"].(string)]
			for name, value := range map[string]string{
				"FI_PROVIDER": "efa", "FI_EFA_ENABLE_SHM_TRANSFER": "0", "FI_HMEM_DISABLE_P2P": off,
			} {
				if c.Env[name] != value {
					t.Errorf("%s: %s=%q, want %q", c.Key, name, c.Env[name], value)
				}
			}
		}
	}
	for _, run := range []string{"nixl_ucx", "ucx"} {
		c := p.Case(run + "[block_size=64MiB,memory=vram]")
		if c == nil || asserted(c)["published for UCX"] != "info from 0.68 to 1.02" {
			t.Errorf("UCX beside it is %+v", c)
		}
	}
	var kept []string
	for _, a := range p.Artifacts {
		kept = append(kept, a.Name)
	}
	if want := []string{"fi_info", "gpu-info", "efa-devices"}; !slices.Equal(kept, want) {
		t.Errorf("it keeps %v, want %v", kept, want)
	}
	c := p.Cluster
	if c.Nodes != 2 || !c.DistinctHosts || c.GPUsPerNode != 1 || c.NICsPerNode != 4 || c.NICDriver != "efa" ||
		c.HugePages["2MiB"] != 2<<30 {
		t.Errorf("it requires %v", c)
	}
}

// Each row of the published table is a claim of both runs, and is not comparable with what hosts do over tcp.
func TestNixlbenchLibfabricClaimsThePublishedTable(t *testing.T) {
	row := func(run, size, memory, metric string) string {
		return run + "[block_size=" + size + ",memory=" + memory + ",variant=p2p] " + metric
	}
	all := claimsOf(t, "nixlbench-libfabric", "")
	other := claimsOf(t, "nixlbench-libfabric", "provider=tcp")
	want := 0
	for _, run := range []string{"nixl_libfabric", "libfabric"} {
		claims := []string{row(run, "64MiB", "dram", "bandwidth")}
		for _, size := range []string{"4KiB", "1MiB", "16MiB", "64MiB"} {
			claims = append(claims, row(run, size, "vram", "bandwidth"), row(run, size, "vram", "latency.avg"))
		}
		for _, claim := range claims {
			differs, claimed := all[claim]
			if !claimed || (differs == "") != (run == "nixl_libfabric") {
				t.Errorf("%s: claimed %v, %q", claim, claimed, differs)
			}
			if !strings.Contains(other[claim], "env.FI_PROVIDER is tcp") {
				t.Errorf("over tcp %s can be compared: %q", claim, other[claim])
			}
		}
		want += len(claims)
	}
	if len(all) != want+2 { // UCX with and without NIXL
		t.Errorf("%d claims, want %d: %v", len(all), want+2, all)
	}
	if all = claimsOf(t, "nixlbench-libfabric", "provider=tcp memory=dram hosts=1 published=false"); len(all) != 2 {
		t.Errorf("between host memories: %v", all)
	}
}

// Without the hardware nothing of it is required, and no published value decides.
func TestNixlbenchLibfabricWithoutHardware(t *testing.T) {
	p := planned(t, "nixlbench-libfabric", map[string]string{
		"provider": "tcp", "memory": "dram", "hosts": "1", "sizes": "4KiB,1MiB",
	})
	if c := p.Cluster; c.Nodes != 1 || c.DistinctHosts || c.GPUsPerNode+c.NICsPerNode+len(c.HugePages) > 0 {
		t.Errorf("it requires %v", c)
	}
	for _, c := range p.Cases {
		for name, text := range asserted(c) {
			if text[:4] != "info" {
				t.Errorf("%s: %s is %q", c.Key, name, text)
			}
		}
	}
	for _, c := range p.Checks {
		t.Errorf("check %q is made", c.Name)
	}
}
