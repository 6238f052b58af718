package scenarios_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/scenarios"
)

func TestEveryScenarioPlans(t *testing.T) {
	entries := scenarios.Entries()
	if len(entries) == 0 {
		t.Fatal("the catalogue is empty")
	}
	for _, e := range entries {
		s, _, diags := dsl.Load(e.File, e.Content, dsl.Options{})
		if diags.HasErrors() {
			t.Errorf("%s: %v", e.File, diags)
			continue
		}
		p, diags := planner.Build(s)
		for _, d := range diags { // a published request is sent as it was, and a cache may hold it
			if e.Name != "kv-backends" || !strings.Contains(d.Detail, "prefix: none") {
				t.Errorf("%s: %v", e.File, d)
			}
		}
		if p == nil {
			continue
		}
		if p.Scenario.Name != e.Name || p.Scenario.Description == "" || len(p.Cases) == 0 {
			t.Errorf("%s: name %q, description %q, %d cases", e.File, p.Scenario.Name, p.Scenario.Description,
				len(p.Cases))
		}
	}
}

// The groups of the catalogue are planned between GPUs, on fabrics that support GPU memory.
func TestGroupsBetweenGPUs(t *testing.T) {
	for name, c := range map[string]struct{ workload, fabric string }{
		"nixl-ep": {"ep", "auto"}, "nixl-ep-control": {"ep_control", "auto"}, "nixl-ep-elastic": {"ep_elastic", "cuda"},
	} {
		e, err := scenarios.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		s, _, diags := dsl.Load(e.File, e.Content, dsl.Options{Vars: map[string]string{"memory": "vram"}})
		if diags.HasErrors() {
			t.Errorf("%s: %v", name, diags)
			continue
		}
		p, diags := planner.Build(s)
		if len(diags) > 0 || len(p.Cases) == 0 {
			t.Errorf("%s: %v", name, diags)
			continue
		}
		for _, k := range p.Cases {
			if k.Run == "dfw" || k.Run == "rdma" { // they run over fabric ucx
				continue
			}
			if k.Workload != c.workload || k.Options["memory"] != "vram" || k.Options["fabric"] != c.fabric ||
				k.Options["vram_alloc"] == nil {
				t.Errorf("%s of %s: %v", k.Key, name, k.Options)
			}
		}
		s, _, diags = dsl.Load(e.File, e.Content,
			dsl.Options{Vars: map[string]string{"memory": "vram", "fabric": "tcp"}})
		if !diags.HasErrors() {
			if _, diags = planner.Build(s); !diags.HasErrors() {
				t.Errorf("%s moves memory of GPUs over tcp", name)
			}
		}
	}
}

func TestLookupNamesWhatThereIs(t *testing.T) {
	if _, err := scenarios.Lookup("nope"); err == nil {
		t.Error("found a scenario that does not exist")
	}
}

// Hosts are measured in pairs, one rank on each, never two on one host.
func TestHosts(t *testing.T) {
	e, err := scenarios.Lookup("hosts")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"": 2, "4": 4, "3": 0, "0": 0} {
		o := dsl.Options{}
		if text != "" {
			o.Vars = map[string]string{"hosts": text}
		}
		s, _, diags := dsl.Load(e.File, e.Content, o)
		if want == 0 {
			if !diags.HasErrors() {
				t.Errorf("%s hosts are taken", text)
			}
			continue
		}
		p, more := planner.Build(s)
		if diags.HasErrors() || more.HasErrors() {
			t.Fatal(diags, more)
		}
		for _, c := range p.Cases {
			if ranks := c.Options["ranks"]; ranks != int64(want) || c.Place.Nodes != want || !c.Place.DistinctHosts {
				t.Errorf("%s of %d hosts has %v ranks on %d nodes", c.Key, want, ranks, c.Place.Nodes)
			}
		}
	}
}

// Every check of the catalogue has a remedy.
func TestEveryCheckHasARemedy(t *testing.T) {
	for _, e := range scenarios.Entries() {
		s, _, diags := dsl.Load(e.File, e.Content, dsl.Options{})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		for _, c := range s.Checks {
			if c.Remedy == "" {
				t.Errorf("%s: check %q has no remedy", e.File, c.Name)
			}
		}
	}
}

// What moves memory of GPUs asserts that it was not copied through host memory.
func TestMemoryOfGPUsIsNotStaged(t *testing.T) {
	for name, vars := range map[string]map[string]string{
		"nixl-ep":                {"memory": "vram"},
		"nixl-ep-elastic":        {"memory": "vram"},
		"ct-perftest":            {"mem_type": "cuda"},
		"sequential-ct-perftest": {"mem_type": "cuda"},
		"llama-405b":             {"memory": "vram"},
	} {
		e, err := scenarios.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		s, _, diags := dsl.Load(e.File, e.Content, dsl.Options{Vars: vars})
		if diags.HasErrors() {
			t.Errorf("%s: %v", name, diags)
			continue
		}
		p, diags := planner.Build(s)
		if diags.HasErrors() {
			t.Errorf("%s: %v", name, diags)
			continue
		}
		asserted := 0
		for _, c := range p.Cases {
			for _, a := range c.Assertions {
				if a.Name == "not through host memory" {
					asserted++
				}
			}
		}
		if asserted == 0 {
			t.Errorf("%s: no case asserts it", name)
		}
	}
}

// Comments of the catalogue name commands of weir that there are.
func TestCommentsNameCommandsThatThereAre(t *testing.T) {
	for _, e := range scenarios.Entries() {
		for _, m := range regexp.MustCompile(`weir import ([a-z_-]+)`).FindAllStringSubmatch(string(e.Content), -1) {
			_, err := os.Stat("../interop/importer/tools/" + m[1] + ".yaml")
			if err != nil || m[1] == "sequential-ct-perftest" { // which ct-perftest reads, too
				t.Errorf("%s names weir import %s", e.File, m[1])
			}
		}
	}
}
