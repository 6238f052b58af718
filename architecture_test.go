// Package weir_test holds the import directions of the whole module: which room
// may know which is written here once, and any other arrow fails the build.
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

	"weir/test/phase"
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

// allowed is what each room may import of this module besides its own packages, as
// ARCHITECTURE.md has it. Nobody looks right along scenario → plan → results → verdicts
// → reports, and the leaves know hardly anybody. The room of a package is the longest
// that it is in; an entry allows what is within it.
var allowed = map[string][]string{
	"weir":                  {},
	"weir/cmd/weir":         {"weir"},
	"weir/cmd/weir/exit":    {"weir/gate"},
	"weir/cmd/weir/program": {},
	"weir/cmd/weir/access":  {"weir/cmd/weir/exit", "weir/executor/cluster", "weir/executor/trust", "weir/gate"},
	"weir/cmd/weir/reports": {"weir/cmd/weir/exit", "weir/gate", "weir/reporters", "weir/results", "weir/suggest"},
	"weir/cmd/weir/stored":  {"weir/cmd/weir/exit", "weir/gate", "weir/results", "weir/workload"},
	"weir/cmd/weir/screen": {"weir/printable", "weir/cmd/weir/exit", "weir/executor/event", "weir/gate", "weir/planner",
		"weir/results", "weir/workload", "weir/quantity"},
	"weir/cmd/weir/launcher": {"weir/cmd/weir/access", "weir/cmd/weir/exit", "weir/cmd/weir/program", "weir/executor",
		"weir/printable", "weir/dsl", "weir/suggest", "weir/planner", "weir/results", "weir/quantity"},
	"weir/cmd/weir/input": {"weir/cmd/weir/launcher", "weir/cmd/weir/exit", "weir/dsl", "weir/planner",
		"weir/scenarios", "weir/engine", "weir/gate", "weir/assertion", "weir/results"},
	"weir/cmd/weir/run": sharedByVerbs("weir/printable", "weir/dsl", "weir/executor", "weir/planner", "weir/gate",
		"weir/reporters", "weir/results", "weir/quantity", "weir/assertion", "weir/history"),
	"weir/cmd/weir/cluster":  sharedByVerbs("weir/dsl", "weir/suggest", "weir/executor", "weir/gate"),
	"weir/quantity":          {},
	"weir/fabric":            {"weir/workload", "weir/results", "weir/quantity"},
	"weir/workload":          {"weir/quantity", "weir/matrix", "weir/results", "weir/placeholder", "weir/logwatch"},
	"weir/workload/move":     {"weir/fabric", "weir/workload", "weir/quantity", "weir/matrix", "weir/results"},
	"weir/workload/transfer": {"weir/fabric", "weir/workload", "weir/quantity", "weir/matrix", "weir/results"},
	"weir/workload/traffic":  {"weir/fabric", "weir/workload", "weir/quantity", "weir/matrix", "weir/results"},
	"weir/workload/sequence": {"weir/fabric", "weir/workload", "weir/quantity", "weir/matrix", "weir/results"},
	"weir/workload/command": {"weir/tooloutput", "weir/placeholder", "weir/workload", "weir/quantity", "weir/results",
		"weir/suggest", "weir/logwatch"},

	"weir/workload/epelastic": {"weir/routing", "weir/workload/ep", "weir/fabric", "weir/workload", "weir/quantity",
		"weir/matrix", "weir/results"},
	"weir/workload/epcontrol": {"weir/fabric", "weir/workload", "weir/quantity", "weir/matrix", "weir/results"},
	"weir/workload/ep": {"weir/routing", "weir/fabric", "weir/workload", "weir/quantity", "weir/matrix",
		"weir/results"},
	"weir/routing": {"weir/quantity"},
	"weir/engine/serving": {"weir/engine", "weir/serving", "weir/workload", "weir/results",
		"weir/placeholder"},
	"weir/workload/serving":   {"weir/serving", "weir/workload", "weir/placeholder", "weir/quantity", "weir/results"},
	"weir/serving":            {},
	"weir/serving/stream":     {"weir/quantity", "weir/redact", "weir/serving"},
	"weir/serving/arrival":    {},
	"weir/serving/client":     {"weir/serving"},
	"weir/serving/prompt":     {"weir/serving", "weir/serving/schedule", "weir/quantity"},
	"weir/serving/schedule":   {"weir/serving", "weir/quantity"},
	"weir/serving/summary":    {"weir/serving", "weir/results"},
	"weir/serving/testserver": {"weir/serving/arrival"},
	"weir/workload/kinds":     {"weir/workload"},
	"weir/assertion":          {"weir/quantity"},
	"weir/results":            {"weir/assertion", "weir/quantity", "weir/placeholder"},
	"weir/matrix":             {},
	"weir/tooloutput":         {"weir/quantity"},
	"weir/placeholder":        {},
	"weir/readiness":          {},
	"weir/logwatch":           {},
	"weir/suggest":            {},
	"weir/scenarios":          {},
	"weir/matgen":             {"weir/matrix", "weir/quantity", "weir/suggest"},
	"weir/ctperftest":         {"weir/matrix", "weir/suggest", "weir/dsl/yamlsyntax"},
	"weir/toolimport": {"weir/dsl", "weir/suggest", "weir/workload", "weir/quantity", "weir/results",
		"weir/tooloutput"},
	"weir/dsl": {"weir/printable", "weir/placeholder", "weir/ctperftest", "weir/matgen", "weir/matrix",
		"weir/assertion", "weir/suggest",
		"weir/quantity", "weir/workload"},
	"weir/planner": {"weir/dsl", "weir/assertion", "weir/quantity", "weir/workload", "weir/fabric",
		"weir/placeholder", "weir/suggest"},
	"weir/engine":         {"weir/fabric", "weir/workload", "weir/results"},
	"weir/engine/native":  {"weir/engine", "weir/fabric", "weir/workload", "weir/results", "weir/quantity"},
	"weir/engine/mesh":    {"weir/engine"},
	"weir/engine/elastic": {"weir/engine", "weir/engine/mesh", "weir/workload"},
	"weir/engine/command": {"weir/redact", "weir/engine", "weir/fabric", "weir/workload", "weir/readiness",
		"weir/placeholder",
		"weir/logwatch"},
	"weir/engine/sim": {"weir/engine", "weir/fabric", "weir/workload", "weir/results", "weir/quantity"},
	"weir/executor": {"weir/redact", "weir/executor/fleet", "weir/executor/placement", "weir/executor/ledger",
		"weir/executor/event", "weir/fabric", "weir/executor/environ", "weir/executor/trust", "weir/executor/cgroup",
		"weir/executor/confine", "weir/executor/rlimit", "weir/executor/link", "weir/executor/launch",
		"weir/executor/incluster", "weir/planner", "weir/engine",
		"weir/assertion", "weir/quantity", "weir/results", "weir/workload", "weir/logwatch"},
	"weir/executor/fleet": {"weir/executor/placement", "weir/executor/agent", "weir/executor/cluster",
		"weir/executor/daemon", "weir/executor/launch", "weir/executor/link", "weir/executor/trust", "weir/results"},
	"weir/executor/event": {"weir/results"},
	"weir/executor/ledger": {"weir/executor/event", "weir/executor/environ", "weir/planner", "weir/results",
		"weir/assertion", "weir/workload", "weir/quantity"},

	"weir/executor/placement": {"weir/fabric", "weir/results", "weir/workload"},
	"weir/executor/environ":   {"weir/fabric", "weir/results", "weir/suggest"},
	"weir/executor/trust":     {},
	"weir/executor/link":      {"weir/executor/trust"},
	"weir/executor/cgroup":    {},
	"weir/executor/confine":   {},
	"weir/printable":          {},
	"weir/redact":             {},
	"weir/executor/rlimit":    {},
	"weir/executor/launch":    {"weir/executor/trust", "weir/printable"},

	"weir/executor/launch/kubernetes": {"weir/executor/launch", "weir/executor/kubectl", "weir/executor/trust",
		"weir/dsl/yamlsyntax"},
	"weir/executor/kubectl": {"weir/dsl/yamlsyntax"},
	"weir/executor/incluster": {"weir/executor/kubectl", "weir/dsl/yamlsyntax", "weir/placeholder", "weir/readiness",
		"weir/workload", "weir/logwatch"},

	"weir/executor/lab":       {"weir/executor/environ", "weir/test/phase", "weir/test/port"},
	"weir/executor/lab/board": {"weir/executor/cluster", "weir/executor/trust"},
	"weir/test/hosts":         {},
	"weir/test/peers":         {},
	"weir/test/serving":       {},
	"weir/test/phase":         {},
	"weir/test/port":          {},
	"weir/test/golden":        {},
	"weir/test/toy":           {"weir/workload", "weir/engine", "weir/results", "weir/quantity"},
	"weir/gate":               {"weir/fabric", "weir/results", "weir/assertion", "weir/workload", "weir/quantity"},
	"weir/test/metrics":       {},
	"weir/history":            {"weir/results", "weir/workload", "weir/quantity"},
	"weir/reporters": {"weir/printable", "weir/reporters/html", "weir/history", "weir/results", "weir/assertion",
		"weir/workload", "weir/quantity", "weir/matrix"},
	"weir/reporters/html": {},
}

