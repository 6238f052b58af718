package planner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/weir-bench/weir/workload/serving"
)

// load is a run of workload serving with further keys.
func load(keys string) string {
	return `
scenario: load
defaults: {options: {serving: {url: "http://127.0.0.1:8000", model: m, requests: 20}}}
variables: {text: {default: 5}, number: {type: number, default: 5}}
runs:
  a:
    workload: serving
` + keys + "\n"
}

// A quoted scalar of the body is a text; an unquoted one has its own type.
func TestBodiesKeepTypes(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"plain", `{n: 0, b: true, f: 1.5, s: text}`, `{"b":"true","f":"1.5","n":"0","s":"text"}`},
		{"quoted", `{n: "0", b: 'true', s: "text", z: "null"}`,
			`{"b":"\"true\"","n":"\"0\"","s":"text","z":"\"null\""}`},
		{"null", `{a: null, b: ~, c: {d: null}, e: [null]}`, `{"a":"null","b":"null","c":{"d":"null"},"e":["null"]}`},
		{"deep", `{a: ["1", 1, {b: "2"}], c: {d: [["3"]]}}`, `{"a":["\"1\"","1",{"b":"\"2\""}],"c":{"d":[["\"3\""]]}}`},
		{"in quotes", `{a: '"5"'}`, `{"a":"\"\\\"5\\\"\""}`},
		{"values", `{a: "${var.text}", b: "${var.number}", c: "${1 + 1}"}`, `{"a":"\"5\"","b":"5","c":"2"}`},
	} {
		p := build(t, load("    options: {body: "+c.body+"}"))
		equal(t, c.name, p.Cases[0].Options["body"], any(c.want))
	}
}

// The same body in HCL is the same.
func TestBodiesKeepTypesInHCL(t *testing.T) {
	p, diags := plan(t, "load.hcl", `
scenario "load" {
  run "a" {
    workload = "serving"
    options {
      url = "http://127.0.0.1:8000"
      model = "m"
      requests = 20
      body = { n = 0, q = "0", b = true, c = "true", z = null, l = ["1", 1, null] }
    }
  }
}
`)
	if diags.HasErrors() {
		t.Fatal(render(diags))
	}
	equal(t, "body", p.Cases[0].Options["body"],
		any(`{"b":"true","c":"\"true\"","l":["\"1\"","1","null"],"n":"0","q":"\"0\"","z":"null"}`))
}

// A plan shows the difference.
func TestPlansShowTypesOfBodies(t *testing.T) {
	shows(t, build(t, load(`    options: {body: {a: {n: 0, q: "0", s: text, z: null}}}`)),
		`  body     a: {n: 0, q: "0", s: text, z: null}`)
}

// An assertion on a metric that options rule out is refused, at its place, with the option.
func TestMetricsThatOptionsRuleOutAreRefused(t *testing.T) {
	for assertion, c := range map[string]struct{ options, option string }{
		"goodput >= 1":                   {`{}`, "option slo"},
		"goodput.tokens >= 1":            {`{}`, "option slo"},
		"slo.itl >= 90%":                 {`{slo: {ttft: 1s}}`, "option slo has no itl"},
		"found.concurrency >= 1":         {`{}`, "option search"},
		"found.rate >= 1/s":              {searches, "axis: rate"},
		"output_throughput.per_gpu >= 1": {`{}`, "option gpus"},
		"ttft.p50 <= 1s":                 {`{stream: false}`, "stream: false"},
		"itl.avg <= 1s":                  {`{stream: false}`, "stream: false"},
		"stall.max <= 1s":                {`{stream: false}`, "stream: false"},
		"itl.p99 <= 1s":                  {`{body: {n: 2}}`, "several choices"},
		"chunk_gap.max <= 1s":            {`{body: {n: 2}}`, "several choices"},
		"scheduled.ttft.p50 <= 1s":       {`{concurrency: 2}`, "open load"},
		"dispatch_delay.p50 <= 1s":       {searches, "open load"},
		"geomean(itl.p50) <= 1s":         {`{stream: false}`, "stream: false"},
		"all(itl.p50 <= 1s)":             {`{stream: false}`, "stream: false"},
	} {
		text := load("    options: " + c.options + "\n    assert: [\"" + assertion + "\"]")
		mentions(t, refuse(t, text), 9, "Case a has no", c.option)
	}
}

const searches = `{requests: 100, search: {axis: concurrency, from: 1, to: 4, promise: "ttft.p50 <= 1s"}}`

