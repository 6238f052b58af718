package kube

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A patch is given by a file that is gone afterwards, never by arguments, and asks no cluster.
func TestPatch(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	program := filepath.Join(t.TempDir(), "kubectl")
	script := `#!/bin/sh
case " $* " in *secret*|*" --context "*|*" --namespace "*) exit 9;; *" --type strategic "*) echo "error: strategic merge patch is not supported for X locally" >&2; exit 1;; esac
for last; do :; done
printf '{"in":%s,"patch":%s,"n":1000000}' "$(sed 1d)" "$(cat "$last")"
`
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	c := Client{Program: program, Context: "prod", Namespace: "bench"}
	got, err := c.Patch(t.Context(), Object{"kind": "X"}, Object{"data": "secret"})
	if want := "map[in:map[kind:X] n:1000000 patch:map[data:secret]]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v (%v), want %s", got, err, want)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("it leaves %v", left)
	}
}
