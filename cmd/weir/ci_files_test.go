package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-bench/weir/gate"
)

// inFolderOfRepository moves the test to a folder of a repository with a scenario, a file of variables and a site.
func inFolderOfRepository(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	scenario := "scenario: gate\nvariables: {least: {type: bandwidth}}\nruns:\n  a:\n    workload: transfer\n    options: {fabric: sim, block_size: 1MiB}\n    assert: [\"bandwidth >= ${var.least}\"]\n"
	for file, text := range map[string]string{
		"repository/.git/HEAD": "", "repository/bench/gate.yaml": scenario, "repository/values": "least = 1 B/s\n",
		"repository/bench/site.yaml": "site: here\n", "gate.yaml": scenario, "site.yaml": "site: here\n",
	} {
		file = filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(root, "repository/bench"))
	return root
}

// Jobs run at the root of the repository, so their paths are from there, wherever they are made.
func TestCIPathsAreOfTheRepository(t *testing.T) {
	root := inFolderOfRepository(t)
	files := "--var-file values --site bench/site.yaml"
	for _, provider := range []string{"github", "gitlab", "jenkins"} {
		for _, scenario := range []string{
			"gate.yaml", "../bench/gate.yaml", filepath.Join(root, "repository/bench/gate.yaml"),
		} {
			text := ciText(t, provider, scenario, "--var-file", "../values", "--site", "site.yaml")
			made := "weir ci " + provider + " bench/gate.yaml --timeout 50m " + files + "\n"
			if !strings.Contains(text, "weir run bench/gate.yaml --out weir-out/ci --timeout 50m "+files) ||
				!strings.Contains(text, made) {
				t.Errorf("%s of %s:\n%s", provider, scenario, text)
			}
		}
	}
	of := filepath.Join(root, "site.yaml")
	text := ciText(t, "github", "gate.yaml", "--var", "least=1 B/s", "--site", of)
	if !strings.Contains(text, "--site "+of) {
		t.Errorf("a site of the runner is not in\n%s", text)
	}
	for _, args := range [][]string{
		{"../../gate.yaml", "--var", "least=1 B/s"}, {filepath.Join(root, "gate.yaml"), "--var", "least=1 B/s"},
		{"gate.yaml", "--var", "least=1 B/s", "--site", "../../site.yaml"}, {"-", "--var", "least=1 B/s"},
	} {
		var out, stderr bytes.Buffer
		code := execute(append([]string{"ci", "github"}, args...), &out, &stderr)
		if code != gate.ExitUsage || out.Len() > 0 ||
			!strings.Contains(stderr.String(), "give the path of a file in the repository; the job runs at its root") {
			t.Errorf("weir ci github %q exited with %d: %s%s", args, code, out.String(), stderr.String())
		}
	}
}

// Labels may be one value with commas, as in other options.
func TestCIRunnerTakesLists(t *testing.T) {
	inFolderOfRepository(t)
	args := []string{"gate.yaml", "--var", "least=1 B/s"}
	for provider, want := range map[string]string{
		"github": `runs-on: ["self-hosted", "h100", "b"]`, "gitlab": `tags: ["self-hosted", "h100", "b"]`,
		"jenkins": `{ label 'self-hosted && h100 && b' }`,
	} {
		labels := append(args, "--runner", "self-hosted, h100", "--runner", "b")
		text := ciText(t, append([]string{provider}, labels...)...)
		if !strings.Contains(text, want) {
			t.Errorf("%s: no %s in\n%s", provider, want, text)
		}
	}
	var out, stderr bytes.Buffer
	code := execute(append([]string{"ci", "github"}, append(args, "--runner", "a,")...), &out, &stderr)
	if code != gate.ExitUsage || !strings.Contains(stderr.String(), "a label is empty") {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
}