// If options rule out nothing, nothing is refused, and an assertion may select its cases.
func TestMetricsThatOptionsAllow(t *testing.T) {
	for _, keys := range []string{
		`    options: {slo: {ttft: 1s}, gpus: 2}
    assert: [goodput >= 1, slo.ttft >= 90%, output_throughput.per_gpu >= 1, ttft.p50 <= 1s, error_rate <= 0%]`,
		"    options: " + searches + "\n    assert: [found.concurrency >= 1]",
		"    options: {rate: 5/s}\n    assert: [scheduled.ttft.p99 <= 1s]",
		"    options: {arrivals: burst}\n    assert: [dispatch_delay.p50 <= 1s]",
		"    sweep: {stream: [true, false]}\n    assert: [ttft.p50 <= 1s where stream, latency.p50 <= 1s]",
	} {
		build(t, load(keys))
	}
	mentions(t, refuse(t, load("    sweep: {stream: [true, false]}\n    assert: [ttft.p50 <= 1s]")), 9,
		"Case a[stream=false] has no ttft.p50")
	mentions(t, refuse(t, load("    sweep: {stream: [true, false], concurrency: [1, 2]}\n    assert: "+
		"[ttft.p50 increases with concurrency]")), 9, "has no ttft.p50")
}

// An option without effect is refused where the run sets it.
func TestOptionsWithoutEffectAreRefused(t *testing.T) {
	dir := t.TempDir()
	trace, prompts := filepath.Join(dir, "trace.jsonl"), filepath.Join(dir, "prompts.txt")
	for name, content := range map[string]string{
		trace: `{"timestamp":0,"input_length":9,"output_length":2,"hash_ids":[1]}` + "\n", prompts: "what\nwhy\n",
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for options, want := range map[string]string{
		`{arrivals: poisson}`:                              "Option arrivals changes nothing",
		`{arrivals: poisson, concurrency: 3}`:              "Option arrivals changes nothing",
		`{time_scale: 4}`:                                  "Option time_scale changes nothing",
		`{trace: ` + trace + `, input: {tokens: 9}}`:       "Option input changes nothing",
		`{prompts: ` + prompts + `, input: {tokens: 9}}`:   "Option input changes nothing",
		`{prompts: ` + prompts + `, input: {text: hello}}`: "the prompts of the file are sent, not its text",
		`{think: 3s}`:                      "Option think changes nothing",
		`{grace: 3s}`:                      "Option grace changes nothing",
		`{stream: false, slo: {ttft: 1s}}`: "Option slo changes nothing",
		`{stream: false, cancel: 10% after 5 tokens}`:            "Option cancel changes nothing",
		strings.Replace(searches, "{", "{max_in_flight: 4, ", 1): "Option max_in_flight changes nothing",
		strings.Replace(searches, "{", "{stream: false, ", 1):    "a promise about ttft.p50 cannot be kept",
	} {
		mentions(t, refuse(t, load("    options: "+options)), 8, want)
	}
	for _, keys := range []string{
		"    options: {arrivals: poisson, rate: 5/s}", "    options: {arrivals: burst}",
		"    options: {think: 3s, turns: 2}", "    options: {trace: " + trace + ", input: {prefix: as traced}}",
		"    options: {prompts: " + prompts + ", input: {prefix: none}}",
		"    options: {duration: 5s, grace: 3s}", "    options: {stream: false, slo: {latency: 1s}}",
		"    options: {arrivals: poisson}\n    sweep: {rate: [0, 5/s]}", // some case has it
	} {
		build(t, load(keys))
	}
	byDefault := func(options, keys string) string {
		return strings.Replace(load(keys), "requests: 20", "requests: 20, "+options, 1)
	}
	build(t, byDefault("think: 3s", "")) // defaults apply only to runs that can use them
	mentions(t, refuse(t, byDefault("slo: {itl: 1s}", "    options: {stream: false}\n    assert: [goodput >= 1]")), 9,
		"stream: false", "option slo")
}

// Plans have the names of files, but digests only cover their contents.
func TestFilesAreNamed(t *testing.T) {
	dir := t.TempDir()
	var plans []*Plan
	for _, name := range []string{"a.txt", "b.txt"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("what\nwhy\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		p := build(t, load("    options: {prompts: "+path+"}"))
		if got := p.Runs[0].Files["prompts"]; got != path || len(p.Runs[0].Files) != 1 {
			t.Errorf("files %v, want prompts %s", p.Runs[0].Files, path)
		}
		shows(t, p, "prompts="+path)
		plans = append(plans, p)
	}
	if plans[0].Digest != plans[1].Digest || plans[0].Cases[0].ID != plans[1].Cases[0].ID {
		t.Error("the name of a file changes digests")
	}
}

// A plan warns of prompts that a server may have cached, and of no others.
func TestPromptsThatAreSentAgainAreWarnedOf(t *testing.T) {
	for options, warned := range map[string]bool{
		`{input: {text: Hello, prefix: none}}`: true, `{input: {tokens: 9, prefix: none}}`: true,
		`{input: {text: Hello}}`: false, `{input: {tokens: 9, prefix: "shared:2,4"}}`: false,
	} {
		p, diags := plan(t, "test.yaml", load("    options: "+options))
		if p == nil || diags.HasErrors() {
			t.Fatal(render(diags))
		}
		if warned {
			mentions(t, diags, 8, "Results may be misleading", `Option input of run "a": with prefix: none`)
		} else if len(diags) > 0 {
			t.Errorf("%s: %s", options, render(diags))
		}
	}
}
