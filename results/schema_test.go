package results_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

func compile(t *testing.T) *jsonschema.Schema {
	t.Helper()
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(results.JSONSchema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("results.json", schema); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("results.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, doc []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

// full is a document in which every field that can be set is set.
func full() *results.Document {
	lower, upper, numa, load := 41.832, 51.128, 0, 0.97
	metric := &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s"}
	value := results.Value{Name: "value", Number: 46.1, Unit: "GB/s", Text: "t"}
	reasons := []results.Reason{{
		Kind: results.BelowBound, Place: results.Place{Side: "base", Baseline: true, Case: "c", Launch: 1},
		Values: []results.Value{value},
	}}
	verdict := func(a assertion.Assertion) *results.AssertionVerdict {
		a.Name, a.Text, a.Lowered, a.File, a.Line, a.Severity, a.Unit = "n", "t", "l", "f.yaml", 3, assertion.Gate,
			"GB/s"
		return &results.AssertionVerdict{
			Assertion: a, Looks: []int{3, 5}, Verdict: results.Pass, Message: "m", Reasons: reasons, Deciding: 14,
			Open: true, OpenBefore: 2,
			Change: "set requests: 1000",
			Observed: &results.Observed{
				Value: 46.1, Unit: "GB/s", CI: &[2]float64{45.9, 46.4}, N: 3, Looks: 4,
				Noise: "noise 1% by reference t",
			},
		}
	}
	foreign := &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s", Case: "b", Baseline: true}
	several := verdict(assertion.Assertion{
		Quantifier: "all", Cases: []string{"a"}, Halo: 0.05, Multiple: "holm", Target: &lower, Written: "us",
		Compared:  true,
		Decide:    &assertion.Decide{Confidence: 0.99, OnInconclusive: "warn"},
		XFail:     &assertion.XFail{Reason: "r", Ceiling: 0.1, Link: "l", Until: "2026-12-24"},
		Reference: &assertion.Reference{Table: "t", Environment: "sha256:01"},
		Noise: []assertion.Noise{{
			Case: "k", Metric: "bandwidth", Launch: 0.02, LaunchDF: 33, Session: 0.01, SessionDF: 2,
			KnowsSessions: true, From: "reference t",
		}},
		Parts: []assertion.Part{{
			Subject: &assertion.Expr{Op: assertion.Median, Args: []*assertion.Expr{metric, foreign, metric}},
			Unit:    "GB/s", Bounds: assertion.Bounds{Lower: &lower, Strict: true},
			Target: &lower, Written: "us", Case: "a",
			Compared: true,
		}},
	})
	several.Verdict, several.Observed.Confidence = results.XFail, 0.99
	stated := verdict(assertion.Assertion{
		Transport: &assertion.Transport{Of: assertion.All, Names: []string{"rc"}, Prefix: true},
	})
	stated.Observed = nil
	provided := verdict(assertion.Assertion{
		Provider: &assertion.Provider{Fact: "hmem_p2p", Not: true, Values: []string{"disabled"}},
	})
	provided.Observed = nil
	now := time.Date(2026, 11, 21, 10, 15, 0, 0, time.UTC)
	d := &results.Document{
		Schema: results.Schema, Seal: "sha256:04",
		Session: results.Session{
			ID: "s", Started: now, Finished: now, Status: results.Failed, ExitCode: 1, Reason: "r",
			Argv: []string{"weir"}, Again: []string{"weir", "run", "x.yaml"}, Simulated: true, Resumed: "s0",
			Imported:     true,
			Inconclusive: &assertion.Inconclusive{As: "warn", Streak: 3},
		},
		Weir: results.Version{Version: "1", Commit: "c", Go: "go1.26"},
		Scenario: results.Scenario{
			Name: "n", Description: "d", File: "f", Digest: "sha256:00",
			VariantNotes: map[string]string{"v": "n"},
			Variables:    map[string]string{"peak": "46.48 GB/s"},
		},
		Plan: results.Plan{Digest: "sha256:01", Cases: 2, Excluded: 1},
		Site: &results.Site{Name: "p5", File: "p5.yaml", Links: map[string]float64{"efa": 12.5}},
		Quantiles: &results.Quantiles{
			Definition: results.NearestRankRule, Older: []string{"post.p99"},
			Recomputed: []results.Recomputed{{Case: "a", Metric: "latency.p99", Unit: "s", Was: 1, Is: 2}},
		},
		Environment: results.Environment{Fingerprint: "sha256:02", Variables: map[string]string{"UCX_TLS": "tcp"},
			Nodes: []results.Node{{
				Name: "n1", SameHost: "n0", Labels: map[string]string{"zone": "a"}, Image: "a:1@sha256:aa",
				Variables: map[string]string{"LD_LIBRARY_PATH": "/opt/ucx/lib"}, Kernel: "6.1", OS: "Debian 13",
				CPU: results.CPU{
					Model: "x", Count: 8, Allowed: 2,
					Limit: 1.5, Sockets: 1, NUMA: 1, Gov: "performance", Driver: "intel_pstate",
					Turbo: "off", Cache: &results.Cache{L2: 1 << 20, L3: 32 << 20},
				},
				NUMA: []results.NUMANode{{ID: 1, CPUs: "0-7", Memory: 1 << 34}},
				RDMA: []results.RDMA{
					{
						Name: "mlx5_0", Driver: "mlx5_core", Firmware: "20.31", NUMA: &numa,
						Ports: []results.RDMAPort{{Port: 1, State: "ACTIVE", Rate: "400 Gb/s", Link: "InfiniBand"}},
					},
				},
				Memory: results.Memory{Total: 1 << 34, Page: 4096, THP: "madvise", LockLimit: "unlimited",
					Hugepages: []results.Hugepages{{Size: 2 << 20, Total: 4, Free: 3}}}, StampClock: "c",
				Load: 0.5, Running: 1,
				GPUReason: "r", GPUs: []results.GPU{{Name: "g", Driver: "d", Bus: "0000:01:00.0", NUMA: &numa,
					Memory: 1 << 34, Used: 1, Processes: new(int), ECC: "on", Fault: "f",
					Clocks: &results.GPUClocks{SM: 1, SMMax: 2, Memory: 3, MemoryMax: 4},
					Power:  &results.GPUPower{Limit: 1, Default: 2}, NVLink: &results.NVLink{Links: 18, Up: 17}}},
				NICs: []results.NIC{
					{
						Name: "eth0", State: "up", MTU: 1500, Speed: "10 Gb/s", Driver: "ice", NUMA: &numa,
						RDMA: []string{"mlx5_0"},
					},
				},
				Fabrics: map[string]results.Fabric{
					"ucx": {
						Available: true, Version: "1.13.1", Reason: "r", Details: map[string]string{"tls": "tcp"},
						Paths: []results.Path{{Name: "rc_mlx5", Device: "mlx5_0:1", Access: results.RDMAAccess}},
					},
				},
				ClockOffset: results.ClockOffset{Value: -1e-6, Bound: 1e-5},
				Counters:    map[string]int{results.LinkClass: 3},
			}}},
		Checks: []results.Check{
			{Name: "c", Node: "n1", Status: "failed", Reason: "r", Severity: results.SkipCases, Remedy: "m"},
		},
		Cases: []*results.Case{{
			Seal: "sha256:05", Key: "bw[block_size=64MiB]", ID: "sha256:03", Run: "bw", Stage: "1 baseline",
			File: "x.yaml", Line: 7,
			Files:     map[string]string{"trace": "t.jsonl"},
			Workload:  "transfer",
			Axes:      map[string]any{"block_size": quantity.Size(64 << 20), "threads": int64(1)},
			AxisOrder: []string{"block_size", "threads"},
			Options:   map[string]any{"fabric": "shm", "verify": "sample"}, Env: map[string]string{"A": "b"},
			Unset: []string{"C"}, Secrets: []string{"D"}, Later: []string{"rate"},
			Status: results.OK, Reason: "interrupted, after 1 launches", Invalid: "i", Reasons: reasons, Made: 1,
			Link: &results.OfLink{Links: "2 × efa 12.50 GB/s", Nominal: 25, Share: 0.5},
			MayFail: &results.MayFail{
				MayFail: assertion.MayFail{
					XFail: assertion.XFail{Reason: "r", Until: "2026-12-24"}, Match: "m", Strict: true,
				},
				Verdict: results.XFail, Message: "m", Reasons: reasons,
			},
			Launches: []*results.Launch{{
				Index: 1, Started: now, Duration: 1.5, Status: results.Error, Finished: 1, Nodes: []string{"n1", "n1"},
				Bindings: []results.Binding{{Rank: 1, CPUs: "0-1", SharedCPUs: "2",
					GPUs: []string{"0"}, NICs: []string{"mlx5_0:1"},
					NUMA: []int{1}, Env: map[string]string{"A": "b"}}},
				Moved: []results.Move{{From: "n0", To: "n1", Reason: "r"}}, Fabric: "shm", Transport: "ring",
				RateWindow: "whole", Shared: []string{"ready.time"}, FabricReason: "r",
				Values: map[string]string{`run("a").bandwidth`: "1.5"},
				Errors: []results.Cause{{Text: "503", Count: 2}}, Notes: []results.Cause{{Text: "late", Count: 1}},
				Distributions: results.Distributions{
					"latency": {Steps: []int64{900, 100}, Counts: []int64{3, 1}, Unbounded: 1},
				},
				Waits: []results.Waits{{Operation: "dispatch", Mean: [][]float64{{0, 0.1}, {0.2, 0}}}},
				Timeline: &results.Timeline{
					Moments: []results.Moment{{At: 0.1, What: "killed", Rank: 3, By: 1, Took: 0.2}},
					Steps:   []results.GroupStep{{At: 0.1, Took: 0.01, Ranks: 4}},
				},
				Ignored: []results.Ignored{{Name: "UCX_TLSS", Suggestion: "UCX_TLS"},
					{Name: "UCX_HANDLE_ERRORS", ByWeir: true}, {Name: "UCX_IB_X", Reason: "r"}},
				Variables: []results.Variable{{Name: "UCX_NET_DEVICES", Value: "mlx5_0:1", From: results.FromBinding,
					Ranks: []int{1}}}, WorkingSet: &results.WorkingSet{Initiator: 1 << 20, Target: 1 << 20,
					Node: 2 << 20, Cache: 32 << 20}, MemoryNodes: []results.MemoryNode{{Node: 1, Ranks: []int{0, 2}}},
				GPUs:     []string{"0000:41:00.0", ""},
				Provider: []results.ProviderFact{{Name: "hmem_p2p", Value: "enabled", Setting: true, Ranks: []int{0}}},
				Libraries: []results.Library{
					{Name: "libucp", File: "/usr/lib/libucp.so.0", Version: "1.17.0", Build: "aa", Ranks: []int{0, 1}},
				},
				Transports: []results.Transport{
					{
						Name: "posix", Device: "memory", Use: results.DataUse, Emulated: true, Opaque: true,
						Ranks: []int{0},
					},
				},
				Failure: &results.Failure{
					Rank: -1, Node: "n1", Phase: "run", Kind: results.Crashed, Cause: "killed", Log: []string{"x"},
				},
				Metrics: results.ValuesOf(map[string]float64{
					"bandwidth": 46.1, "odd": math.NaN(), "inf": math.Inf(1), "minus": math.Inf(-1),
				}),
				Samples: []string{"samples/a.bin"}, SamplesDigest: "sha256:03",
				Ranks: []results.RankShare{{Rank: 1, Bytes: 8, Seconds: 2, Bandwidth: 4e-9}}, Initiators: 2,
				SlowestPair: &results.Pair{From: 1, To: 2, Bytes: 8, Seconds: 2, Bandwidth: 4e-9}, Verified: true,
				Pieces: []float64{1, 2},
				Played: [][2]float64{{0.1, 0.2}}, Discarded: "rank 1 waited", Processors: processors,
				Disturbance: &results.Disturbance{
					Cause: results.Waited, Share: 0.4, Text: "rank 1 waited", Tolerated: true,
				},
				Simulated: true, Retried: true, Load: &load, Resumed: true,
				Counters: []results.Counter{
					{Node: "n1", Device: "eth0 (mlx5_0)", Name: "rx_crc_errors", Class: results.LinkClass, By: 4},
				},
			}},
			WarmUp: &results.WarmUp{Pieces: 2, Of: 16, Ratio: 0.9, Moves: 0.01},
			Metrics: results.NamedOf(map[string]results.MetricEstimate{
				"bandwidth": {
					Unit: "GB/s", N: 2, Value: 46.1, Median: 46.1, Mean: 46.1, CV: 0.01, CI: &[2]float64{45.9, 46.3},
					Confidence: 0.96, Better: "higher", Samples: 188, Looks: 4,
					Components: []results.Variance{{Of: "launches", CV: 0.02, DF: 4}},
				},
			}),
			Assertions: []*results.AssertionVerdict{
				verdict(assertion.Assertion{Subject: metric, Bounds: assertion.Bounds{Lower: &lower, Upper: &upper}}),
			},
		}, {Key: "left out", Status: results.Excluded, Reason: "r"}},
		Assertions: []*results.AssertionVerdict{verdict(assertion.Assertion{
			Subject: &assertion.Expr{
				Op: assertion.Div, Args: []*assertion.Expr{metric, {Op: assertion.Const, Value: 2}},
			},
			Trend: &assertion.Trend{Axis: "block_size", Direction: "increases", Tolerance: 0.1},
			Cases: []string{"a", "b"},
		}), several, stated, provided},
		Baseline: &results.Baseline{Session: "b", File: "b.json", Fingerprint: "sha256:02",
			Missing: results.SkipMissing, Absent: "x", Imported: true,
			Sessions: []results.CaseNoise{
				{Case: "a", Metrics: []assertion.Noise{{Metric: "bandwidth", Session: 0.01}}},
			},
			Differences: []results.Difference{{What: "kernel", Base: "6.1", New: "6.2", Of: []string{"n1"}}},
			Cases: []results.BaselineCase{
				{
					Key: "a", Disturbed: 1, Launches: []results.MetricValues{
						results.ValuesOf(map[string]float64{"bandwidth": 46, "odd": math.NaN()}),
					},
				},
			}},
		Gains: []*results.Gains{{Run: "r", Baseline: "old", Rows: []*results.Gain{{
			Variant: "new", Axes: map[string]any{"size": 1.0}, Case: "a", BaseCase: "b", Metric: "m", Unit: "s",
			Better: "lower", Before: &results.Observed{Value: 2, Unit: "s", N: 3},
			After: &results.Observed{Value: 1, Unit: "s", N: 3}, Additive: true, Pairs: 3, Message: "paired",
			Gain: &results.Change{
				Value: 0.5, CI: &[2]float64{0.4, 0.6}, P: &lower, Q: &lower, Found: true, Detectable: &upper,
			},
		}}}},
		Claims: []*results.Claim{{
			Claim: assertion.Claim{
				Run: "r", Case: "a", BaseCase: "b", Metric: "m", Unit: "s", Better: "lower", Expected: 0.62,
				Written: "62%", Tolerance: 0.1, Source: "document 003", Date: "2025-11-20", Configuration: "P5",
				Says: "recommended", Implausible: "more than a link", Differs: "memory is dram", File: "s.yaml",
				Line: 3,
			},
			Found: &results.Observed{Value: 0.5, Unit: "s", N: 3}, Status: results.ClaimImplausible,
			Message: "more than a link",
		}},
		Previous: &results.Previous{
			Session: "p", File: "p.json", Started: now, Status: results.Passed,
			Differences: []results.Difference{{What: "kernel", Base: "6.1", New: "6.2", Of: []string{"n1"}}},
			Since: []*results.Since{{
				Case: "a", Metric: "bandwidth", Unit: "GB/s", Base: results.Observed{Value: 46, Unit: "GB/s",
					CI: &[2]float64{45, 47}, N: 3, Confidence: 0.99}, Additive: true,
				Change: results.Change{
					Assumes: true,
					Value:   0.9, CI: &[2]float64{0.8, 1}, P: &lower, Q: &lower, Detectable: &upper,
					Shift: 0.95, Mirrored: true,
				},
			}},
			NotCompared: []results.NotCompared{{Case: "b", Metric: "bandwidth", Reason: "env BASE differs"}},
		},
		Artifacts: []results.Artifact{
			{
				Name: "a", Node: "n1", File: "artifacts/n1/a", Source: "/a", Bytes: 3, SHA256: strings.Repeat("0a", 32),
				Status: results.ArtifactTruncated, Reason: "r", Required: true,
			},
		},
		Metrics: []results.MetricTable{{
			Workload: "command", Run: "build",
			Definitions: []results.Metric{
				{
					Name: "time.p99", Unit: "s", Better: results.Lower, MayBeZero: true, Doc: "d", Headline: true,
					Fixed:   true,
					Ceiling: "best", Quantile: "p99", CountedBy: "requests", FromRanks: results.EachRank,
				},
				{Name: "best", Unit: "s", Better: results.Neither, Reference: true},
			},
			Columns: []results.MetricColumn{
				{Metric: "time.p99", Head: "time\np99", Drop: 1, Interval: true, Percent: true},
			},
		}},
		Noise: []results.CaseNoise{{
			Case: "k", Environment: "sha256:01",
			Metrics: []assertion.Noise{{Metric: "bandwidth", Launch: 0.02, From: "history of 2 sessions"}},
		}},
		Services: []results.Service{{
			Binding: &results.Binding{CPUs: "3"},
			Name:    "web", Node: "n1", Fresh: "launch", For: "g/0", Started: now, Ready: 0.5, Lasted: 2,
			Status:  "failed",
			Failure: &results.Failure{Rank: -1, Phase: "run", Kind: results.Crashed, Cause: "it ended"},
			Log:     "logs/services/web/0/0.log",
		}},
		Commands: []results.Command{{
			Name: "mount", Stage: "setup", Scope: "launch", Of: "g/0", Node: "n1", Started: now, Duration: 0.5,
			Status: "failed", Reason: "r", Log: []string{"x"},
		}},
	}
	d.Summarize()
	return d
}

var processors = &results.Processors{
	Ranks: []results.RankProcessor{{Rank: 1, Wall: 1, Ran: 0.5, Waited: 0.5, ProbeRan: 0.1, ProbeWaited: 0.1,
		Sleeps: true}},
	Nodes: []results.NodeLoad{{
		Node: "n1", CPUs: 2, Threads: 3, Steal: 0.2, Stolen: 0.1, Load: 3.5, Pressure: 0.4, Sessions: 1,
		Elapsed: 2, Limit: 1.5, Throttled: 0.1, Running: 1,
	}},
}

// A field that full does not set is one that the schema, the reading and the
// writing are not tested with.
func TestFullSetsEveryField(t *testing.T) {
	set := map[string]bool{}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Map:
			for _, key := range v.MapKeys() {
				walk(v.MapIndex(key))
			}
		case reflect.Struct:
			if v.Type() == reflect.TypeFor[time.Time]() {
				return
			}
			for i := range v.NumField() {
				f := v.Type().Field(i)
				if f.Tag.Get("json") == "-" {
					continue
				}
				name := v.Type().String() + "." + f.Name
				set[name] = set[name] || !v.Field(i).IsZero()
				walk(v.Field(i))
			}
		}
	}
	walk(reflect.ValueOf(full()))
	for name, is := range set {
		if !is {
			t.Errorf("%s is set nowhere", name)
		}
	}
}

func TestDocumentsFollowTheSchema(t *testing.T) {
	s := compile(t)
	empty := &results.Document{Schema: results.Schema, Session: results.Session{Status: results.Errored, ExitCode: 5}}
	empty.Summarize()
	for name, doc := range map[string]*results.Document{"full": full(), "empty": empty} {
		b, err := doc.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, s, b); err != nil {
			t.Errorf("%s: %v\n%s", name, err, b)
		}
		if strings.Contains(string(b), `\u003c`) {
			t.Errorf("%s: < is escaped", name)
		}
	}
}

