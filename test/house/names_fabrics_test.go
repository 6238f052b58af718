package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weir-bench/weir/fabric"
)

// nameless are the packages that ask a fabric's value what it can do, and never its name.
var nameless = []string{"executor", "planner", "gate", "reporters", "results", "cmd"}

// otherNames are literals that are not the name of a fabric, with what they are.
var otherNames = map[string]string{
	"executor/launcher/kubernetes/settings.go: shm": "a volume of a pod",
}

func TestOnlyFabricsKnowTheirNames(t *testing.T) {
	used := map[string]bool{}
	for _, dir := range nameless {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			places, err := fabricNames(path, nil)
			for _, p := range places {
				key := path + ": " + p.name
				used[key] = true
				if otherNames[key] == "" {
					t.Errorf("%s:%d names fabric %s: ask package fabric instead", path, p.line, p.name)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for key := range otherNames {
		if !used[key] {
			t.Errorf("%s is there no more", key)
		}
	}
}

// A name is found wherever it stands, but not where it is a network of package net.
func TestFabricNamesAreFound(t *testing.T) {
	const src = `package p
var a = map[string]int{"ucx": 1}
func f(name string) bool { return name == "sim" || name == "simple" }
var _, _ = net.Listen("tcp", "x")
var _, _ = dialer.DialContext(ctx, "tcp", "x")
var _ = open("tcp", "x")
var _ = fabric.SimName
`
	places, err := fabricNames("p.go", src)
	if got := fmt.Sprint(places); err != nil || got != "[{ucx 2} {sim 3} {tcp 6} {sim 7}]" {
		t.Errorf("found %s, %v", got, err)
	}
}

type place struct {
	name string
	line int
}

// fabricNames are the string literals of a file that equal the name of a fabric.
func fabricNames(path string, src any) ([]place, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, src, 0)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, f := range fabric.All {
		known = append(known, f.Name)
	}
	networks := map[ast.Expr]bool{}
	var places []place
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok &&
				(strings.HasPrefix(s.Sel.Name, "Dial") || s.Sel.Name == "Listen") {
				for _, arg := range n.Args {
					networks[arg] = true
				}
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "fabric" && n.Sel.Name == "SimName" {
				places = append(places, place{fabric.SimName, set.Position(n.Pos()).Line})
			}
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			if n.Kind == token.STRING && err == nil && slices.Contains(known, text) && !networks[n] {
				places = append(places, place{text, set.Position(n.Pos()).Line})
			}
		}
		return true
	})
	return places, nil
}
