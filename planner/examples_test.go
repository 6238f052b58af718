package planner

import (
	"os"
	"path/filepath"
	"testing"
)

func TestEveryExamplePlansWithoutAWarning(t *testing.T) {
	files, err := filepath.Glob("../examples/*.*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if p, diags := plan(t, f, string(b)); len(diags) > 0 || len(p.Cases) == 0 {
			t.Errorf("%s: %s", f, render(diags))
		}
	}
}
