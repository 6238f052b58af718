package toy

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/weir-bench/weir/test/phase"
)

// top is the directory of the module.
func top(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// source is a file of the module.
func source(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(top(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// simulating is a weir with other files, by their names in the module, that has no native engine: simulations run.
func simulating(t *testing.T, files map[string]string) string {
	t.Helper()
	t.Setenv("CGO_ENABLED", "0")
	return builtWith(t, files)
}

// builtWith is a weir with other files, by their names in the module.
func builtWith(t *testing.T, files map[string]string) string {
	t.Helper()
	phase.Long(t)
	bin := filepath.Join(t.TempDir(), "weir")
	build(t, files, "-o", bin, "./cmd/weir")
	return bin
}

// build runs go build on the module with other files.
func build(t *testing.T, files map[string]string, args ...string) {
	t.Helper()
	dir, replace := t.TempDir(), map[string]string{}
	for name, content := range files {
		file := filepath.Join(dir, filepath.Base(name))
		write(t, file, content)
		replace[filepath.Join(top(t), name)] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	cmd := exec.Command("go", append([]string{"build", "-overlay", filepath.Join(dir, "overlay.json")}, args...)...)
	cmd.Dir = top(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// The Go files of a workload and of a fabric compile in their places. The other tests link
// and run weir with them, which takes long.
func TestWhatIsAddedCompiles(t *testing.T) {
	build(t, withCounting(t), "./workload/kinds")
	build(t, withToy(t), "./fabric")
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
