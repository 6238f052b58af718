package toy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

const scenario = `scenario: counting
runs:
  count:
    workload: counting
    options: {ranks: 2, pause: 100us}
    sweep:
      amount: [1000, 100000]
    assert:
      - rate > 1000000
      - pause.excess < 50ms
`

// withCounting are the files of a weir with a workload more: a folder, and a line in the
// list of workloads.
func withCounting(t *testing.T) map[string]string {
	t.Helper()
	const list, before = "workload/kinds/kinds.go", "import (\n"
	src := source(t, list)
	more := strings.Replace(src, before, before+"\t_ \"github.com/weir-bench/weir/test/toy/counting\"\n", 1)
	if more == src {
		t.Fatalf("%s has no list of imports", list)
	}
	return map[string]string{list: more}
}

// weir runs the program, which must end with this exit code, and gives what it wrote.
func weir(t *testing.T, dir, bin string, code int, args ...string) string {
	t.Helper()
	cmd := exec.Command(bin, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "WEIR_DISTURBED=keep") // other tests run beside it
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		t.Fatalf("weir %s: %v, want exit code %d: %s", strings.Join(args, " "), err, code, out)
	}
	return string(out)
}

// A workload without peers goes from a scenario to an HTML report, and only its own folder
// knows what it is.
func TestAWorkloadIsAFolderAndALine(t *testing.T) {
	bin, dir := extended(t), t.TempDir()
	write(t, filepath.Join(dir, "counting.yaml"), scenario)
	write(t, filepath.Join(dir, "wrong.yaml"), strings.Replace(scenario, "[1000, 100000]", "[0]", 1))

	if out := weir(t, dir, bin, 4, "validate", "wrong.yaml"); !strings.Contains(out, "wrong.yaml:7:16") ||
		!strings.Contains(out, "0 is below the least amount, which is 1") {
		t.Errorf("a wrong option: %s", out)
	}
	if out := weir(t, dir, bin, 0, "docs", "workloads", "counting"); !strings.Contains(out,
		"numbers that a rank counts in one operation") {
		t.Errorf("the options: %s", out)
	}
	out := weir(t, dir, bin, 0, "run", "--launches", "3", "--out", "out", "counting.yaml")
	if !strings.Contains(out, "rate") || !strings.Contains(out, "passed: assertions: 4 pass; cases: 2 ok") {
		t.Errorf("the run: %s", out)
	}
	checkDocument(t, filepath.Join(dir, "out"))
	weir(t, dir, bin, 0, "gate", "--samples", "out")
	weir(t, dir, bin, 0, "report", "out", "--report", "html")
	page, err := os.ReadFile(filepath.Join(dir, "out", "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"count[amount=1000]", "pause.excess", "numbers that all ranks counted"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the report has no %q", want)
		}
	}
	changeSamples(t, filepath.Join(dir, "out"))
	if out := weir(t, dir, bin, 7, "gate", "--samples", "out"); !strings.Contains(out,
		"its samples files are not those that were measured") {
		t.Errorf("other samples: %s", out)
	}
}

// changeSamples makes one number of a rank's samples another one.
func changeSamples(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "samples", "*", "0", "0.bin"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)-1] ^= 2
	write(t, files[0], string(content))
}

// checkDocument holds a session's document against what was to be counted.
func checkDocument(t *testing.T, dir string) {
	t.Helper()
	doc, err := results.Read(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range doc.Cases {
		if len(c.Launches) != 3 {
			t.Errorf("%s has %d launches", c.Key, len(c.Launches))
		}
		for _, l := range c.Launches {
			if !l.Verified || l.Fabric != "" || len(l.Samples) != 2 || l.Metrics.At("rate") <= 0 ||
				l.Metrics.At("pause.excess") <= 0 {
				t.Errorf("%s: %+v", c.Key, l)
			}
		}
	}
}
