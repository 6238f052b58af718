package command

import (
	"strings"
	"testing"
)

const (
	pageBefore = `# TYPE reqs_total counter
plain_total 2
odd 5
errors_count{code="500"} 1
# TYPE queue gauge
queue 1
# TYPE ttft_seconds histogram
ttft_seconds_bucket{model="m",le="0.1"} 1
ttft_seconds_bucket{model="m",le="+Inf"} 2
ttft_seconds_sum{model="m"} 1.5
ttft_seconds_count{model="m"} 2
# TYPE a:lat summary
a:lat{quantile="0.5"} 7
a:lat_sum 10
a:lat_count 4
`
	pageAfter = `# TYPE reqs_total counter
reqs_total{path="/x",code="200"} 3
reqs_total{path="/x",code="404"} 1
reqs_total{path="/y",code="200"} 10
plain_total 4
odd 8
errors_count{code="500"} 4
# TYPE queue gauge
queue 6
# TYPE kept_count gauge
kept_count 9
# TYPE ttft_seconds histogram
ttft_seconds_bucket{model="m",le="0.1"} 4
ttft_seconds_bucket{model="m",le="+Inf"} 7
ttft_seconds_sum{model="m"} 4
ttft_seconds_count{model="m"} 7
# TYPE a:lat summary
a:lat{quantile="0.5"} 9
a:lat_sum 25
a:lat_count 9
`
)

func TestCounters(t *testing.T) {
	for name, want := range map[string]float64{
		"reqs_total": 14, "plain_total": 2, "odd": 8, "errors_count": 3, "queue": 6, "kept_count": 9,
		"ttft_seconds": 5, "ttft_seconds_count": 5, "ttft_seconds_sum": 2.5,
		`ttft_seconds_bucket{le="0.10"}`: 3, `ttft_seconds_bucket{model="m",le="+Inf"}`: 5,
		"a:lat": 5, "a:lat_sum": 15, `a:lat{quantile="0.5"}`: 9,
		`reqs_total{path="/x"}`: 4, `reqs_total{code="200", path="/y"}`: 10, `reqs_total{}`: 14,
	} {
		m := Observe{Prometheus: name}
		if got, err := m.counted(pageBefore, pageAfter); err != nil || got != want {
			t.Errorf("%s: %v instead of %v: %v", name, got, want, err)
		}
	}
	m := Observe{Prometheus: "odd", Difference: true}
	if got, err := m.counted(pageBefore, pageAfter); err != nil || got != 3 {
		t.Errorf("a difference: %v, %v", got, err)
	}
}

func TestMissingCounters(t *testing.T) {
	for name, want := range map[string]string{
		"reqs_totl":             "/metrics has no reqs_totl; it has reqs_total",
		`reqs_total{path="/z"}`: `/metrics has no reqs_total{path="/z"}; it has reqs_total{code="200",path="/x"}, `,
		"queue_seconds_sum":     "/metrics has no queue_seconds_sum; it has ",
	} {
		m := Observe{Prometheus: name}
		if _, err := m.counted(pageBefore, pageAfter); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	fell := Observe{Prometheus: "plain_total"}
	if _, err := fell.counted(pageAfter, pageBefore); err == nil || !strings.Contains(err.Error(), "has reset it") {
		t.Error(err)
	}
	for _, text := range []string{"1x", `x{a=~"b"}`, `x{a="b"`, `x{a="b"} 1`, "x{a=\"b\"} 1\ny{", "{a=\"b\"}", "x y"} {
		if _, err := readSelector(text); err == nil {
			t.Errorf("%s chooses something", text)
		}
	}
}
