package house

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/test/phase"
)

// hooks are the names in the compiled engine that only builds with the tag weirtest have; see
// engine/native/selftest.h. No other package has C.
func hooks(t *testing.T, tags string) (found []string) {
	t.Helper()
	archive := output(t, "list", "-export", "-tags", tags, "-f", "{{.Export}}", "./engine/native")
	var names []string
	for _, line := range strings.Split(output(t, "tool", "nm", archive), "\n") {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		name, kind := words[len(words)-1], words[len(words)-2]
		if kind == "U" { // it is defined elsewhere
			continue
		}
		names = append(names, name)
		if strings.HasPrefix(name, "selftest_") || name == "ceiling_spans" || name == "libfabric_piece" && kind == "D" {
			found = append(found, name)
		}
	}
	if !slices.Contains(names, "weir_open") {
		t.Fatal("the symbols of the engine are not in its archive")
	}
	return found
}

// output is what a command of go prints.
func output(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
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
