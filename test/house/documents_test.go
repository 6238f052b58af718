package house

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// bare are the documents in which each file name is one of the code, with the folder to which it is relative. Others
// name files of users too.
var bare = map[string]string{"ARCHITECTURE.md": "", "CONTRIBUTING.md": "", "docs/engine.md": "engine/native"}

var (
	quoted = regexp.MustCompile("`([^`\n]+)`")
	linked = regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)
	source = regexp.MustCompile(`^[\w./*-]+\.(go|c|h|cu|md|yaml)$`)
)

// Documents name files, packages and pages that exist.
func TestDocumentsNameWhatExists(t *testing.T) {
	folders := map[string]bool{}
	for _, p := range packages(t) {
		folders[strings.Split(p.ImportPath, "/")[0]] = true
	}
	for _, page := range tracked(t, "*.md") {
		if strings.Contains(page, "testdata/") || page == "CHANGELOG.md" {
			continue
		}
		base, code := bare[page]
		text := string(read(t, page))
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			name := m[1]
			isPackage := strings.Contains(name, "/") && folders[strings.Split(name, "/")[0]] &&
				!strings.ContainsAny(name, " :NAMEX{")
			if !isPackage && (!code || !source.MatchString(name)) {
				continue
			}
			found := false
			for _, dir := range []string{"", base} {
				all, err := filepath.Glob(filepath.Join(dir, name))
				found = found || err == nil && len(all) > 0
			}
			if !found && !strings.ContainsAny(name, "NX") {
				t.Errorf("%s names %s, which does not exist", page, name)
			}
		}
		for _, m := range linked.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(path.Join(path.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, m[1])
			}
		}
	}
}

// vendor are files of other projects that comments name.
var vendor = regexp.MustCompile(`^(nixl|nixl_capi|wrapper|cuda|stddef|stdlib|string|time|net|tcp_states|service|_test)\.(h|c|go|cu)$`)

// Comments name files that exist: a file is renamed in comments too.
func TestCommentsNameFilesThatExist(t *testing.T) {
	names := map[string]bool{}
	for _, p := range tracked(t, "*") {
		names[path.Base(p)] = true
	}
	comment := regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
	file := regexp.MustCompile(`[\w-]+\.(?:go|c|h|cu)\b`)
	for _, p := range tracked(t, "*.go", "*.c", "*.h", "*.cu") {
		if strings.Contains(p, "testdata/") || strings.HasSuffix(p, ".pb.go") {
			continue
		}
		for _, text := range comment.FindAllString(string(read(t, p)), -1) {
			for _, name := range file.FindAllString(text, -1) {
				if !names[name] && !vendor.MatchString(name) {
					t.Errorf("%s: a comment names %s, which does not exist", p, name)
				}
			}
		}
	}
}

// Pages, scenarios and the engine name the same versions of NIXL as those without its C API.
func TestNIXLWithoutItsCAPIHasOneVersion(t *testing.T) {
	found := map[string][]string{}
	search := regexp.MustCompile(`NIXL (0\.\d+) and older`)
	for _, path := range tracked(t, "*.c", "*.md", "*.yaml") {
		if path == "CHANGELOG.md" {
			continue
		}
		text := strings.Join(strings.Fields(string(read(t, path))), " ")
		text = strings.ReplaceAll(text, `" "`, "") // literals of C that follow each other
		for _, m := range search.FindAllStringSubmatch(text, -1) {
			found[m[1]] = append(found[m[1]], path)
		}
	}
	if len(found) != 1 {
		t.Errorf("not one version, but %v", found)
	}
}
