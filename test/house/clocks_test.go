package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ofTheDay are fields that hold a time of day: it can be set while a session runs, and
// hosts differ in it.
var ofTheDay = []string{"Started", "Finished", "Time"}

// mayRead are the files that may make a duration of such times, or keep a time without its monotonic reading.
var mayRead = map[string]string{
	"cmd/weir/import_results.go":         "when a file of another tool was written",
	"cmd/weir/input/input.go":            "the day, for waivers",
	"cmd/weir/cluster/init.go":           "until when certificates are valid",
	"cmd/weir/cluster/status.go":         "since when an agent is there",
	"cmd/weir/screen/warnings.go":        "events of a session have one steady clock",
	"cmd/weir/stored/name.go":            "the name of a session",
	"executor/control/registry/about.go": "since when an agent is there",
	"executor/ledger/verdicts.go":        "both ends of a session are of one steady clock",
	"internal/steady/steady.go":          "the steady clock",
}

// TestNoDurationOfTheTimeOfDay: whatever is measured, waited for or judged goes by clocks
// that nobody sets.
func TestNoDurationOfTheTimeOfDay(t *testing.T) {
	found := map[string]bool{}
	for _, room := range []string{"executor", "engine", "workload", "internal", "cmd"} {
		err := filepath.WalkDir(room, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			switch filepath.Ext(path) {
			case ".c", ".h":
				text, err := os.ReadFile(path)
				for _, name := range []string{"CLOCK_REALTIME", "gettimeofday", "time(NULL)", "TIME_UTC"} {
					if strings.Contains(string(text), name) {
						t.Errorf("%s reads the time of day: %s", path, name)
					}
				}
				return err
			case ".go":
				if !strings.HasSuffix(path, "_test.go") {
					for _, at := range durations(t, path) {
						found[path] = true
						if mayRead[path] == "" {
							t.Errorf("%s depends on the time of day, which may be set", at)
						}
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for path := range mayRead {
		if !found[path] {
			t.Errorf("%s makes none any more: take it from the list", path)
		}
	}
}

// durations lists the places in a file where a duration comes from a time of day: from one of
// the fields, or from a clock reading without its monotonic part. A reading that loses it by UTC
// counts, too: it may be compared later.
func durations(t *testing.T, path string) (places []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		minus, ok := n.(*ast.BinaryExpr)
		if ok && minus.Op == token.SUB && (sinceEpoch(minus.X) || sinceEpoch(minus.Y)) {
			places = append(places, set.Position(minus.Pos()).String())
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if f.Sel.Name == "UTC" && len(call.Args) == 0 {
			places = append(places, set.Position(call.Pos()).String())
		}
		if len(call.Args) != 1 {
			return true
		}
		candidates := []ast.Expr{call.Args[0]}
		switch pkg, _ := f.X.(*ast.Ident); {
		case pkg != nil && pkg.Name == "time" && (f.Sel.Name == "Since" || f.Sel.Name == "Until"):
		case f.Sel.Name == "Sub":
			candidates = append(candidates, f.X)
		default:
			return true
		}
		if slices.ContainsFunc(candidates, timeOfDay) {
			places = append(places, set.Position(call.Pos()).String())
		}
		return true
	})
	return places
}

// sinceEpoch says whether an expression is a time in ns since 1970.
func sinceEpoch(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	return ok && f.Sel.Name == "UnixNano"
}

// timeOfDay says whether an expression is such a field, or one of them moved, or a time
// from which UTC, Round or Truncate has dropped the monotonic reading.
func timeOfDay(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return slices.Contains(ofTheDay, e.Sel.Name)
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.SelectorExpr); ok {
			return slices.Contains([]string{"UTC", "Local", "In", "Round", "Truncate", "Unix"}, f.Sel.Name) ||
				f.Sel.Name == "Add" && timeOfDay(f.X)
		}
	}
	return false
}

// TestDurationsOfTheTimeOfDayAreFound: the check can fail.
func TestDurationsOfTheTimeOfDayAreFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.go")
	text := `package x
func f() {
	_ = time.Since(r.Started)
	_ = time.Until(time.Now().UTC())
	_ = now.Sub(l.Started.Add(d))
	_ = s.Finished.Sub(begin)
	_ = time.Since(begin)
	_ = to.Sub(from)
	_ = strings.Sub(a, b.Started)
	_ = now.UnixNano() - stamp
	x := results.Launch{Started: begin.UTC()}
}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, at := range durations(t, path) {
		lines = append(lines, strings.Split(filepath.Base(at), ":")[1])
	}
	if got := strings.Join(lines, " "); got != "3 4 4 5 6 10 11" {
		t.Errorf("found in lines %s", got)
	}
}
