package faults

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestStatedOutcomesHaveTheirTests: the table of faults names tests that there are, and all
// that are here.
func TestStatedOutcomesHaveTheirTests(t *testing.T) {
	const top = "../.."
	text, err := os.ReadFile(filepath.Join(top, "docs", "faults.md"))
	if err != nil {
		t.Fatal(err)
	}
	stated := map[string]bool{}
	for _, m := range regexp.MustCompile("`(Test[A-Za-z]+)`(?: in `([^`]+)`)?").FindAllStringSubmatch(string(text),
		-1) {
		dir := m[2]
		if dir == "" {
			dir, stated[m[1]] = "test/faults", true
		}
		if !strings.Contains(testsIn(t, filepath.Join(top, dir)), "func "+m[1]+"(") {
			t.Errorf("%s has no %s", dir, m[1])
		}
	}
	own := testsIn(t, ".")
	for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing.T\) \{\n\tw := small`).FindAllStringSubmatch(
		own, -1) {
		if !stated[m[1]] && m[1] != "TestLeftoversAreFound" {
			t.Errorf("docs/faults.md does not state %s", m[1])
		}
	}
}

// testsIn is the text of a folder's tests.
func testsIn(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