// sharedByVerbs lets a verb import the rooms that verbs share, and these others.
func sharedByVerbs(others ...string) []string {
	shared := []string{"access", "exit", "input", "launcher", "program", "reports", "screen", "stored"}
	for _, name := range shared {
		others = append(others, "weir/cmd/weir/"+name)
	}
	return others
}

// closed are rooms inside of others' that only those named may enter, although an
// entry of allowed lets more in.
var closed = map[string][]string{
	"weir/engine/native":  {"weir/cmd/weir"},
	"weir/engine/sim":     {"weir/cmd/weir"},
	"weir/engine/command": {"weir/cmd/weir"},
	"weir/engine/serving": {"weir/cmd/weir"},
	"weir/workload/move": {"weir/engine/native", "weir/engine/sim", "weir/workload/transfer",
		"weir/workload/traffic", "weir/workload/sequence", "weir/workload/ep", "weir/workload/epcontrol",
		"weir/workload/epelastic"},
	"weir/workload/kinds":             {"weir/dsl"},
	"weir/executor/launch/kubernetes": {"weir/cmd/weir/launcher", "weir/cmd/weir/cluster"},
	"weir/cmd/weir/run":               {"weir/cmd/weir"},
	"weir/cmd/weir/cluster":           {"weir/cmd/weir"},
	"weir/test/phase":                 {"weir/executor/lab"},
	"weir/test/port":                  {"weir/executor/lab"},
	"weir/test/golden":                {},
	"weir/executor/lab":               {}, // only tests, whose imports are not looked at here
	"weir/executor/lab/board":         {},
}

