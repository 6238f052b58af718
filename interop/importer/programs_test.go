package importer_test

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/interop/importer"
)

// fio prints its document where weir reads it, and a file of jobs that the script writes is a loss that is told.
func TestFio(t *testing.T) {
	for script, wants := range map[string][]string{
		"fio --output=o.json --output-format json --minimal j.fio": {
			"command: [fio, j.fio, --output-format=json]", "# --output o.json: left out", "# --minimal: left out",
		},
		"mkdir d\ncat > d/j.fio <<EOF\n[a]\nrw=read\nEOF\nfio d/j.fio --output o": {
			"command: [fio, d/j.fio, --output-format=json]", "# line 2 writes d/j.fio, and the scenario does not",
		},
		"tee j.fio <<EOF\n[a]\nEOF\nfio j.fio": {"# line 1 writes j.fio"},
	} {
		made, err := importer.Script("x.sh", script+"\n", importer.Options{})
		if err != nil {
			t.Errorf("%s: %v", script, err)
			continue
		}
		planned(t, made.Scenario)
		for _, want := range wants {
			if !strings.Contains(string(made.Scenario), want) {
				t.Errorf("%s has no %q:\n%s", script, want, made.Scenario)
			}
		}
	}
	_, err := importer.Script("x.sh", "fio - <<EOF\n[a]\nEOF\n", importer.Options{})
	if err == nil || !strings.Contains(err.Error(), "x.sh:1: fio -: jobs of the standard input") {
		t.Error(err)
	}
}
