package toy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const simulated = `scenario: toy
runs:
  sizes:
    workload: transfer
    options: {fabric: sim}
    sweep:
      block_size: [4KiB, 1MiB]
    assert:
      - harmonic(bandwidth over block_size) > 1MB/s
`

// withReporter are the files of a weir with a reporter more, as CONTRIBUTING.md says: a file and a line.
func withReporter(t *testing.T) map[string]string {
	t.Helper()
	const list = "reporters/reporters.go"
	return map[string]string{
		"reporters/toy.go": source(t, "test/toy/testdata/reporter.go"),
		list: changed(t, source(t, list), `(var registry = \[\]Reporter\{)`,
			"$1\n\t{\"toy\", \"toy.txt\", toy},"),
	}
}

// withAggregate are the files of a weir with an aggregate more, as CONTRIBUTING.md says: a constant and a row.
func withAggregate(t *testing.T) map[string]string {
	t.Helper()
	const table = "results/assertion/aggregates.go"
	text := changed(t, source(t, table), `(Median  Op = "median")`, "$1\n\tHarmonic Op = \"harmonic\"")
	text = changed(t, text, `(var aggregates = \[\]Aggregate\{)`, `$1
	{
		Op: Harmonic, Doc: "n/Σ(1/x) of positive x", Positive: true, OfPositive: true,
		Eval: func(x []float64) float64 {
			sum := 0.0
			for _, v := range x {
				sum += 1 / v
			}
			return float64(len(x)) / sum
		},
		Grad: func(x []float64, value float64) []float64 {
			g := make([]float64, len(x))
			for i, v := range x {
				g[i] = value * value / (float64(len(x)) * v * v)
			}
			return g
		},
	},`)
	return map[string]string{table: text}
}

// A reporter and an assertion function that were added as CONTRIBUTING.md says judge and report a session.
func TestAReporterAndAnAssertionFunctionMore(t *testing.T) {
	bin, dir := extended(t), t.TempDir()
	write(t, filepath.Join(dir, "toy.yaml"), simulated)
	out := weir(t, dir, bin, 0, "run", "toy.yaml", "--out", "out", "--report", "toy")
	if !strings.Contains(out, "passed: assertions: 1 pass; cases: 2 ok") {
		t.Errorf("the run: %s", out)
	}
	report, err := os.ReadFile(filepath.Join(dir, "out", "toy.txt"))
	if err != nil || string(report) != "2 cases of toy\n" {
		t.Errorf("the report: %q, %v", report, err)
	}
	write(t, filepath.Join(dir, "misspelt.yaml"), strings.Replace(simulated, "harmonic(", "harmonc(", 1))
	if out := weir(t, dir, bin, 4, "validate", "misspelt.yaml"); !strings.Contains(out, `"harmonic"`) {
		t.Errorf("the hint: %s", out)
	}
}