// roomOf is the room that a package is in, "" if in none.
func roomOf(path string) string {
	longest := ""
	for room := range allowed {
		if within(path, room) && len(room) > len(longest) && (room != "weir" || path == room) {
			longest = room
		}
	}
	return longest
}

func TestImportsPointOneWay(t *testing.T) {
	for _, p := range packages(t) {
		room := roomOf(p.ImportPath)
		if room == "" {
			t.Errorf("%s is in no room: ARCHITECTURE.md and this test must say what it may import", p.ImportPath)
			continue
		}
		for _, i := range p.Imports {
			if !within(i, "weir") || within(i, room) && roomOf(i) == room {
				continue
			}
			if !slices.ContainsFunc(allowed[room], func(other string) bool { return within(i, other) }) {
				t.Errorf("%s imports %s, which %s must not know", p.ImportPath, i, room)
			}
			if doors, ok := closed[roomOf(i)]; ok && !slices.Contains(doors, room) {
				t.Errorf("%s imports %s, which only %v may", p.ImportPath, i, doors)
			}
		}
	}
}

// Libraries that are likely to be exchanged have one door each.
func TestReplaceableLibrariesHaveOneImporter(t *testing.T) {
	all := packages(t)
	for _, lib := range []string{
		"gopkg.in/yaml.v3", "github.com/expr-lang/expr", "go.etcd.io/etcd", "weir/engine/native",
	} {
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
	phase.Long(t)
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
