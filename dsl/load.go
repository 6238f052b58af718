package dsl

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"weir/dsl/yamlsyntax"
)

// Options of a load.
type Options struct {
	Vars map[string]string           // values given on the command line, raw text
	Env  func(string) (string, bool) // environment lookup for env.NAME; nil: os.LookupEnv
}

// Sources are the files that diagnostics point into, by name.
type Sources map[string]*hcl.File

// maxSource and maxNesting keep hostile input from exhausting the parsers, which
// recurse.
const (
	maxSource  = 256 << 10
	maxNesting = 200
	maxUnary   = 1000 // operators in a row; a ruler of dashes in a comment is shorter
)

// LoadFile reads a scenario from a file.
func LoadFile(path string, o Options) (*Scenario, Sources, hcl.Diagnostics) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, Sources{}, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Cannot read the scenario", Detail: err.Error()}}
	}
	return Load(path, src, o)
}

// Load reads one scenario. The syntax is chosen by the extension: .yaml, .yml or
// .hcl. The scenario is nil if there are errors; sources never are. What
// the text says has been checked: names, types, units, and the value of every
// option at every point. What follows from it (cycles, the number of cases,
// options that do not go together) is the planner's to check.
func Load(path string, src []byte, o Options) (*Scenario, Sources, hcl.Diagnostics) {
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	if len(src) > maxSource {
		d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "File too large", Detail: fmt.Sprintf("%s has %d bytes; a scenario has at most %d.", path, len(src), maxSource)}
		return nil, Sources{}, hcl.Diagnostics{d}
	}
	file, diags := parse(path, src)
	l := &loader{file: path, src: src, yaml: !isHCL(path), diags: diags, places: &places{}}
	file.Nav = l.places
	sources := Sources{path: file}
	// A broken HCL tree lacks what the parser skipped: errors about that would
	// only hide the cause. A broken YAML tree is whole or absent.
	if diags.HasErrors() && (isHCL(path) || len(l.rootBlocks(file.Body)) == 0) {
		return nil, sources, inOrder(diags)
	}
	l.eval = &evaluator{env: o.Env, functions: functions}
	s := l.scenario(file.Body, o.Vars)
	if l.diags.HasErrors() {
		return nil, sources, inOrder(l.diags)
	}
	return s, sources, inOrder(l.diags)
}

func isHCL(path string) bool { return strings.EqualFold(filepath.Ext(path), ".hcl") }

func parse(path string, src []byte) (*hcl.File, hcl.Diagnostics) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml":
		return yamlsyntax.Parse(src, path, "scenario")
	case ".hcl":
		if d := nestingError(path, src); d != nil {
			return &hcl.File{Bytes: src, Body: hcl.EmptyBody()}, hcl.Diagnostics{d}
		}
		file, diags := hclsyntax.ParseConfig(src, path, hcl.InitialPos)
		for _, d := range diags {
			if d.Subject != nil && bytes.HasPrefix(src[d.Subject.Start.Byte:], []byte("env.")) {
				d.Extra = advice(`A name with a dot stands in quotes, in a sweep with an equals sign: sweep = { "env.NAME" = […] }.`)
			}
		}
		return file, diags
	}
	return &hcl.File{Bytes: src, Body: hcl.EmptyBody()}, hcl.Diagnostics{{
		Severity: hcl.DiagError, Summary: "Unknown kind of file",
		Detail: fmt.Sprintf("%s is read by its extension, which is .yaml, .yml or .hcl.", path),
	}}
}

// nestingError bounds the brackets and unary operators that are open at once.
func nestingError(path string, src []byte) *hcl.Diagnostic {
	open, unary := 0, 0
	for i, c := range src {
		switch c {
		case '(', '[', '{':
			open++
		case ')', ']', '}':
			open = max(open-1, 0)
		}
		switch c {
		case '!', '-':
			unary++
		case ' ', '\t', '\r', '\n':
		default:
			unary = 0
		}
		if open > maxNesting || unary > maxUnary {
			start := bytes.LastIndexByte(src[:i], '\n') + 1
			pos := hcl.Pos{Line: bytes.Count(src[:i], []byte("\n")) + 1, Column: utf8.RuneCount(src[start:i]) + 1, Byte: i}
			return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Nested too deeply", Detail: fmt.Sprintf("More than %d brackets or %d operators are open here.", maxNesting, maxUnary), Subject: &hcl.Range{Filename: path, Start: pos, End: pos}}
		}
	}
	return nil
}
