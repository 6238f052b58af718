// Package weir_test holds the import directions of the whole module: which room
// may know which is written here once, and a forbidden arrow fails the build.
package weir_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// pkg is what go list says of a package.
type pkg struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		all = append(all, p)
	}
}

// within says whether a package is the room or in it.
func within(path, room string) bool {
	return path == room || strings.HasPrefix(path, room+"/")
}

// Nobody looks right along scenario → plan → results → verdicts → reports, and
// the leaves know nobody.
var forbidden = map[string][]string{
	"weir/quantity":   {"weir"},
	"weir/workload":   {"weir/assertion", "weir/dsl", "weir/engine", "weir/executor", "weir/gate", "weir/planner", "weir/reporters", "weir/results", "weir/scenarios", "weir/cmd"},
	"weir/assertion":  {"weir/dsl", "weir/engine", "weir/executor", "weir/gate", "weir/planner", "weir/reporters", "weir/results", "weir/scenarios", "weir/cmd"},
	"weir/results":    {"weir/dsl", "weir/engine", "weir/executor", "weir/gate", "weir/planner", "weir/reporters", "weir/scenarios", "weir/cmd"},
	"weir/dsl":        {"weir/engine", "weir/executor", "weir/gate", "weir/planner", "weir/reporters", "weir/results", "weir/scenarios", "weir/cmd"},
	"weir/planner":    {"weir/engine", "weir/executor", "weir/gate", "weir/reporters", "weir/results", "weir/scenarios", "weir/cmd"},
	"weir/engine":     {"weir/dsl", "weir/executor", "weir/gate", "weir/planner", "weir/reporters", "weir/scenarios", "weir/cmd"},
	"weir/executor":   {"weir/dsl", "weir/gate", "weir/reporters", "weir/scenarios", "weir/cmd", "weir/engine/native"},
	"weir/gate":       {"weir/dsl", "weir/engine", "weir/executor", "weir/planner", "weir/reporters", "weir/scenarios", "weir/cmd"},
	"weir/reporters":  {"weir/dsl", "weir/engine", "weir/executor", "weir/gate", "weir/planner", "weir/scenarios", "weir/cmd"},
	"weir/scenarios":  {"weir"},
	"weir/matrix":     {"weir"},
	"weir/matgen":     {"weir/assertion", "weir/cmd", "weir/ctperftest", "weir/dsl", "weir/engine", "weir/executor", "weir/gate", "weir/planner", "weir/reporters", "weir/results", "weir/scenarios", "weir/workload"},
	"weir/ctperftest": {"weir/assertion", "weir/cmd", "weir/engine", "weir/executor", "weir/gate", "weir/matgen", "weir/planner", "weir/reporters", "weir/results", "weir/scenarios", "weir/workload"},
}

func TestImportsPointOneWay(t *testing.T) {
	for _, p := range packages(t) {
		for room, others := range forbidden {
			if !within(p.ImportPath, room) {
				continue
			}
			for _, i := range p.Imports {
				for _, other := range others {
					if within(i, other) && !within(i, room) {
						t.Errorf("%s imports %s, which %s must not know", p.ImportPath, i, room)
					}
				}
			}
		}
	}
}

// Libraries that are likely to be exchanged have one door each.
func TestReplaceableLibrariesHaveOneImporter(t *testing.T) {
	all := packages(t)
	for _, lib := range []string{"gopkg.in/yaml.v3", "github.com/expr-lang/expr", "go.etcd.io/etcd", "weir/engine/native"} {
		var importers []string
		for _, p := range all {
			if slices.ContainsFunc(p.Imports, func(i string) bool { return within(i, lib) }) {
				importers = append(importers, p.ImportPath)
			}
		}
		if len(importers) != 1 {
			t.Errorf("%s is imported by %v, want exactly one package", lib, importers)
		}
	}
}

// Without a C compiler everything but the engine that moves bytes builds, so that
// a laptop can plan, judge and report.
func TestEverythingButTheNativeEngineBuildsWithoutCgo(t *testing.T) {
	args := []string{"build"}
	for _, p := range packages(t) {
		if p.ImportPath == "weir" { // only this test
			continue
		}
		if p.ImportPath != "weir/engine/native" {
			args = append(args, p.ImportPath)
		}
	}
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
