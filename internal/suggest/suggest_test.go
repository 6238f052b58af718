package suggest

import (
	"slices"
	"strings"
	"testing"
)

// A name that is a word of several names means none of them, but for the one that begins with it.
func TestNearestByAWord(t *testing.T) {
	known := []string{"experts_per_rank", "hot_experts", "latency.p50", "latency.p99"}
	for given, want := range map[string]string{
		"experts": "experts_per_rank", "rank": "experts_per_rank", "latency": "", "hot": "",
		"num_experts": "experts_per_rank", "number_of_experts": "experts_per_rank",
	} {
		if got := Nearest(given, known); got != want {
			t.Errorf("%s: %q, want %q", given, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"block_size", "batch", "bandwidth", "latency.p99", "in_flight", "api", "none"}
	for given, want := range map[string]string{
		"blocksize": "block_size", "bandwith": "bandwidth", "bnadwidth": "bandwidth", "latency.p98": "latency.p99",
		"BATCH": "batch", "inflight": "in_flight", "threads": "", "x": "", "": "",
		"flight": "in_flight", "size": "block_size", "latency": "latency.p99", "light": "",
		"n_batch": "batch", "tpc": "", "mode": "", // no third of the letters
		"batch": "", // it exists, so nothing is suggested
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
	if s := Sentence("", []string{"batch", "mode"}, "options"); s != "The options are batch, mode." {
		t.Error(s)
	}
	if s := Sentence("x", nil, "axes"); s != "There are no axes." {
		t.Error(s)
	}
}

func TestOfALongListTheNearestFewAreNamed(t *testing.T) {
	var known []string
	for c := 'a'; c <= 'z'; c++ {
		known = append(known, strings.Repeat(string(c), 8))
	}
	known = append(known, "zyx", "zy", "zx")
	if s := Documented("zyxwvutsr", known, "options", "weir docs workloads"); s !=
		"The nearest options are zyx, zy, zx, rrrrrrrr, ssssssss (`weir docs workloads` lists all)." {
		t.Error(s)
	}
	if s := Sentence("zyxwvutsr", known, "runs"); s != "The nearest runs are zyx, zy, zx, rrrrrrrr, ssssssss (of 29)." {
		t.Error(s)
	}
	if s := Documented("aaaaaaab", known, "options", "weir docs workloads"); s != `Did you mean "aaaaaaaa"?` {
		t.Error(s)
	}
	if s := Few("", known, ""); s != "aaaaaaaa, bbbbbbbb, cccccccc, dddddddd, eeeeeeee (of 29)" {
		t.Error(s)
	}
	longer := append(slices.Clone(known), "xperts_per_rank")
	if s := Few("xperts", longer, ""); !strings.HasPrefix(s, "xperts_per_rank, ") {
		t.Error(s)
	}
	if known[0] != "aaaaaaaa" || known[28] != "zx" {
		t.Error("the list that was given is in another order:", known)
	}
}
