package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What docs/threat-model.md promises is proven by tests that there are.
func TestTheThreatModelNamesTestsThatThereAre(t *testing.T) {
	text, err := os.ReadFile("docs/threat-model.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	if err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range function.FindAllStringSubmatch(string(source), -1) {
			there[m[1]] = true
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(string(text), -1)
	for _, m := range named {
		if !there[m[1]] {
			t.Errorf("docs/threat-model.md names %s, which there is not", m[1])
		}
	}
	if len(named) < 20 {
		t.Errorf("docs/threat-model.md names %d tests", len(named))
	}
	rows := 0
	for row := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|")
		if !strings.HasPrefix(row, "|") || strings.Contains(row, "---") || strings.HasPrefix(row, "| sentence") {
			continue
		}
		if rows++; len(cells) != 2 || !strings.Contains(cells[1], "`") {
			t.Errorf("no test proves %s", row)
		}
	}
	if rows < 20 {
		t.Errorf("docs/threat-model.md has %d sentences with tests", rows)
	}
}
