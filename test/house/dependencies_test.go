package house

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// docs/dependencies.md says of every module that weir requires what for, and of no other.
func TestDependenciesAreExplained(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	required := map[string]bool{}
	for line := range strings.Lines(read("go.mod")) {
		if m := regexp.MustCompile(`^\t(\S+) v\S+$`).FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			required[m[1]] = true
		}
	}
	if len(required) < 20 {
		t.Fatalf("go.mod requires only %d modules", len(required))
	}
	for row := range strings.Lines(read("docs/dependencies.md")) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|")
		if !strings.HasPrefix(row, "| `") {
			continue
		}
		module := strings.Trim(cells[0], " `")
		if !required[module] {
			t.Errorf("%s is explained, and not required or explained twice", module)
		}
		delete(required, module)
		for _, cell := range cells {
			if len(cells) != 4 || strings.TrimSpace(cell) == "" {
				t.Errorf("the row of %s is not complete", module)
			}
		}
	}
	for module := range required {
		t.Errorf("docs/dependencies.md does not explain %s", module)
	}
}
