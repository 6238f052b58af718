package pages

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-bench/weir/test/lab"
	"github.com/weir-bench/weir/test/phase"
)

const root = "../.."

var home string // has the program under test

func TestMain(m *testing.M) {
	lab.UnsetTuningVariables()
	os.Setenv("WEIR_DISTURBED", "keep") // the machine that runs tests is never quiet
	var err error
	if home, err = os.MkdirTemp("", "pages"); err != nil {
		panic(err)
	}
	os.Setenv("PATH", home+string(filepath.ListSeparator)+os.Getenv("PATH"))
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

var build = sync.OnceValue(func() error {
	build := exec.Command("go", "build", "-o", filepath.Join(home, "weir"), "github.com/weir-bench/weir/cmd/weir")
	out, err := build.CombinedOutput()
	if err != nil {
		return fmt.Errorf("building weir: %w\n%s", err, out)
	}
	return nil
})

func TestPages(t *testing.T) {
	phase.NotUnderRace(t)
	if err := build(); err != nil {
		t.Fatal(err)
	}
	for _, file := range pageFiles(t) {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			execute(t, file)
		})
	}
}

// pageFiles are README.md and all pages below docs.
func pageFiles(t *testing.T) []string {
	t.Helper()
	files := []string{"README.md"}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			f, err := filepath.Rel(root, f)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, filepath.ToSlash(f))
		}
	}
	return files
}

func pageText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func execute(t *testing.T, file string) {
	dir := directory(t, strings.TrimSuffix(filepath.Base(file), ".md"))
	all := blocks(pageText(t, file))
	var scenarios []string
	for i, b := range all {
		name := b.file()
		if name == "" && b.scenario() {
			name = fmt.Sprintf("block-%d.%s", i+1, b.language)
		}
		if name == "" {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if b.scenario() {
			scenarios = append(scenarios, name)
		}
	}
	if len(scenarios) > 0 {
		if out, err := run(t, dir, "weir validate "+strings.Join(scenarios, " ")); err != nil {
			t.Errorf("%s: scenarios that are none: %v\n%s", file, err, out)
		}
	}
	for _, b := range all {
		switch {
		case b.language == "sh":
			for _, words := range commandLines(b.text) {
				if err := known(words); err != nil {
					t.Errorf("%s:%d: %s: %v", file, b.line, strings.Join(words, " "), err)
				}
			}
		case b.language == "console" && !phase.Short():
			console(t, file, dir, b)
		}
	}
}

// directory is where the page's commands are run: as the root of a checkout, with weir's examples.
func directory(t *testing.T, page string) string {
	t.Helper()
	dir := t.TempDir()
	examples, err := filepath.Abs(filepath.Join(root, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(examples, filepath.Join(dir, "examples")); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join("testdata", page)
	if _, err := os.Stat(own); err == nil {
		if err := os.CopyFS(dir, os.DirFS(own)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func console(t *testing.T, file, dir string, b block) {
	for _, s := range steps(b) {
		out, err := run(t, dir, s.command)
		if err != nil {
			t.Errorf("%s:%d: $ %s: %v\n%s", file, s.line, s.command, err, out)
			continue
		}
		if lines := missing(s.prints, out); len(lines) > 0 {
			t.Errorf("%s:%d: $ %s\ndoes not print, in this order\n%s\nbut\n%s", file, s.line, s.command,
				strings.Join(lines, "\n"), out)
		}
	}
}

func run(t *testing.T, dir, command string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-o", "pipefail", "-c", command)
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var (
	separator  = regexp.MustCompile(`&&|\|\||[;|]`)
	assignment = regexp.MustCompile(`^\w+=`)
	word       = regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`)
	comment    = regexp.MustCompile(`(^|\s)#.*`)
)

// commandLines are those of weir in a script, as words.
func commandLines(script string) (all [][]string) {
	for line := range strings.Lines(strings.ReplaceAll(script, "\\\n", " ")) {
		for _, part := range separator.Split(comment.ReplaceAllString(strings.TrimSpace(line), ""), -1) {
			words := word.FindAllString(part, -1)
			for i, w := range words {
				words[i] = strings.Trim(w, `'"`)
			}
			first := slices.IndexFunc(words, func(w string) bool { return !assignment.MatchString(w) })
			if first >= 0 && (words[first] == "weir" || strings.HasSuffix(words[first], "/weir")) {
				all = append(all, append([]string{"weir"}, words[first+1:]...))
			}
		}
	}
	return all
}

// known is an error if weir has no such command, or the command no such flag.
func known(words []string) error {
	command := []string{"weir"}
	text, err := help(command)
	if err != nil {
		return err
	}
	inner := true // the next word may be a command of the last one
	for _, w := range words[1:] {
		flag, isFlag := strings.CutPrefix(w, "--")
		switch {
		case w == "--":
			return nil
		case isFlag:
			flag, _, _ = strings.Cut(flag, "=")
			if !regexp.MustCompile(`(?m)^ +(-\w, )?--` + regexp.QuoteMeta(flag) + `\b`).MatchString(text) {
				return fmt.Errorf("%s has no flag --%s", strings.Join(command, " "), flag)
			}
		case len(w) > 1 && w[0] == '-':
			if !strings.Contains(text, "\n  "+w[:2]+",") {
				return fmt.Errorf("%s has no flag %s", strings.Join(command, " "), w)
			}
		case inner:
			if !regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(w) + ` `).MatchString(commandsOf(text)) {
				if len(command) == 1 {
					return fmt.Errorf("weir has no command %s", w)
				}
				inner = false
				continue
			}
			command = append(command, w)
			if text, err = help(command); err != nil {
				return err
			}
		}
	}
	return nil
}

// commandsOf is the part of a help that lists commands, in groups.
func commandsOf(text string) string {
	_, list, _ := strings.Cut(text, "\nUsage:\n")
	list, _, _ = strings.Cut(list, "\nFlags:\n")
	return list
}

var helps sync.Map

func help(command []string) (string, error) {
	line := strings.Join(command, " ")
	if text, ok := helps.Load(line); ok {
		return text.(string), nil
	}
	out, err := exec.Command(command[0], append(slices.Clone(command[1:]), "--help")...).Output()
	helps.Store(line, string(out))
	return string(out), err
}

func TestWrongCommandLinesAreFound(t *testing.T) {
	if err := build(); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"weir run a.yaml --launches 3 --report html=x": "",
		"weir cluster status --etcd x":                 "",
		"weir docs metrics x":                          "",
		"weir rnu a.yaml":                              "no command",
		"weir run a.yaml --lunches 3":                  "no flag --lunches",
		"weir cluster status --launches 3":             "no flag",
	} {
		err := known(strings.Fields(line))
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}
