package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The types that most files of a package meet in stay small: what only some need belongs to a type of its own.
func TestHubsStaySmall(t *testing.T) {
	methods, members := 0, map[string]int{}
	for _, dir := range []string{"dsl", "workload", "internal/option"} {
		paths, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					if n.Recv == nil {
						break
					}
					if star, ok := n.Recv.List[0].Type.(*ast.StarExpr); ok {
						if name, ok := star.X.(*ast.Ident); ok && dir == "dsl" && name.Name == "loader" {
							methods++
						}
					}
				case *ast.TypeSpec:
					switch of := n.Type.(type) {
					case *ast.StructType:
						for _, f := range of.Fields.List {
							members[dir+"."+n.Name.Name] += max(1, len(f.Names))
						}
					case *ast.InterfaceType:
						members[dir+"."+n.Name.Name] += len(of.Methods.List)
					}
				}
				return true
			})
		}
	}
	if methods == 0 || methods > 90 {
		t.Errorf("dsl.loader has %d methods, of at most 90", methods)
	}
	contract := members["internal/option.Option"] + members["workload.Kind"] + members["workload.Behaviour"]
	if contract < 10 || contract > 36 {
		t.Errorf("a workload's contract has %d members, of at most 36: %v", contract, members)
	}
	header, err := os.ReadFile("engine/native/rank.h")
	if err != nil {
		t.Fatal(err)
	}
	body := regexp.MustCompile(`(?s)\nstruct weir_rank \{\n(.*?)\n\}`).FindSubmatch(header)
	if body == nil {
		t.Fatal("rank.h has no struct weir_rank")
	}
	code := regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(string(body[1]), "")
	if n := strings.Count(code, ";"); n < 10 || n > 25 {
		t.Errorf("struct weir_rank has %d members, of at most 25", n)
	}
}
