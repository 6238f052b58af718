package scenarios_test

import (
	"strings"
	"testing"
)

// claimsOf are the claims of an entry with variables, by case and metric: "" if the case can be compared, or else how
// it differs from the document.
func claimsOf(t *testing.T, name, vars string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, c := range planned(t, name, variables(vars)).Claims {
		all[c.Case+" "+c.Metric] = c.Differs
	}
	return all
}

// variables are those of a text, as "memory=vram hosts=2"; | stands for the end of a line.
func variables(text string) map[string]string {
	vars := map[string]string{}
	for _, v := range strings.Fields(text) {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = strings.ReplaceAll(value, "|", "\n")
	}
	return vars
}

// Claims are on the run that measures the published path, and a configuration that is not the published one is not
// comparable. What is listed is a claim of each scenario that stands for the others.
func TestClaimsAreOnTheRunThatMeasures(t *testing.T) {
	for _, c := range []struct{ scenario, vars, claim, differs string }{
		{"nixl-ep", "", "modes[mode=e2e] bandwidth", `memory == "vram", but memory is dram`},
		{"nixl-ep", "fabric=ucx memory=vram", "modes[mode=e2e] bandwidth", ""},
		{"nixl-ep", "published=true", "dfw[mode=e2e] bandwidth", ""},
		{"nixl-ep", "published=true", "dfw[mode=combine] latency.avg", ""},
		{"nixl-ep", "nvlink_backend=none tokens=64", "dfw[mode=e2e] bandwidth", "tokens == 128, but tokens is 64"},
		{"nixl-ep", "nvlink_backend=none", "dfw[mode=dispatch] bandwidth", `memory == "vram", but memory is dram`},
		{"nixl-ep-control", "", "cycle[experts_per_rank=8] total", `memory == "vram", but memory is dram`},
		{"nixl-ep-control", "nvlink_backend=ipc", "cycle[experts_per_rank=8] init.avg", ""},
		{"nixl-ep-control", "nvlink_backend=none memory=vram", "rdma[experts_per_rank=8] destroy.avg", ""},
		{"nixl-ep-control", "memory=vram num_processes=2", "cycle[experts_per_rank=8] total",
			"ranks == 8, but ranks is 2"},
		{"nixl-ep-control", "memory=vram world_size=2 num_processes=4", "cycle[experts_per_rank=8] total",
			"nodes == 1, but nodes is 2"},
		{"sequential-ct-perftest", "", "sequence[pattern=0] latency", "sleep_before_launch is 20ms"},
		{"sequential-ct-perftest", "metadata_file=../examples/matrices/sequence", "file[pattern=1] isolated_latency",
			`memory == "vram", but memory is dram; ranks == 12, but ranks is 4`},
		{"llama-405b", "", "sequence[pattern=0] latency", `"bytes_scale 0.001" == "bytes_scale 0.25"`},
		{"llama-405b", "isl=16000 bytes_scale=1", "sequence[pattern=0] latency",
			`"bytes_scale 1" == "bytes_scale 0.25"`},
		{"llama-405b", "memory=vram isl=38328 bytes_scale=0.25 prefill_tp=4", "sequence[pattern=0] latency", ""},
	} {
		all := claimsOf(t, c.scenario, c.vars)
		differs, claimed := all[c.claim]
		if !claimed || (differs == "") != (c.differs == "") || !strings.Contains(differs, c.differs) {
			t.Errorf("%s %s: %s is %q (%v) in %v", c.scenario, c.vars, c.claim, differs, claimed, all)
		}
		run, _, _ := strings.Cut(c.claim, "[")
		for claim := range all {
			if !strings.HasPrefix(claim, run) {
				t.Errorf("%s %s: %s is of another run", c.scenario, c.vars, claim)
			}
		}
	}
}

