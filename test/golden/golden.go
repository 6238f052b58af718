// Package golden holds what tests write to files that are kept. `make golden` writes the
// files anew, in all packages (of one: go test ./PACKAGE -update).
//
// It is test support: no package of weir itself may import it.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Update is whether the files are to be written anew.
func Update() bool { return *update }

// Equal fails the test where the file differs from got, or writes the file anew.
func Equal(t testing.TB, path string, got []byte) {
	t.Helper()
	if Update() {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (`make golden` writes it anew): -want +got\n%s", path, diff)
	}
}

// After is Equal for what stands in the file behind a marker; what stands before it is written by hand.
func After(t testing.TB, path, marker, got string) {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(page), marker)
	if !found {
		t.Fatalf("%s has no %q", path, marker)
	}
	Equal(t, path, []byte(before+marker+got))
}

// Between is Equal for what stands in the file between two markers.
func Between(t testing.TB, path, from, to, got string) {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, behind, found := strings.Cut(string(page), from)
	_, after, ends := strings.Cut(behind, to)
	if !found || !ends {
		t.Fatalf("%s has no %q with %q behind it", path, from, to)
	}
	After(t, path, from, got+to+after)
}