// The schema must be strict enough to notice: each change makes a valid document invalid.
func TestSchemaRefuses(t *testing.T) {
	s := compile(t)
	b, err := full().Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(map[string]any){
		"another version":   func(d map[string]any) { d["schema"] = "weir.results/v2" },
		"an unknown key":    func(d map[string]any) { d["extra"] = 1 },
		"a missing key":     func(d map[string]any) { delete(d, "cases") },
		"null for a list":   func(d map[string]any) { d["cases"] = nil },
		"an unknown status": func(d map[string]any) { d["session"].(map[string]any)["status"] = "green" },
		"exit code 2":       func(d map[string]any) { d["session"].(map[string]any)["exit_code"] = 2 },
		"no verdict":        func(d map[string]any) { firstAssertion(d)["verdict"] = "" },
		"half an interval":  func(d map[string]any) { firstAssertion(d)["observed"].(map[string]any)["ci"] = []any{1} },

		"a unary expression": func(d map[string]any) {
			firstAssertion(d)["subject"] = map[string]any{"op": "-", "args": []any{}}
		},
		"no parts": func(d map[string]any) { d["assertions"].([]any)[1].(map[string]any)["parts"] = []any{} },
		"a part without a case": func(d map[string]any) {

			delete(d["assertions"].([]any)[1].(map[string]any)["parts"].([]any)[0].(map[string]any), "case")
		},
		"an excuse without a day": func(d map[string]any) {
			delete(d["assertions"].([]any)[1].(map[string]any)["xfail"].(map[string]any), "until")
		},
		"a transport of no name": func(d map[string]any) {
			d["assertions"].([]any)[2].(map[string]any)["transport"].(map[string]any)["names"] = []any{}
		},
		"a fact of a provider without a value": func(d map[string]any) {
			d["assertions"].([]any)[3].(map[string]any)["provider"].(map[string]any)["values"] = []any{}
		},
		"a use of a transport that is unknown": func(d map[string]any) {
			firstCase(
				d)["launches"].([]any)[0].(map[string]any)["transports"].([]any)[0].(map[string]any)["use"] = "maybe"
		},
		"no operand": func(d map[string]any) {
			firstAssertion(d)["subject"] = map[string]any{"op": "geomean", "args": []any{}}
		},
		"another correction": func(d map[string]any) { firstAssertion(d)["multiple"] = "bonferroni" },
		"an unknown stage":   func(d map[string]any) { d["commands"].([]any)[0].(map[string]any)["stage"] = "later" },

		"a baseline of nowhere": func(d map[string]any) { delete(d["baseline"].(map[string]any), "fingerprint") },
		"an unknown failure": func(d map[string]any) {
			firstCase(d)["launches"].([]any)[0].(map[string]any)["failure"].(map[string]any)["kind"] = "bad luck"
		},
		"a metric that is text": func(d map[string]any) {
			firstCase(d)["launches"].([]any)[0].(map[string]any)["metrics"].(map[string]any)["bandwidth"] = "fast"
		},
	} {
		var d map[string]any
		if err := json.Unmarshal(b, &d); err != nil {
			t.Fatal(err)
		}
		change(d)
		changed, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if validate(t, s, changed) == nil {
			t.Errorf("the schema accepts %s", name)
		}
	}
}

func firstCase(d map[string]any) map[string]any {
	return d["cases"].([]any)[0].(map[string]any)
}

func firstAssertion(d map[string]any) map[string]any {
	return firstCase(d)["assertions"].([]any)[0].(map[string]any)
}
