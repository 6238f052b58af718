package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/results"
)

// A node is described in lines that fit.
func TestProbeFits(t *testing.T) {
	node := results.Node{Name: "n", Fabrics: map[string]results.Fabric{
		"nixl": {Reason: strings.Repeat("libnixl_capi.so cannot be opened ", 8)},
	}}
	var b bytes.Buffer
	f := screen.FoldedAt(&b, 80)
	if err := printNode(f, node); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
