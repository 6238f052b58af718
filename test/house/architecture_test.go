package house

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

	"github.com/weir-bench/weir/test/phase"
)

// module is the path of the module; paths of its packages are without it here.
const module = "github.com/weir-bench/weir/"

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
		p.ImportPath = strings.TrimPrefix(p.ImportPath, module)
		all = append(all, p)
	}
}

// within says whether a package is the room or in it; all are in the room "".
func within(path, room string) bool {
	return room == "" || path == room || strings.HasPrefix(path, room+"/")
}

// allowed is what each room may import of this module besides its own packages, as ARCHITECTURE.md has it. Imports
// follow the data: scenario, plan, results, verdicts, reports. The room of a package is the longest that it is in, and
// an entry allows what is within it. Packages of internal belong to no concept: all may import them, and they import
// each other only.
var allowed = map[string][]string{
	"internal":               {},
	"results/assertion":      {},
	"results":                {"results/assertion"},
	"fabric":                 {"results"},
	"workload":               {"fabric", "results"},
	"workload/kinds":         {"workload"},
	"workload/move":          {"fabric", "workload", "results"},
	anyWorkload:              {"fabric", "workload", "results"},
	"workload/traffic/model": {},
	"workload/ep/routing":    {},
	"workload/command":       {"workload", "results", "interop/output"},

	"workload/serving":          {"workload", "results", "workload/serving/load"},
	"workload/serving/arrival":  {},
	"workload/serving/client":   {"workload/serving/arrival", "workload/serving/load", "workload/serving/stream"},
	"workload/serving/load":     {},
	"workload/serving/prompt":   {"workload/serving/load", "workload/serving/schedule"},
	"workload/serving/schedule": {"workload/serving/load"},
	"workload/serving/stream":   {"workload/serving/load"},
	"workload/serving/summary":  {"workload/serving/load", "results"},

	"interop/ctperftest": {},
	"interop/importer":   {"dsl", "workload", "results", "interop/output", "interop/ctperftest"},
	"interop/output":     {},
	"scenarios":          {},
	"dsl":                {"interop/ctperftest", "workload", "results/assertion"},
	"planner":            {"dsl", "results/assertion", "workload", "fabric"},

	"engine":         {"fabric", "workload", "results"},
	"engine/command": {"engine", "fabric", "workload"},
	"engine/elastic": {"engine", "engine/mesh", "workload"},
	"engine/mesh":    {"engine"},
	"engine/native":  {"engine", "fabric", "workload", "results"},
	"engine/serving": {"engine", "workload", "results"},
	"engine/sim":     {"engine", "fabric", "workload", "results"},

	"executor": {"executor/control/fleet", "executor/control/link", "executor/event", "executor/host/cgroup",
		"executor/host/confine", "executor/host/environ", "executor/host/rlimit", "executor/kube/incluster",
		"executor/launcher", "executor/ledger", "executor/placement", "engine", "fabric", "planner", "results",
		"workload"},
	"executor/control/fleet": {"executor/agent", "executor/control/link", "executor/control/registry",
		"executor/host/cgroup", "executor/host/confine", "executor/host/scratch", "executor/launcher",
		"executor/placement", "engine", "results"},
	"executor/control/link":        {},
	"executor/event":               {"results"},
	"executor/host/cgroup":         {},
	"executor/host/confine":        {},
	"executor/host/environ":        {"fabric", "results"},
	"executor/host/rlimit":         {},
	"executor/kube":                {},
	"executor/kube/incluster":      {"executor/kube", "workload"},
	"executor/launcher":            {"executor/control/link"},
	"executor/launcher/kubernetes": {"executor/launcher", "executor/kube"},
	"executor/ledger":              {"executor/event", "executor/host/environ", "planner", "results", "workload"},
	"executor/placement":           {"fabric", "results", "workload"},

	"gate":           {"gate/wording", "fabric", "results", "workload"},
	"gate/wording":   {"results"},
	"history":        {"results", "workload"},
	"reporters":      {"reporters/html", "fabric/causes", "gate/wording", "history", "results", "workload"},
	"reporters/html": {},

	"docs": {},

	"cmd/weir":         {""}, // it puts the program together
	"cmd/weir/access":  {"cmd/weir/exit", "executor/control/registry", "executor/control/link", "gate"},
	"cmd/weir/cluster": sharedByVerbs("dsl", "executor", "gate"),
	"cmd/weir/exit":    {"cmd/weir/screen", "gate"},
	"cmd/weir/input": {"cmd/weir/launcher", "cmd/weir/screen", "cmd/weir/exit", "dsl", "planner", "scenarios",
		"engine", "gate",
		"results"},
	"cmd/weir/launcher": {"cmd/weir/access", "cmd/weir/exit", "cmd/weir/program", "executor", "dsl", "planner",
		"results"},
	"cmd/weir/program": {},
	"cmd/weir/reports": {"cmd/weir/exit", "gate", "reporters", "results"},
	"cmd/weir/run": sharedByVerbs("dsl", "executor", "planner", "gate", "reporters", "results", "history",
		"cmd/weir/serve"),
	"cmd/weir/serve": {"cmd/weir/exit", "cmd/weir/screen", "cmd/weir/stored", "executor/event", "executor/ledger",
		"gate", "history", "planner", "reporters", "results"},
	"cmd/weir/screen": {"dsl", "executor/event", "gate", "planner", "reporters", "results", "workload"},
	"cmd/weir/stored": {"cmd/weir/exit", "gate", "results", "workload"},

	"test/faults":     {},
	"test/golden":     {},
	"test/hosts":      {},
	"test/install":    {},
	"test/house":      {},
	"test/lab":        {"executor/host/environ", "test/phase", "test/port"},
	"test/metrics":    {},
	"test/pages":      {},
	"test/peers":      {},
	"test/phase":      {},
	"test/port":       {},
	"test/serving":    {},
	"test/terminal":   {},
	"test/testserver": {"workload/serving/arrival"},
	"test/toy":        {"workload", "engine", "results"},
}

