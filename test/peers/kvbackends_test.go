package peers

import (
	"math"
	"path/filepath"
	"testing"
)

// catalog:kv-backends with Dynamo's frontend and mockers: the times to first token of two variants
// differ by the bytes of the cache divided by the two bandwidths, within 1 %.
func TestKVBackends(t *testing.T) {
	model, err := filepath.Abs("testdata/tinymodel")
	if err != nil {
		t.Fatal(err)
	}
	s := runNamed(t, "catalog:kv-backends", "--only", "load[concurrency=1,*", "--launches", "2",
		"--var", "python="+python(t, "dynamo"), "--var", "model_path="+model, "--var", "fabric=tcp",
		"--var", "requests=15")
	// whatever a busy machine adds to a request, it adds nothing to the shortest one
	shortest, tokens := map[string]float64{}, map[string]float64{}
	for _, c := range s.doc.Cases {
		variant, _ := c.Axes["variant"].(string)
		for _, l := range c.Launches {
			least, ok := l.Metrics.Get("ttft.min")
			if !ok {
				continue
			}
			if before, has := shortest[variant]; !has || least < before {
				shortest[variant] = least
			}
			tokens[variant], _ = l.Metrics.Get("input.tokens")
			if failed, _ := l.Metrics.Get("error_rate"); failed > 0 {
				t.Errorf("%s: %v of the requests failed", c.Key, failed)
			}
		}
	}
	if len(shortest) < 2 || tokens["ucx"] != tokens["libfabric"] {
		t.Fatalf("ttft.min %v of prompts of %v tokens:\n%s", shortest, tokens, s.said)
	}
	want := tokens["ucx"] * 1e6 * (1/0.85e9 - 1/46.48e9) // 1 MB for each token
	got := shortest["ucx"] - shortest["libfabric"]
	t.Logf("%v tokens: %.1f ms less, of %.1f ms; %v", tokens["ucx"], got*1e3, want*1e3, shortest)
	if math.Abs(got/want-1) > 0.01 {
		t.Errorf("%v s less, not %v s: %v with prompts of %v tokens", got, want, shortest, tokens)
	}
}
