package peers

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/weir-bench/weir/results"
)

// catalog:dynamo-suite with Dynamo's frontend and mockers: the fabric comes first, and a third variant has the
// bandwidth that it gave. What is published stands beside what was found, and what is not here is named.
func TestDynamoSuite(t *testing.T) {
	model, err := filepath.Abs("testdata/tinymodel")
	if err != nil {
		t.Fatal(err)
	}
	s := runNamed(t, "catalog:dynamo-suite", "--only", "serving[concurrency=1,*", "--launches", "1",
		"--var", "python="+python(t, "dynamo"), "--var", "model_path="+model, "--var", "fabric=shm")
	shortest := map[string]float64{}
	tokens, fabric := 0., 0.
	for _, c := range s.doc.Cases {
		if c.Run == "fabric" {
			if m, ok := c.Metrics.Get("bandwidth"); ok {
				fabric = m.Value
			}
		}
		variant, _ := c.Axes["variant"].(string)
		for _, l := range c.Launches {
			least, ok := l.Metrics.Get("ttft.min")
			if before, has := shortest[variant]; ok && (!has || least < before) {
				shortest[variant] = least
				tokens, _ = l.Metrics.Get("input.tokens")
			}
		}
	}
	if len(shortest) != 3 || fabric <= 0 {
		t.Fatalf("ttft.min %v, fabric %v GB/s:\n%s", shortest, fabric, s.said)
	}
	want := tokens * 1e6 * (1/0.85e9 - 1/46.48e9) // 1 MB for each token
	if got := shortest["ucx"] - shortest["libfabric"]; math.Abs(got/want-1) > 0.05 {
		t.Errorf("%v s less, not %v s: %v", got, want, shortest)
	}
	status := map[string]string{}
	for _, c := range s.doc.Claims {
		status[c.Run] = c.Status
	}
	if status["ucx_perftest"] != results.ClaimImplausible || status["nixl_libfabric"] != results.ClaimNotMeasured {
		t.Errorf("claims %v", status)
	}
}
