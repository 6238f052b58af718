package reporters

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// readJUnit prints what junitparser finds in a report on stdin. It is what the GitHub
// action EnricoMi/publish-unit-test-result reads reports with.
const readJUnit = `
import json, sys, junitparser
report = junitparser.JUnitXml.fromstring(sys.stdin.buffer.read())
kind = {junitparser.Failure: "failure", junitparser.Error: "error", junitparser.Skipped: "skipped"}
json.dump([{
    "name": s.name, "tests": s.tests, "failures": s.failures, "errors": s.errors, "skipped": s.skipped,
    "cases": [{"name": c.name, "classname": c.classname, "outcome": [kind[type(r)] for r in c.result], "message": [r.message for r in c.result]} for c in s],
} for s in report], sys.stdout)
`

// A second parser finds every test with its outcome and message, and counters that add up.
func TestJUnitIsReadByASecondConsumer(t *testing.T) {
	const python = "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import junitparser").Run(); err != nil {
		t.Skip("no junitparser (scripts/setup browser installs it)")
	}
	for _, name := range documents {
		doc := read(t, name)
		cmd := exec.Command(python, "-c", readJUnit)
		cmd.Stdin = strings.NewReader(written(t, "junit", doc))
		var errors strings.Builder
		cmd.Stderr = &errors
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, errors.String())
		}
		var suites []struct {
			Name                             string
			Tests, Failures, Errors, Skipped int
			Cases                            []struct {
				Name, Classname  string
				Outcome, Message []string
			}
		}
		if err := json.Unmarshal(out, &suites); err != nil {
			t.Fatal(err)
		}
		want := parse(t, doc)
		if len(suites) != len(want.Suites) {
			t.Fatalf("%s: %d suites, want %d", name, len(suites), len(want.Suites))
		}
		for i, s := range suites {
			w := want.Suites[i]
			if s.Name != w.Name || len(s.Cases) != len(w.Cases) || s.Tests != w.Tests || s.Failures != w.Failures ||
				s.Errors != w.Errors || s.Skipped != w.Skipped {
				t.Errorf("%s: suite %s is read as %+v", name, w.Name, s)
				continue
			}
			found := map[string]int{}
			for j, c := range s.Cases {
				if c.Name != w.Cases[j].Name || c.Classname != w.Cases[j].Classname || len(c.Outcome) > 1 {
					t.Errorf("%s: %+v, want %s of %s", name, c, w.Cases[j].Name, w.Cases[j].Classname)
				}
				for k, outcome := range c.Outcome {
					found[outcome]++
					if c.Message[k] == "" {
						t.Errorf("%s: %s has no message", name, c.Name)
					}
				}
			}
			if found["failure"] != s.Failures || found["error"] != s.Errors || found["skipped"] != s.Skipped {
				t.Errorf("%s: suite %s has %v, and its counters say %+v", name, s.Name, found, s)
			}
		}
	}
}
