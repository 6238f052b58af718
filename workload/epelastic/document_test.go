package epelastic

import (
	"os"
	"strings"
	"testing"

	"github.com/weir-bench/weir/workload"
)

// The definition of the time until a muted rank is masked, and the page of the workload, count the silence twice.
func TestDocumentsCountSilenceTwice(t *testing.T) {
	m, _ := workload.FindMetric(Kind.Metrics, "detect.time")
	page, err := os.ReadFile("../../docs/workloads/ep_elastic.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(m.Doc, "the option silence twice") ||
		!strings.Contains(string(page), "contain `silence` twice") {
		t.Errorf("%s", m.Doc)
	}
}
