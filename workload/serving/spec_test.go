package serving

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/serving/load"
	"github.com/weir-bench/weir/workload/serving/prompt"
)

// values are options as texts, with defaults for url, model and requests.
func values(t *testing.T, texts map[string]string) option.Values {
	t.Helper()
	v := option.Values{}
	all := map[string]string{"url": "http://127.0.0.1:8000", "model": "m", "requests": "100"}
	for name, text := range texts {
		all[name] = text
	}
	for name, text := range all {
		if text == "-" {
			continue
		}
		o, ok := Kind.Option(name)
		if !ok {
			t.Fatalf("no option %s", name)
		}
		value, err := o.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		v[name] = value
	}
	return v
}

const azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.5,10,3\n2023-11-16 18:15:47.5,20,4\n"

func TestDecode(t *testing.T) {
	trace := base64.StdEncoding.EncodeToString([]byte(azure))
	for name, c := range map[string]struct {
		options map[string]string
		wrong   string // "": nothing
	}{
		"closed":            {map[string]string{"concurrency": "5"}, ""},
		"nothing but url":   {nil, ""},
		"open":              {map[string]string{"rate": "8/s", "requests": "-", "duration": "10s"}, ""},
		"ramp":              {map[string]string{"ramp": "2/s..8/s over 5s"}, ""},
		"burst":             {map[string]string{"arrivals": "burst"}, ""},
		"trace":             {map[string]string{"trace_rows": trace, "requests": "-"}, ""},
		"search":            {map[string]string{"search": search("1", "64", "ttft.p90 <= 500ms"), "requests": "-"}, ""},
		"no end":            {map[string]string{"requests": "-"}, "a load needs an end: give requests, or a duration"},
		"no endpoint":       {map[string]string{"url": "-"}, "give url or service"},
		"two endpoints":     {map[string]string{"service": "s"}, "give url or service"},
		"no such service":   {map[string]string{"url": "-", "service": "s"}, "the run lacks service s"},
		"no URL":            {map[string]string{"url": "localhost:8000"}, "does not begin with http://"},
		"two loads":         {map[string]string{"concurrency": "2", "rate": "2/s"}, "this has concurrency and rate"},
		"more clients":      {map[string]string{"concurrency": "2", "ranks": "3"}, "3 client processes"},
		"closed, limit":     {map[string]string{"concurrency": "2", "max_in_flight": "4"}, "needs an open load"},
		"arrivals":          {map[string]string{"rate": "2/s", "arrivals": "pareto"}, "there are no arrivals"},
		"ramp in words":     {map[string]string{"ramp": "fast"}, "is no ramp"},
		"turns":             {map[string]string{"turns": "3", "api": "completions"}, "need api chat"},
		"token ids":         {map[string]string{"input": `{"token_ids":"true"}`}, "token ids need api completions"},
		"traced, no trace":  {map[string]string{"input": `{"prefix":"as traced"}`}, "needs a trace"},
		"few for a promise": {map[string]string{"search": search("1", "9", "ttft.p99 <= 1s")}, "it takes 1000"},
		"cancel":            {map[string]string{"cancel": "often"}, "is no cancellation"},
		"choices and itl":   {map[string]string{"body": `{"n":"2"}`, "slo": `{"itl":"1ms"}`}, "several choices"},
		"choices and turns": {map[string]string{"body": `{"n":"2"}`, "turns": "2"}, "several choices"},
		"body":              {map[string]string{"body": `{"prompt":"x"}`}, "prompt is an option of its own"},
	} {
		s, err := Decode(values(t, c.options))
		if c.wrong == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			text, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			large, err := s.Large()
			if err != nil {
				t.Fatal(err)
			}
			back, err := Read(text, large)
			if diff := cmp.Diff(s, back, cmp.AllowUnexported(Spec{}, Bound{}, prompt.Tokens{}),
				cmpopts.IgnoreFields(Spec{}, "services")); err != nil || diff != "" {
				t.Errorf("%s: what a rank reads differs: %v %s", name, err, diff)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: got %v, want %q", name, err, c.wrong)
		}
	}
}

func search(from, to, promise string) string {
	text, _ := json.Marshal(map[string]string{"axis": "concurrency", "from": from, "to": to, "promise": promise})
	return string(text)
}

