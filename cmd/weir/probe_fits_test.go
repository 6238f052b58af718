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

// Limits have units, and no text of a library ends a column of the table by two blanks.
func TestProbeSpeaksToPeople(t *testing.T) {
	node := results.Node{Name: "n", Memory: results.Memory{Total: 1 << 34, LockLimit: "8388608"},
		Fabrics: map[string]results.Fabric{"ucx": {Available: true, Details: map[string]string{
			"providers": "tcp,shm", "vram": "this UCX has no CUDA, or has found none",
		}}}}
	var b bytes.Buffer
	if err := printNode(&b, node); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"16.0 GiB, locked at most 8MiB\n", "providers: tcp, shm; vram: this UCX has no CUDA, or has found none\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, b.String())
		}
	}
	if limit := (results.Memory{LockLimit: "unlimited"}).LockText(); limit != "unlimited" {
		t.Errorf("no limit is %q", limit)
	}
}
