package tooloutput

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// broken reads an output that is recorded to be an error, and compares what it says.
func broken(t *testing.T, f Format, file, want string) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + f.Name + "/broken/" + file)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := f.Read(text); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got %v, %v, want an error with %s", file, found, err, want)
	}
}

func TestIperf3Errors(t *testing.T) {
	broken(t, iperf3, "refused.json", `line 10: iperf3 says: "unable to connect to server: Connection refused"`)
	broken(t, iperf3, "text.txt", "this is iperf3's text, whose numbers are rounded: run it with -J")
	checkEdits(t, iperf3, "tcp.json", []edit{
		{"no sum", `"sum_sent":	{`, `"sum_got":	{`, "has neither end.sum_sent nor end.sum"},
		{"no end", `"end":	{
		"streams"`, `"fin":	{
		"streams"`, "the document has no member end"},
		{"an error after the result", `"receiver_tcp_congestion"`,
			`"x": 1}, "error": "the server has terminated", "z": {"y"`,
			`line 120: iperf3 says: "the server has terminated"`},
		{"a text", `"sum_received":	{`, `"sum_received":	{"bits_per_second": "x"}, "was":	{`,
			"line 103: sum_received/bits_per_second: a text where a number is due"},
		{"a sum twice", `"sum_received":	{`, `"sum_received":	{"bits_per_second": 1}, "sum_received":	{`,
			"line 103: sum_received/bits_per_second: a second member of that name where a number is due"},
	})
	// What is there twice and tells no result does not matter: iperf3 3.12 does so itself.
	if found, err := iperf3.Read(outputs(t, "iperf3")["bidir.json"]); err != nil || len(found) != 1 {
		t.Errorf("bidir: %v, %v", found, err)
	}
}

func TestFioErrors(t *testing.T) {
	broken(t, fio, "two_jobs_of_one_name.json", `a second result of job "two", after that of line`)
	checkEdits(t, fio, "randrw.json", []edit{
		{"a failed job", `"error" : 0`, `"error" : 5`, `line 10: job "mix" failed with error 5`},
		{"an unknown end", `"error" : 0`, `"errors" : 0`, `line 7: job "mix" does not say whether it had an error`},
		{"no jobs", `"jobs" : [`, `"client_stats" : [`, "no result found: the document has no member jobs"},
		{"no name", `"jobname"`, `"name"`, "line 7: a job has no jobname"},
		{"no number", `"bw_bytes" : `, `"bw_bytes" : -`, "read/bw_bytes: -"},
	})
	idle := strings.ReplaceAll(string(outputs(t, "fio")["randrw.json"]), `"total_ios" : `,
		`"total_ios" : 0, "was" : `)
	wantError(t, fio, idle, `line 7: job "mix" read, wrote and trimmed nothing`)
	for text, want := range map[string]string{
		`{"jobs": []}`:         "fio ran no job",
		`{"jobs": {}}`:         "an object where a list is due",
		"fio: no such file\n":  "line 1: no JSON",
		"note\n{\"jobs\": [1]": "line 2: the JSON document is cut short",
	} {
		if _, err := fio.Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestAiperfErrors(t *testing.T) {
	checkEdits(t, aiperf, "profile_export_aiperf.json", []edit{
		{"cancelled", `"was_cancelled": false`, `"was_cancelled": true`, "aiperf says that the run was cancelled"},
		{"incomplete", `"is_complete": true`, `"is_complete": false`, "aiperf says that the run is not complete"},
		{"another unit", `"unit": "ms"`, `"unit": "min"`, `line 10: request_latency has the unknown unit "min"`},
		{"no unit", `"unit": "ms"`, `"units": "ms"`, "line 9: request_latency has no unit"},
		{"no success", `"request_throughput": {`, `"x": {`,
			"the document has no request_throughput: no request succeeded"},
		{"a text", `"avg": 433.213103597619`, `"avg": "fast"`, "line 11: avg: a text where a number is due"},
	})
	if _, err := aiperf.Read([]byte("{}\n")); !errors.Is(err, ErrNothing) {
		t.Errorf("another document: %v", err)
	}
}

func TestVLLMBenchErrors(t *testing.T) {
	checkEdits(t, vllmBench, "made_result.json", []edit{
		{"no success", `"completed": 420`, `"completed": 0`, "line 1: no request succeeded"},
		{"another document", `"completed"`, `"complete"`,
			"no result found: line 1: this is no result of vllm bench serve"},
		{"NaN", `"p99_ttft_ms": `, `"p99_ttft_ms": NaN, "x": `, "line 1: no JSON: invalid character 'N'"},
		{"no count", `"failed": 0`, `"failed": 0.5`, `line 1: "0.5" is no count`},
		{"negative", `"failed": 0`, `"failed": -1`, `line 1: "-1" is no count`},
	})
	checkEdits(t, vllmBench, "made_appended.json", []edit{
		{"the same twice", `"request_rate": 8.0, "burstiness": 1.0, "max_concurrency": 32`,
			`"request_rate": 4.0, "burstiness": 1.0, "max_concurrency": 16`,
			`line 2: a second result of concurrency "16", rate "4.0", after that of line 1`},
		{"a second one that is none", `"request_throughput": 33.0`, `"x": 33.0`, "line 2: this is no result"},
	})
}

func TestGuidellmErrors(t *testing.T) {
	checkEdits(t, guidellm, "made_benchmarks.json", []edit{
		{"no success", `"successful": 40`, `"successful": 0`, "line 1: benchmark 1: no request succeeded"},
		{"no totals", `"request_totals"`, `"totals"`, "line 1: benchmark 1 has no metrics.request_totals.successful"},
		{"no rate", `"requests_per_second"`, `"rate"`, "benchmark 1 has no metrics.requests_per_second.successful"},
		{"no count", `"errored": 0`, `"errored": "0"`, `line 1: "0" is no count`},
		{"the same twice", `"streams": 32`, `"streams": 16`,
			`line 1: a second result of concurrency "16", strategy "concurrent"`},
		{"no benchmarks", `"benchmarks"`, `"results"`, "no result found: this is no benchmarks.json"},
		{"a text", `"mean": `, `"mean": "x", "was": `,
			"requests_per_second/successful/mean: a text where a number is due"},
	})
	wantError(t, guidellm, `{"benchmarks": []}`, "guidellm completed no benchmark")
	// A distribution of nothing is all 0, which is no measurement.
	text := strings.Replace(string(outputs(t, "guidellm")["made_benchmarks.json"]), `"count": 40`, `"count": 0`, -1)
	found, err := guidellm.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := found[0].Values["ttft.p50"]; ok {
		t.Errorf("ttft.p50 of no request is %v", v)
	}
}
