package house

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/test/phase"
)

// hooks are names that only builds with the tag weirtest have; see engine/native/selftest.h.
func hooks(t *testing.T, tags string) (found []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "weir")
	if out, err := exec.Command("go", "build", "-tags", tags, "-o", path, "./cmd/weir").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == "weir_open" }) {
		t.Fatal("the symbols of the engine are not in the program")
	}
	for _, s := range symbols {
		if strings.HasPrefix(s.Name, "selftest_") || s.Name == "ceiling_spans" ||
			s.Name == "libfabric_piece" && elf.ST_BIND(s.Info) == elf.STB_GLOBAL {
			found = append(found, s.Name)
		}
	}
	return found
}

// What tests reach into the engine with is not in the program that is shipped.
func TestTheProgramHasNoTestHooks(t *testing.T) {
	phase.Long(t)
	if found := hooks(t, ""); len(found) > 0 {
		t.Error(found)
	}
	if found := hooks(t, "weirtest"); len(found) < 10 {
		t.Errorf("with the tag there are only %v", found)
	}
}