// Published numbers decide in the published configuration only.
func TestPublishedNumbersDecideInTheirConfiguration(t *testing.T) {
	const cycle = "cycle[experts_per_rank=8]"
	const host = "nixl_libfabric[block_size=64MiB,memory=dram,variant=p2p]"
	const p5 = "hosts=2 memory=vram provider=efa"
	for _, c := range []struct {
		scenario, vars, key, name, want string
	}{
		{"nixl-ep", "published=true", "dfw[mode=dispatch]", "published bandwidth", "gate from 37.89 to 46.31"},
		{"nixl-ep", "published=true", "dfw[mode=e2e]", "published latency", "gate from 0.000468 to 0.000572"},
		{"nixl-ep", "nvlink_backend=none memory=vram", "dfw[mode=dispatch]", "published bandwidth", ""},
		{"nixl-ep-control", "published=true memory=vram", cycle, "published init", "gate to 0.15023"},
		{"nixl-ep-control", "memory=vram", cycle, "published init", ""},
		{"nixlbench-libfabric", "hosts=1 provider=shm", host, "least between host memories", "info from 40"},
		{"nixlbench-libfabric", "provider=tcp memory=dram", host, "least between host memories", "info from 40"},
		{"nixlbench-libfabric", "memory=dram", host, "least between host memories", "gate from 40"},
		{"dynamo-suite", p5, "nixl_libfabric", "published for LIBFABRIC", "gate from 41.832 to 51.128"},
		{"dynamo-suite", p5, "nixl_ucx", "published for UCX", "info from 0.68 to 1.02"},
		{"dynamo-suite", p5 + " published=false", "nixl_libfabric", "published for LIBFABRIC", ""},
		{"dynamo-suite", p5 + " size=1MiB", "nixl_libfabric", "published for LIBFABRIC", ""},
		{"dynamo-suite", "hosts=2 memory=vram", "nixl_libfabric", "published for LIBFABRIC", ""},
	} {
		k := planned(t, c.scenario, variables(c.vars)).Case(c.key)
		if k == nil {
			t.Errorf("%s %s has no case %s", c.scenario, c.vars, c.key)
		} else if got := asserted(k)[c.name]; got != c.want {
			t.Errorf("%s %s: %s of %s is %q, want %q", c.scenario, c.vars, c.name, c.key, got, c.want)
		}
	}
}

// Without NVLink UCX may use RDMA only, and the transport is asserted, so that shared memory does not pass.
func TestWithoutNVLinkThereIsRDMAOnly(t *testing.T) {
	for name, key := range map[string]string{
		"nixl-ep": "dfw[mode=dispatch]", "nixl-ep-control": "rdma[experts_per_rank=8]",
	} {
		p := planned(t, name, variables("nvlink_backend=none"))
		for _, c := range p.Cases {
			if ran := c.Reason == ""; ran && c.Env["UCX_TLS"] != "rc_mlx5,dc_mlx5,tcp" {
				t.Errorf("%s: %s runs with UCX_TLS=%q", name, c.Key, c.Env["UCX_TLS"])
			}
		}
		c := p.Case(key)
		found := false
		for _, a := range c.Assertions {
			found = found || strings.Contains(a.Text, "rc_mlx5")
		}
		if c.Options["fabric"] != "ucx" || !found {
			t.Errorf("%s: %s is over %v, and asserts RDMA: %v", name, key, c.Options["fabric"], found)
		}
	}
}

// A value that a variable does not have is refused, before something else is measured, and so are published numbers for
// a configuration that they are not of.
func TestUnknownValuesAreRefused(t *testing.T) {
	for _, c := range []struct{ scenario, vars string }{
		{"nixl-ep", "nvlink_backend=foo"}, {"nixl-ep-control", "nvlink_backend=foo"},
		{"ct-perftest", "mem_type=FILE"}, {"sequential-ct-perftest", "mem_type=gpu"},
		{"kv-backends", "framework=vllm"},
		{"nixl-ep", "published=true ranks=4"}, {"nixl-ep", "published=true hidden=512"},
		{"nixl-ep-control", "published=true"}, {"nixl-ep-control", "published=true memory=vram tokens=8"},
		{"nixl-ep-control", "published=true memory=vram experts_per_rank=4"},
		{"nixl-ep-control", "published=true memory=vram test=init"},
		{"nixl-ep-control", "published=true memory=vram num_processes=2"},
	} {
		if said := refusal(t, c.scenario, c.vars); !strings.Contains(said, "Invalid value") {
			t.Errorf("%s %s: %q", c.scenario, c.vars, said)
		}
	}
}
