package docs

import (
	"slices"
	"strings"
	"testing"
)

// Natural words lead to the pages that explain what they mean, and no word hides a page.
func TestTopics(t *testing.T) {
	for word, want := range map[string]string{
		"moving": "nixlbench", "migrate": "nixlbench", "Migration": "nixlbench", "other tools": "nixlbench",
		"getting started": "first-scenario", "slurm": "clusters", "exit code": "exit-codes",
		"ep-control": "ep_control", "language axes": "axes", "language axis": "axes", "transfer": "transfer",
		"threat model": "threat-model", "ib_write_bw": "ucx_perftest",
		"facts": "speed", "docs/ci.md": "ci", "ci.md": "ci", "docs/moving/ep-tests.md": "ep-tests",
	} {
		if pages := Topic(word); len(pages) == 0 || pages[0].Name != want {
			t.Errorf("%s leads to %v, want %s", word, pages, want)
		}
	}
	if pages := Topic("moving"); len(pages) != 8 {
		t.Errorf("moving leads to %d pages", len(pages))
	}
	for _, word := range []string{"", "xyzzy", "movin", "language moving", "language nope", "docs/none.md"} {
		if pages := Topic(word); len(pages) > 0 {
			t.Errorf("%q leads to %v", word, pages)
		}
	}
	for word := range words {
		if _, hidden := Lookup(word); hidden || len(Topic(word)) == 0 || !slices.Contains(Topics(), word) {
			t.Errorf("%s is the name of a page, or leads to none", word)
		}
	}
	for _, name := range Names() {
		if pages := Topic(strings.ToUpper(name)); len(pages) != 1 || pages[0].Name != name {
			t.Errorf("%s leads to %v", strings.ToUpper(name), pages)
		}
	}
}