// Structures are formatted canonically, without defaults, and decode to the same value.
func TestStructuresAreCanonical(t *testing.T) {
	for name, forms := range map[string]map[string]string{
		"input": {
			`{}`: `{}`, `{"tokens":"512"}`: `{}`, `{"prefix":"cold","tokens":"fixed:512"}`: `{}`,
			`{"prefix":"shared:4,100","tokens":"normal:512,64"}`: `{"tokens":"normal:512,64","prefix":"shared:4,100"}`,
			`{"token_ids":"false"}`:                              `{}`,
			`{"text":"Hello","prefix":"none"}`:                   `{"text":"Hello","prefix":"none"}`,
		},
		"output":  {`{"exact":"true","tokens":"50"}`: `{"tokens":"fixed:50","exact":"true"}`},
		"warmup":  {`{"waves":"1"}`: `{}`, `{"waves":"0"}`: `{"waves":"0"}`, `{"time":"1000ms"}`: `{"time":"1s"}`},
		"ready":   {`{"timeout":"600s"}`: `{}`, `{"timeout":"30m"}`: `{"timeout":"1800s"}`},
		"timeout": {`{"idle":"60s","first":"5s"}`: `{"first":"5s"}`},
		"max_answer": {
			`{"bytes":"64MiB","events":"131072"}`: `{}`,
			`{"events":"5","bytes":"1024KiB"}`:    `{"bytes":"1MiB","events":"5"}`,
		},
		"slo":     {`{"itl":"25ms","ttft":"0.5s"}`: `{"ttft":"500ms","itl":"25ms"}`},
		"headers": {`{"x-b":"1","X-A":"2"}`: `{"X-A":"2","X-B":"1"}`},
		"body":    {`{"z":"1","a":["x"]}`: `{"a":["x"],"z":"1"}`, `{"a":"\"1\""}`: `{"a":"\"1\""}`},
		"search": {
			search("1", "64", "ttft.p90<=500ms&&error_rate <= 0"): `{"axis":"concurrency","from":"1","to":"64",` +
				`"promise":"ttft.p90 <= 500ms && error_rate <= 0"}`,
		},
	} {
		o, _ := Kind.Option(name)
		for text, want := range forms {
			got, err := o.Parse(text)
			if err != nil || got != want {
				t.Errorf("%s %s: %v, %v; want %s", name, text, got, err, want)
				continue
			}
			if again, err := o.Parse(want); err != nil || again != want {
				t.Errorf("%s %s: read again it is %v, %v", name, want, again, err)
			}
		}
	}
	for name, texts := range map[string][]string{
		"input":   {`{"token":"5"}`, `{"tokens":"many"}`, `{"tokens":"5","text":"x"}`, `["x"]`, `{"prefix":"warm"}`},
		"output":  {`{"exact":"yes"}`, `{"tokens":"0"}`},
		"warmup":  {`{"waves":"1","time":"2s"}`, `{"waves":"-1"}`},
		"ready":   {`{"timeout":"0s"}`, `{"timeout":"soon"}`},
		"headers": {`{"Accept":"x"}`, `{"a b":"x"}`, `{"a":"x\ny"}`, `{"A":"1","a":"2"}`},
		"search": {
			search("0", "5", "ttft.p90 <= 1s"), search("5", "5", "ttft.p90 <= 1s"), search("1", "5", "tfft.p90 <= 1s"),
			search("1", "5", "ttft.p90"), search("1", "5", "ttft.p90 <= 5/s"),
		},
		"max_answer":      {`{"bytes":"0"}`, `{"bytes":"2s"}`, `{"bytes":"2TiB"}`, `{"events":"0"}`, `{"tokens":"5"}`},
		"proxy":           {"http://proxy:3128", "yes"},
		"trace_rows":      {"!", base64.StdEncoding.EncodeToString([]byte("x"))},
		"tls_authorities": {base64.StdEncoding.EncodeToString([]byte("x"))},
	} {
		o, _ := Kind.Option(name)
		for _, text := range texts {
			if got, err := o.Parse(text); err == nil {
				t.Errorf("%s %s was read as %v", name, text, got)
			}
		}
	}
}

// JSON literals in the fields of a body keep their type.
func TestBody(t *testing.T) {
	fields, err := readBody(`{"temperature":"0.5","echo":"true","user":"me","stop":["a","1"],"o":{"n":"null"}}`)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(fields)
	if want := `{"echo":true,"o":{"n":null},"stop":["a",1],"temperature":0.5,"user":"me"}`; string(got) != want {
		t.Errorf("%s", got)
	}
}

