package toy

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"weir/test/phase"
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

// builtWith is a weir with other files, by their names in the module.
func builtWith(t *testing.T, files map[string]string) string {
	phase.Long(t)
	phase.NotUnderRace(t) // a program, which the detector does not see
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
	bin := filepath.Join(dir, "weir")
	cmd := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", bin, "./cmd/weir")
	cmd.Dir = top(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return bin
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
