package serving

import (
	"testing"

	"github.com/weir-bench/weir/workload"
)

// A load that a duration ends needs a longer one for more requests: requests alone change nothing.
func TestAdviceForMoreRequestsOfALoadWithADuration(t *testing.T) {
	p95, ok := workload.FindMetric(Kind.Metrics, "ttft.p95")
	if !ok {
		t.Fatal("no p95")
	}
	for _, c := range []struct {
		options map[string]any
		n       int64 // 0: as the options say
		want    string
	}{
		{map[string]any{"rate": "40/s", "duration": "4s", "requests": "0"}, 0, "duration: 5s"},
		{map[string]any{"rate": "40/s", "duration": "4s", "requests": "0", "arrivals": "poisson"}, 0, "duration: 7s"},
		{map[string]any{"rate": "40/s", "duration": "4s", "requests": "200"}, 0, "duration: 5s"},
		{map[string]any{"rate": "40/s", "duration": "4s", "requests": "100"}, 0, "duration: 5s and requests: 200"},
		{map[string]any{"rate": "40/s", "duration": "60s", "requests": "100"}, 100, "requests: 200"},
		{map[string]any{"concurrency": "4", "duration": "4s", "requests": "0"}, 50, "duration: 16s"},
		{map[string]any{"concurrency": "4", "requests": "50"}, 0, "requests: 200"},
	} {
		options := map[string]any{"url": "http://h:1", "model": "m"}
		for name, text := range c.options {
			o, _ := Kind.Option(name)
			v, err := o.Parse(text.(string))
			if err != nil {
				t.Fatal(err)
			}
			options[name] = v
		}
		n := c.n
		if n == 0 {
			n = Kind.CountOf(p95, options, workload.MetricValues{})
		}
		if got := Kind.MoreSamples(p95, options, n, 1, 1); got != c.want {
			t.Errorf("%v with %d: %q, want %q", c.options, n, got, c.want)
		}
	}
}