// sharedByVerbs lets a verb import the rooms that verbs share, and these others.
func sharedByVerbs(others ...string) []string {
	shared := []string{"access", "exit", "input", "launcher", "program", "reports", "screen", "stored"}
	for _, name := range shared {
		others = append(others, "cmd/weir/"+name)
	}
	return others
}

// closed are rooms inside of others' that only those named may enter, although an
// entry of allowed lets more in.
var closed = map[string][]string{
	"engine/native":                {"cmd/weir"},
	"engine/sim":                   {"cmd/weir"},
	"engine/command":               {"cmd/weir"},
	"engine/serving":               {"cmd/weir"},
	"workload/move":                {"engine/native", "engine/sim", anyWorkload},
	"workload/kinds":               {"dsl"},
	"executor/launcher/kubernetes": {"cmd/weir/launcher", "cmd/weir/cluster"},
	"cmd/weir/run":                 {"cmd/weir"},
	"cmd/weir/cluster":             {"cmd/weir"},
	"test/phase":                   {"test/lab"},
	"test/port":                    {"test/lab"},
	"test/golden":                  {},
	"test/lab":                     {}, // only tests import it, and imports of tests are not checked here
}

// anyWorkload is the room of a workload that has no entry of its own.
const anyWorkload = "workload/*"

// roomOf is the room that a package is in, "" if in none.
func roomOf(path string) string {
	longest := ""
	for room := range allowed {
		if within(path, room) && len(room) > len(longest) {
			longest = room
		}
	}
	if longest == "workload" && path != longest {
		return anyWorkload
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
			i, own := strings.CutPrefix(i, module)
			if !own || within(i, room) && roomOf(i) == room || within(i, "internal") {
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

// Libraries that are likely to be exchanged have one door each. YAML has two: that of scenarios, which keeps
// places and comments, and that of tables in the program.
func TestReplaceableLibrariesHaveOneImporter(t *testing.T) {
	all := packages(t)
	for lib, doors := range map[string]int{
		"gopkg.in/yaml.v3": 2, "github.com/expr-lang/expr": 1, "go.etcd.io/etcd": 1, module + "engine/native": 1,
	} {
		var importers []string
		for _, p := range all {
			if slices.ContainsFunc(p.Imports, func(i string) bool { return within(i, lib) }) {
				importers = append(importers, p.ImportPath)
			}
		}
		if len(importers) != doors {
			t.Errorf("%s is imported by %v, want exactly %d packages", lib, importers, doors)
		}
	}
}

// Without a C compiler everything but the engine that moves bytes builds, so that
// a laptop can plan, judge and report.
func TestEverythingButTheNativeEngineBuildsWithoutCgo(t *testing.T) {
	phase.Long(t)
	args := []string{"build"}
	for _, p := range packages(t) {
		if p.ImportPath != "engine/native" {
			args = append(args, module+p.ImportPath)
		}
	}
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
