package house

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// docs/licences.md has the modules that weir is linked with, in their versions, each with a licence.
func TestLicencesAreListed(t *testing.T) {
	text, err := os.ReadFile("docs/licences.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	row := regexp.MustCompile(`(?m)^\| \[([^]]+)\]\([^)]+\) \| (\S+) \| ([\w. -]+) \|$`)
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		if listed[m[1]] = m[2]; strings.TrimSpace(m[3]) == "" {
			t.Errorf("%s has no licence", m[1])
		}
	}
	cmd := exec.Command("go", "list", "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "./cmd/weir")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		name, version, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || linked[name] {
			continue
		}
		linked[name] = true
		if listed[name] != version {
			t.Errorf("%s is %s, listed is %q: run scripts/licences", name, version, listed[name])
		}
	}
	for name := range listed {
		if !linked[name] {
			t.Errorf("weir is not linked with %s: run scripts/licences", name)
		}
	}
	if len(linked) < 20 {
		t.Errorf("weir is linked with %d modules", len(linked))
	}
}