// An inconclusive launch has a reason, which the plan shows before.
func TestUndecidable(t *testing.T) {
	options := map[string]any{"url": "http://a", "model": "m", "rate": "2/s", "duration": "60s"}
	searching := map[string]any{"search": `{"axis":"rate","from":"1/s","to":"9/s","promise":"error_rate <= 0%"}`}
	type numbers = map[string]float64
	measured := func(pairs numbers) workload.MetricValues { return results.ValuesOf(pairs) }
	for _, c := range []struct {
		metric string
		m      workload.MetricValues
		want   string
	}{
		{"ttft.p99", workload.MetricValues{}, "it takes 1000"},
		{"ttft.p90", workload.MetricValues{}, ""},
		{"ttft.p99", measured(numbers{"requests": 1000}), ""},
		{"ttft.p90", measured(numbers{"requests": 99}), "it takes 100"},
		{"ttft.max", measured(numbers{"requests": 5}), ""},
		{"chunk_gap.p99", measured(numbers{"requests": 5}), ""},
		{
			"output_throughput", measured(numbers{"requests": 5, "tokens.counted_by": float64(load.ByEvents)}),
			"no plausible usage",
		},
		{
			"itl.avg", measured(numbers{"requests": 5, "tokens.counted_by": float64(load.ByNobody)}),
			"no plausible usage",
		},
		{"itl.avg", measured(numbers{"requests": 5, "tokens.counted_by": float64(load.ByTokenizer)}), ""},
		{"itl.avg", measured(numbers{"requests": 5, "error_rate": 1, "tokens.counted_by": float64(load.ByNobody)}), ""},
		{"ttft.avg", measured(numbers{"requests": 5, "tokens.counted_by": float64(load.ByEvents)}), ""},
		{"found.rate", workload.MetricValues{}, ""},
		{"found.concurrency", workload.MetricValues{}, "needs a search along concurrency, which the run lacks"},
	} {
		m, _ := workload.FindMetric(Kind.Metrics, c.metric)
		n := Kind.SamplesOf(m, options, []workload.MetricValues{c.m})
		options := options
		if strings.HasPrefix(c.metric, "found.") {
			options = searching
		}
		got := Kind.FewSamples(m, n, false) + behaviour{}.Undecidable(options, c.m, c.metric)
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.metric, got, c.want)
		}
	}
}

// A client slower than its server invalidates the measurement.
func TestInvalid(t *testing.T) {
	type numbers = map[string]float64
	for name, c := range map[string]struct {
		m       numbers
		limited bool
		want    string
	}{
		"well": {
			numbers{"client.cpu": 0.3, "client.lateness.p99": 0.001, "dispatch_delay.p50": 0.001}, false, "",
		},
		"processor": {numbers{"client.cpu": 0.6}, false, "60 % of its processors"},
		"late":      {numbers{"client.lateness.p99": 0.02, "latency.p50": 0.1}, false, ""},
		"delayed":   {numbers{"dispatch_delay.p50": 0.02}, false, "after its scheduled time"},
		"limited":   {numbers{"dispatch_delay.p50": 0.02}, true, ""},
	} {
		options := map[string]any{}
		if c.limited {
			options["max_in_flight"] = "4"
		}
		got := behaviour{}.Invalid(options, results.ValuesOf(c.m))
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A client that is late for lack of a processor is no error: its launch is disturbed.
func TestLateClientIsDisturbed(t *testing.T) {
	for name, c := range map[string]struct{ late, latency, share float64 }{
		"in time":             {0.001, 0.1, 0},
		"late":                {0.02, 0.1, 0.2},
		"late beside much":    {0.02, 3, 0},
		"later than requests": {0.5, 0.1, 1},
	} {
		d := behaviour{}.Disturbed(results.ValuesOf(
			map[string]float64{"client.lateness.p99": c.late, "latency.p50": c.latency}))
		told := d != nil && math.Abs(d.Share-c.share) < 1e-9 && d.Cause == results.Delayed &&
			strings.Contains(d.Text, "ms late (p99")
		if told != (c.share > 0) || d != nil && !told {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if d := (behaviour{}).Disturbed(results.ValuesOf(map[string]float64{"client.lateness.p99": 1})); d != nil {
		t.Errorf("without a latency: %+v", d)
	}
}

func TestDocsHaveAllOptionsAndMetrics(t *testing.T) {
	text, err := os.ReadFile("docs.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range Kind.Options {
		if o.Doc == "" {
			t.Errorf("option %s has no text", o.Name)
		}
	}
	for _, m := range Kind.Metrics {
		if m.Doc == "" {
			t.Errorf("metric %s has no text", m.Name)
		}
	}
	if !strings.HasPrefix(string(text), "# Options\n") {
		t.Error("docs.md begins with something else than options")
	}
}

// Fields of a body are sent with their types, and null removes one that weir sets.
func TestBodiesAreSentWithTheirTypes(t *testing.T) {
	s, err := Decode(values(t, map[string]string{
		"body": `{"n":"1","q":"\"1\"","t":"true","l":["\"true\"","x","null"],"d":{"z":"null"},"stream_options":"null"}`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	set, err := s.Prompts(0, 0, prompt.Calibration{})
	if err != nil {
		t.Fatal(err)
	}
	var sent map[string]any
	if err := json.Unmarshal(set.Request(load.Measured, 0).Body, &sent); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"messages", "model", "stream", "max_tokens"} {
		delete(sent, name)
	}
	want := map[string]any{
		"n": 1., "q": "1", "t": true, "l": []any{"true", "x", nil}, "d": map[string]any{"z": nil},
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Error(diff)
	}
}
