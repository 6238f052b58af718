package toy

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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

var (
	home string // of the extended program

	onceBuilt sync.Once
	built     bool
)

func TestMain(m *testing.M) {
	var err error
	if home, err = os.MkdirTemp("", "toy"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

// extended is a weir with a fabric, a workload, a reporter and an aggregate more. All tests share it: a new fabric
// makes go build compile nearly everything anew.
func extended(t *testing.T) string {
	t.Helper()
	phase.Long(t)
	bin := filepath.Join(home, "weir")
	onceBuilt.Do(func() {
		files := map[string]string{}
		for _, more := range []map[string]string{withToy(t), withCounting(t), withReporter(t), withAggregate(t)} {
			maps.Copy(files, more)
		}
		build(t, files, "-o", bin, "./cmd/weir")
		built = true
	})
	if !built {
		t.Fatal("another test could not build it")
	}
	return bin
}

// build runs go build on the module with other files.
func build(t *testing.T, files map[string]string, args ...string) {
	t.Helper()
	dir, replace := t.TempDir(), map[string]string{}
	for name, content := range files {
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
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

// The Go files of a workload and of a fabric compile in their places. The other tests link and run weir with them,
// which takes long.
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
