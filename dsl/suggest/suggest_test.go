package suggest

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"block_size", "batch", "bandwidth", "latency.p99", "in_flight"}
	for given, want := range map[string]string{
		"blocksize": "block_size", "bandwith": "bandwidth", "bnadwidth": "bandwidth", "latency.p98": "latency.p99",
		"BATCH": "batch", "inflight": "in_flight", "threads": "", "x": "", "": "",
	} {
		if got := Nearest(given, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", given, got, want)
		}
	}
}

func TestSentenceListsEverythingKnown(t *testing.T) {
	s := Sentence("bach", []string{"batch", "mode"}, "options")
	if !strings.HasPrefix(s, `Did you mean "batch"?`) || !strings.Contains(s, "batch, mode") {
		t.Error(s)
	}
	if s := Sentence("x", nil, "axes"); s != "There are no axes." {
		t.Error(s)
	}
}
