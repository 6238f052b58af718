package docs

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/golden"
	"github.com/weir-bench/weir/workload"
	_ "github.com/weir-bench/weir/workload/kinds"
)

// Every file is in the index, and what the index names is there.
func TestIndexIsComplete(t *testing.T) {
	listed := []string{"README.md"}
	seen := map[string]bool{}
	for _, g := range Index {
		for _, p := range g.Pages {
			if seen[p.Name] {
				t.Errorf("two pages are called %s", p.Name)
			}
			seen[p.Name] = true
			if p.File == "" {
				continue
			}
			listed = append(listed, p.File)
			if _, err := p.Text(); err != nil {
				t.Error(err)
			}
		}
	}
	err := fs.WalkDir(files, ".", func(file string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && !slices.Contains(listed, file) {
			t.Errorf("docs/%s is not in Index of docs/docs.go", file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A page about the language is found by its name, and by "language NAME".
func TestSectionsOfTheLanguageAreFound(t *testing.T) {
	for name, file := range map[string]string{
		"language": "language.md", "axes": "language/axes.md", "language axes": "language/axes.md",
		"language services": "services.md", "language transfer": "",
	} {
		if p, ok := Lookup(name); p.File != file || ok != (file != "") {
			t.Errorf("%s is %+v, %v", name, p, ok)
		}
	}
}

// The page of reasons lists all kinds, in groups.
func TestPageOfReasons(t *testing.T) {
	var b strings.Builder
	for i, g := range results.ReasonGroups {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "### %s\n\n", g.Title)
		for _, k := range g.Kinds {
			fmt.Fprintf(&b, "- `%s`: %s", k.Kind, k.Meaning)
			if k.Remedy != "" {
				fmt.Fprintf(&b, " **To do:** %s", k.Remedy)
			}
			b.WriteByte('\n')
		}
	}
	golden.After(t, "reasons.md", "## Kinds\n\n", Fill(b.String(), 100))
}

// The page of commands has the exit codes.
func TestPageOfExitCodes(t *testing.T) {
	var b strings.Builder
	for _, c := range gate.ExitCodes {
		fmt.Fprintf(&b, "- **%d**: %s\n", c.Code, c.Meaning)
	}
	golden.After(t, "commands.md", "## Exit codes\n\n", Fill(b.String(), 100))
}

// The page of statistics is made of those beside the code, with tables that its tests write.
func TestPageOfStatistics(t *testing.T) {
	var page []byte
	for _, file := range []string{"../gate/statistics.md", "../history/statistics.md"} {
		part, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		page = append(page, part...)
	}
	golden.Equal(t, "statistics.md", page)
}

func TestEveryWorkloadHasAPage(t *testing.T) {
	for _, k := range workload.Kinds() {
		if p, ok := Lookup(k.Name); !ok || p.File != "workloads/"+k.Name+".md" {
			t.Errorf("docs/workloads/%s.md is not there, or not in Index of docs/docs.go", k.Name)
		}
	}
}

func TestIndexOnGitHubIsTheSame(t *testing.T) {
	golden.After(t, "README.md", "<!-- from here on made of docs/docs.go: make golden -->\n", Markdown())
}

// Pages fit the width, code stays as it is, and no word is lost.
func TestWrap(t *testing.T) {
	const text = "# A title\n\nA paragraph that\nhas ([two](speed.md)) lines and [a place](https://a.b/c).\n\n" +
		"- an entry of a list that is long\n- [speed.md](speed.md)\n\nThen:\n\n    code  that  stays as it is, however long it may be\n\n" +
		"```sh\nweir run   a.yaml --only 'a[b=1]' --report html\n```\n\n| a | n |\n|---|---:|\n| `x\\|y` | 7 |\n| [two](speed.md) | 19 |\n"
	const want = "# A title\n\nA paragraph that has (two,\n`weir docs speed`) lines and a\nplace (https://a.b/c).\n\n" +
		"- an entry of a list that is\n  long\n- `weir docs speed`\n\nThen:\n\n    code  that  stays as it is, however long it may be\n\n" +
		"```sh\nweir run   a.yaml --only 'a[b=1]' --report html\n```\n\n" +
		"a                         n\n───────────────────────────\n`x|y`                     7\n" +
		"two (`weir docs speed`)  19\n"
	if got := Wrap(text, 31); got != want {
		t.Errorf("got\n%s", got)
	}
}

// Lines of files have 100 columns at most, but for tables, code and words that are longer.
func TestLinesOfPagesAreShort(t *testing.T) {
	err := fs.WalkDir(files, ".", func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || file == "licences.md" { // has texts of others
			return err
		}
		text, err := fs.ReadFile(files, file)
		if got := Fill(string(text), 100); got != string(text) {
			before, after := strings.Split(string(text), "\n"), strings.Split(got, "\n")
			for i, line := range before {
				if i < len(after) && line != after[i] && utf8.RuneCountInString(line) > 100 {
					t.Errorf("%s:%d: %d columns: %s", file, i+1, utf8.RuneCountInString(line), line)
					break
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A table that is wider than the terminal becomes a list.
func TestWideTablesBecomeLists(t *testing.T) {
	const text = "| what | means | |\n|---|---|---|\n| one | a text of several words | x |\n| two | | |\n"
	const want = "- one\n  means: a text of\n    several words\n  x\n- two\n"
	if got := Wrap(text, 20); got != want {
		t.Errorf("got\n%s", got)
	}
	if got := Fill(text, 20); got != text {
		t.Errorf("got\n%s", got)
	}
}

func TestPagesFitTheirWidth(t *testing.T) {
	for _, g := range Index {
		for _, p := range g.Pages {
			if p.File == "" {
				continue
			}
			text, err := p.Text()
			if err != nil {
				t.Fatal(err)
			}
			code := false
			for line := range strings.Lines(Wrap(text, 100)) {
				line = strings.TrimSuffix(line, "\n")
				if strings.HasPrefix(strings.TrimSpace(line), "```") {
					code = !code
				}
				if n := utf8.RuneCountInString(line); n > 100 && !code && !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "#") &&
					strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("%s: %d columns: %s", p.File, n, line)
				}
			}
		}
	}
}
