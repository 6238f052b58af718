package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/weir-bench/weir/workload"
	_ "github.com/weir-bench/weir/workload/kinds"
)

// plainWords are names of metrics or workloads that are also words of something else: by
// file, or "" where they are so common that nothing can be told from them.
var plainWords = map[string][]string{
	"":                          {"bytes", "requests"}, // units, and requests of clusters and models
	"test/lab/late.go":          {"late"},              // a network device
	"reporters/html_session.go": {"command"},           // the command line of the session
	"reporters/markdown.go":     {"command"},           // the same
	// a member of a container
	"executor/launcher/kubernetes/settings.go": {"command"},                       // a setting: the container's command
	"reporters/html_matrix.go":                 {"senders", "receivers", "total"}, // heads of the table of matrices
	"results/decode.go":                        {"bandwidth"},                     // a member of RankShare
}

// Packages that run, judge and report read definitions of metrics and ask no workload for
// its name. A workload's folder has its names, and nobody else.
func TestNobodyKnowsAWorkloadByName(t *testing.T) {
	names, families := map[string]bool{}, map[string]bool{}
	for _, k := range workload.Kinds() {
		names[k.Name] = true
		for _, m := range k.Metrics {
			names[m.Name] = true
			if family := m.Family(); family != "" {
				families[family+"."] = true
			}
		}
	}
	allowed := func(file, name string) bool {
		for _, of := range []string{"", file} {
			for _, word := range plainWords[of] {
				if word == name {
					return true
				}
			}
		}
		return false
	}
	for _, room := range []string{"executor", "planner", "gate", "reporters", "results", "cmd"} {
		err := filepath.WalkDir(room, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			for at, name := range literals(t, path) {
				if (names[name] || families[name]) && !allowed(filepath.ToSlash(path), name) {
					t.Errorf("%s: %q is a workload or a metric of one", at, name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// literals are the texts of a file by their places, but for what it imports.
func literals(t *testing.T, path string) map[string]string {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				out[files.Position(n.Pos()).String()] = text
			}
		}
		return true
	})
	return out
}
