package scenarios_test

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/scenarios"
)

// own are the deployments of the rows with other models, as texts of several lines.
const own = " manifest_8b=" + deployment + " manifest_70b=" + deployment
const deployment = `{"apiVersion":"v1",|"kind":"ConfigMap","metadata":{"name":"kv"}}`

// What was published of real servers is not comparable with a mocker, and of GPUs over EFA not with what one host does.
func TestClaimsOfDynamo(t *testing.T) {
	const users = `[concurrency=20,variant="Optimized LIBFABRIC"] `
	const loop = users + "latency.p99"
	const measured = "hosts=2 memory=vram provider=efa "
	for _, c := range []struct{ scenario, vars, claim, differs string }{
		{"kv-backends", "", "loop" + loop, `model != "mock", but model is mock`},
		{"kv-backends", "deploy=kubernetes" + own, "loop_kubernetes" + loop, `"framework TRT-LLM"`},
		{"kv-backends", "framework=vLLM deploy=kubernetes" + own, "loop_kubernetes" + loop, `"framework TRT-LLM"`},
		{"kv-backends", "framework=vLLM deploy=kubernetes" + own, "loop_kubernetes" + users + "ttft.avg", ""},
		{"kv-backends", "framework=TRT-LLM deploy=kubernetes" + own, "loop_kubernetes" + loop, ""},
		{"dynamo-suite", "", "nixl_libfabric bandwidth", `initiator == "vram", but initiator is dram; nodes == 2`},
		{"dynamo-suite", "", "nixl_ucx bandwidth", "nodes == 2, but nodes is 1"},
		{"dynamo-suite", "hosts=2 memory=vram", "nixl_libfabric bandwidth", `but env.FI_PROVIDER is tcp`},
		{"dynamo-suite", measured + "size=1MiB", "nixl_libfabric bandwidth", "but block_size is 1MiB"},
		{"dynamo-suite", measured, "nixl_libfabric bandwidth", ""},
		{"dynamo-suite", measured, "nixl_ucx bandwidth", ""},
		{"dynamo-suite", "", "ucx_perftest bandwidth", "nodes == 2, but nodes is 1"},
		{"dynamo-suite", measured + "ranks=2,8,64", "ucx_native[ranks=64] bandwidth", ""},
	} {
		all := claimsOf(t, c.scenario, c.vars)
		differs, claimed := all[c.claim]
		if !claimed || (differs == "") != (c.differs == "") || !strings.Contains(differs, c.differs) {
			t.Errorf("%s %s: %s is %q (%v) in %v", c.scenario, c.vars, c.claim, differs, claimed, all)
		}
	}
}

// On a site of P5 instances the validated bandwidth is plausible, since LIBFABRIC spreads a transfer over the NICs near
// a GPU; 285 GB/s of one NIC and 9 TB/s of 32 are not.
func TestPlausibleClaimsOfDynamo(t *testing.T) {
	e, err := scenarios.Lookup("dynamo-suite")
	if err != nil {
		t.Fatal(err)
	}
	for _, vars := range []string{
		"", "hosts=2 memory=vram provider=efa", "hosts=2 memory=vram provider=efa nics_per_rank=1 ranks=2,8,64",
	} {
		s, _, diags := dsl.Load(e.File, e.Content, dsl.Options{
			Vars: variables(vars), Links: map[string]float64{"efa": 12.5, "host": 400},
		})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		p, diags := planner.Build(s)
		if len(diags) > 0 {
			t.Errorf("%s: %v", vars, diags)
		}
		for _, c := range p.Claims {
			if (c.Implausible != "") != (c.Run == "ucx_perftest" || c.Run == "ucx_native") {
				t.Errorf("%s: %s of %s is implausible: %q", vars, c.Written, c.Case, c.Implausible)
			}
		}
	}
}

// On a cluster nothing needs the mocker, each row has the backend that its launch must prove, and rows with
// other models have deployments of their own.
func TestRowsOnACluster(t *testing.T) {
	p := planned(t, "kv-backends", variables("deploy=kubernetes"+own))
	for _, c := range p.Cases {
		if local := c.Options["service"] == "frontend"; local != (c.Reason != "") {
			t.Errorf("%s: %q", c.Key, c.Reason)
		}
		variant, _ := c.Axes["variant"].(string)
		backend := "LIBFABRIC"
		if strings.Contains(variant, "UCX") {
			backend = "UCX"
		}
		services, _ := c.Options["services"].(string)
		if c.Reason == "" && c.Run != "fabric" && !strings.Contains(services, "Backend "+backend+" was instantiated") {
			t.Errorf("%s does not prove %s: %s", c.Key, backend, services)
		}
	}
	models := map[string]string{}
	for _, c := range p.Cases {
		model, _ := c.Options["model"].(string)
		if before := models[c.Run]; c.Reason == "" && before != "" && before != model {
			t.Errorf("the rows of run %s are compared, and it has %s and %s", c.Run, before, model)
		}
		if !strings.Contains(c.Run, "_models") {
			models[c.Run] = model
		}
	}
	for _, name := range []string{"manifest_8b", "manifest_70b"} {
		if said := refusal(t, "kv-backends", "deploy=kubernetes"); !strings.Contains(said, "--var "+name) {
			t.Errorf("without %s: %q", name, said)
		}
	}
	if said := refusal(t, "kv-backends", ""); said != "" {
		t.Error(said)
	}
}

// A remedy is something to do with the program alone: it names no file of weir's repository.
func TestRemediesNeedNoRepository(t *testing.T) {
	for _, e := range scenarios.Entries() {
		s, _, diags := dsl.Load(e.File, e.Content, dsl.Options{})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		text := string(e.Content)
		for _, c := range s.Checks {
			text += c.Remedy
		}
		for _, word := range []string{"make ", "test/peers", "repository"} {
			if strings.Contains(text, word) && (word != "make " || strings.Contains(text, "`make ")) {
				t.Errorf("%s tells to use %q", e.File, word)
			}
		}
	}
}
