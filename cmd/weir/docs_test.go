package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weir-bench/weir/cmd/weir/screen"
)

// Pages of the reference fit a terminal: only a word that is longer than a line stands out.
func TestDocsWrap(t *testing.T) {
	for _, page := range [][]string{
		{"docs", "workloads"}, {"docs", "metrics"}, {"docs", "generate"}, {"docs", "reports"},
	} {
		var out, stderr bytes.Buffer
		if code := execute(page, &out, &stderr); code != 0 {
			t.Fatal(page, stderr.String())
		}
		for _, width := range []int{80, 120} {
			wrapped := screen.Reflow(out.String(), width)
			if strings.Join(strings.Fields(wrapped), " ") != strings.Join(strings.Fields(out.String()), " ") {
				t.Errorf("%v: words were lost at %d columns", page, width)
			}
			for line := range strings.Lines(wrapped) {
				line = strings.TrimSuffix(line, "\n")
				if n := utf8.RuneCountInString(line); n > width && strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("%v: %d of %d columns: %s", page, n, width, line)
				}
			}
		}
	}
}

// A word that is no workload may be a fabric.
func TestDocsOfAMisspeltWorkload(t *testing.T) {
	for word, want := range map[string]string{
		"smi": `did you mean "sim"? It is a fabric`, "trafic": `did you mean "traffic"?`,
		"xyzzyx": "the workloads are ",
	} {
		var out, stderr bytes.Buffer
		if code := execute([]string{"docs", "workloads", word}, &out, &stderr); code != 4 ||
			!strings.Contains(stderr.String(), want) {
			t.Errorf("%s: %d, %s", word, code, stderr.String())
		}
	}
}

func TestDocsOfOneMetric(t *testing.T) {
	var out, stderr bytes.Buffer
	if code := execute([]string{"docs", "metrics", "latency.p99"}, &out, &stderr); code != 0 {
		t.Fatal(stderr.String())
	}
	if text := out.String(); !strings.Contains(text, "transfer") || !strings.Contains(text, "latency.p99") ||
		strings.Contains(text, "latency.p50 ") {
		t.Error(text)
	}
	if code := execute([]string{"docs", "metrics", "latency.p98"}, &out, &stderr); code != 4 ||
		!strings.Contains(stderr.String(), "did you mean") {
		t.Error(code, stderr.String())
	}
}

// A word that is no page's name leads to the page or pages about it; another one is refused with a suggestion.
func TestDocsOfNaturalWords(t *testing.T) {
	for word, want := range map[string]string{
		"moving": "nixlbench      from nixlbench and kvbench to weir", "migrate": "aiperf",
		"exit code": "inconclusive", "quickstart": "# ",
	} {
		var out, stderr bytes.Buffer
		if code := execute([]string{"docs", word}, &out, &stderr); code != 0 || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %d, %s%s", word, code, out.String(), stderr.String())
		}
	}
	var out, stderr bytes.Buffer
	if code := execute([]string{"docs", "movign"}, &out, &stderr); code != 4 ||
		!strings.Contains(stderr.String(), `did you mean "moving"?`) {
		t.Errorf("%d, %s", code, stderr.String())
	}
}

// A word that is no topic leads to the command of this name, or to the pages that have it, before a topic that is spelt
// alike.
func TestDocsOfOtherWords(t *testing.T) {
	for word, want := range map[string]string{
		"compare":       "it is a command: weir compare --help",
		"history trend": "it is a command: weir history trend --help",
		"gate":          "it is a command: weir gate --help", "schema": "it is a command: weir schema --help",
		"jitter": "it is explained in: ", "manifest": "it is explained in: ",
		"trasnfer": `did you mean "transfer"?`, "glossar": `did you mean "glossary"?`,
	} {
		var out, stderr bytes.Buffer
		code := execute([]string{"docs", word}, &out, &stderr)
		if code != 4 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: %d, %s", word, code, stderr.String())
		}
	}
	for word, want := range map[string]string{
		"run": "# Runs", "report": "markdown ", "A/B": "# Variants", "search": "# serving",
		"junit": "markdown ",
	} {
		var out, stderr bytes.Buffer
		if code := execute([]string{"docs", word}, &out, &stderr); code != 0 || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %d, %s%s", word, code, out.String(), stderr.String())
		}
	}
}
