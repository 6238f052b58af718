package jsonschema_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/yamlsyntax"
)

// source is a text in YAML that may be a scenario, with the files that it may name.
type source struct {
	name  string
	text  []byte
	files map[string][]byte // by the path that it gives; nil: those of the disk
}

var fenced = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// sources returns the scenarios of the repository: files, those within scripts, and parts of pages.
func sources(t *testing.T) (all []source) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2 {
				return filepath.SkipDir
			}
			return err
		}
		switch filepath.Ext(path) {
		case ".yaml", ".yml", ".md", ".txtar", ".txt":
		default:
			return nil
		}
		if filepath.Base(path) == "plan_timeout.txtar" { // its scenario is evaluated for minutes
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch filepath.Ext(path) {
		case ".yaml", ".yml":
			all = append(all, source{name: path, text: text})
		case ".md":
			files := map[string][]byte{}
			for _, m := range fenced.FindAllSubmatch(text, -1) {
				first, _, _ := bytes.Cut(m[1], []byte("\n"))
				files[strings.TrimPrefix(string(first), "# ")] = m[1]
			}
			for _, m := range fenced.FindAllSubmatch(text, -1) {
				all = append(all, source{path, m[1], files})
			}
		default:
			files := map[string][]byte{}
			for _, f := range txtar.Parse(text).Files {
				files[f.Name] = f.Data
			}
			for name, data := range files {
				if strings.HasSuffix(name, ".yaml") {
					all = append(all, source{path + "/" + name, data, files})
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Whatever the loader accepts, the schema accepts: an editor must not complain about a scenario that runs.
func TestWhatLoadsIsAccepted(t *testing.T) {
	s := compiled(t)
	loaded := 0
	for _, src := range sources(t) {
		o := dsl.Options{Env: func(string) (string, bool) { return "x", true }}
		if src.files != nil {
			o.Read = func(path string) ([]byte, error) {
				if b, ok := src.files[filepath.ToSlash(filepath.Clean(path))]; ok {
					return b, nil
				}
				return nil, errors.New("no such file")
			}
		}
		name := src.name
		if src.files != nil {
			name = "x.yaml"
		}
		if _, _, diags := dsl.Load(name, src.text, o); diags.HasErrors() {
			continue
		}
		root, diags := yamlsyntax.ParseTree(src.text, name)
		if diags.HasErrors() {
			continue
		}
		loaded++
		if err := s.Validate(value(root)); err != nil {
			t.Errorf("%s: %v\n%s", src.name, err, src.text)
		}
	}
	if loaded < 200 {
		t.Errorf("only %d scenarios", loaded)
	}
	t.Logf("%d scenarios", loaded)
}
