package phase

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a function here skips, .ci/run and make rest run; only make rest tries everything.
func TestNothingIsSkippedInEveryPhase(t *testing.T) {
	if Short() || Race {
		t.Skip("one of the phases that skip")
	}
	for _, phase := range []string{"each", "whole"} {
		for name, skips := range map[string]func(testing.TB){
			"Long": Long, "Rest": Rest, "NotUnderRace": NotUnderRace,
		} {
			t.Run(phase+" "+name, func(t *testing.T) {
				t.Setenv(lab, phase)
				t.Cleanup(func() {
					if t.Skipped() {
						t.Errorf("%s skips", name)
					}
				})
				skips(t)
			})
		}
	}
	for value, want := range map[string]bool{"": false, "each": false, "whole": true, "all": true, "required": true} {
		t.Run("whole "+value, func(t *testing.T) {
			t.Setenv(lab, value)
			if Whole() != want {
				t.Errorf("WEIR_LAB=%s: %v", value, !want)
			}
		})
	}
}

// No test asks for -short by itself.
func TestPhasesAreChosenInOnePlace(t *testing.T) {
	for _, name := range lines(t, "git", "ls-files", "*.go") {
		if strings.HasPrefix(name, "test/phase/") {
			continue
		}
		text, err := os.ReadFile("../../" + name)
		if os.IsNotExist(err) {
			continue // removed, and not committed yet
		} else if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "testing.Short()") {
			t.Errorf("%s asks for -short by itself; package test/phase says why a test is skipped", name)
		}
	}
}

// make test and make rest run the tests of every package, and the race detector those of the packages that
// start goroutines: none chooses tests by name.
func TestEveryTestRuns(t *testing.T) {
	all := lines(t, "go", "list", "./...")
	concurrent := lines(t, "go", append([]string{"list"}, lines(t, "scripts/concurrent")...)...)
	if len(concurrent) < 20 {
		t.Errorf("only %v are concurrent", concurrent)
	}
	for target, packages := range map[string][]string{"test": all, "rest": all, "race": concurrent} {
		tested := map[string]bool{}
		for _, command := range lines(t, "make", "-n", target) {
			_, args, found := strings.Cut(command, "go test ")
			if !found || strings.Contains(args, "-race") != (target == "race") {
				continue
			}
			if chosen := regexp.MustCompile(`-(short|run|skip)\b`).FindString(args); chosen != "" {
				t.Errorf("make %s leaves out tests by %s: %s", target, chosen, command)
			}
			for word := range strings.FieldsSeq(args) {
				tested[strings.Replace(word, "./", "github.com/weir-bench/weir/", 1)] = true
			}
		}
		for _, p := range packages {
			if !tested[p] {
				t.Errorf("make %s does not run the tests of %s", target, p)
			}
		}
	}
}

// No file of tests is left out by its build tags or by where it is.
func TestEveryFileOfTestsIsBuilt(t *testing.T) {
	const files = `{{$d := .Dir}}{{range .TestGoFiles}}{{$d}}/{{.}}
{{end}}{{range .XTestGoFiles}}{{$d}}/{{.}}
{{end}}`
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	built := lines(t, "go", "list", "-tags", "weirtest", "-f", files, "./...")
	tests := regexp.MustCompile(`(?m)^func (Test|Fuzz|Example)`)
	for _, name := range lines(t, "git", "ls-files", "*_test.go") {
		text, err := os.ReadFile(filepath.Join(top, name))
		if os.IsNotExist(err) {
			continue // removed, and not committed yet
		} else if err != nil {
			t.Fatal(err)
		}
		if tests.Match(text) && !slices.Contains(built, filepath.Join(top, name)) {
			t.Errorf("%s is built in no run of the tests", name)
		}
	}
}

// lines are those that a command prints which is run in the top directory of the module.
func lines(t *testing.T, name string, args ...string) []string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = "../..", append(os.Environ(), "MAKEFLAGS=", "GOFLAGS=") // of the make that runs the tests
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}
