package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// BenchmarkJudge judges 1000 cases of five launches with two bounds each, and a trend over all.
func BenchmarkJudge(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	doc := &results.Document{Schema: results.Schema}
	var keys []string
	one, high := 1., 1e3
	for i := range 1000 {
		c := caseOf(fmt.Sprintf("c%d", i))
		for j := range 5 {
			v := math.Exp(0.03 * r.NormFloat64())
			c.Launches = append(c.Launches, &results.Launch{
				Index: j, Status: results.OK, Verified: true, Nodes: []string{"n1", "n1"},
				Metrics: results.ValuesOf(map[string]float64{
					"bandwidth": v, "ceiling.bandwidth": 1.1 * v, "latency.p50": 1 / v, "latency.p99": 2 / v,
				}),
			})
		}
		c.Assertions = []*results.AssertionVerdict{band(&one, nil, looks), band(nil, &high, looks)}
		doc.Cases, keys = append(doc.Cases, c), append(keys, c.Key)
	}
	doc.Assertions = []*results.AssertionVerdict{trend("increases", 0.5, looks, keys...)}
	doc.Assertions[0].Severity = assertion.Info
	for b.Loop() {
		Judge(doc)
	}
}
