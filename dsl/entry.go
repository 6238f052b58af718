// Entry points: Load and LoadFile, reading of files, and syntax errors.

package dsl

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/weir-bench/weir/dsl/deadline"
	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/internal/yamlsyntax"

	_ "github.com/weir-bench/weir/workload/kinds" // the workloads that scenarios may name
)

// Options of a load.
type Options struct {
	Vars map[string]string // values given on the command line, raw text
	// VarsAt are the lines of files that gave variables, by name, and VarFiles the contents of these files.
	VarsAt   map[string]hcl.Range
	VarFiles map[string][]byte
	Env      func(string) (string, bool)       // environment lookup for env.NAME; nil: os.LookupEnv
	Read     func(path string) ([]byte, error) // reads included files, references and matrices; nil: the file system
	// References are expected values for files that use references but have none; nil: there are
	// none.
	References *References
	// Links are the nominal bandwidths of the links of a site in GB/s, by name.
	Links map[string]float64
	// Today is the current day as 2006-01-31, for warnings about expired dates; "": no warnings.
	Today string
	// Deadline is when reading and planning must be over; nil: never.
	Deadline *deadline.Deadline
}

// References is a file of expected values given by the command line.
type References struct {
	File string
	At   hcl.Range // where it was named
}

// Sources are the files of diagnostics, by name.
type Sources map[string]*hcl.File

// maxFile bounds a file that is read. A dense matrix of 1024 ranks has about 8 MB.
const maxFile = 64 << 20

// These limits keep hostile input from exhausting the recursive parsers.
const (
	maxSource  = 256 << 10
	maxNesting = 200
	maxUnary   = 1000 // operators in a row; more than a ruler of dashes in a comment has
)

// LoadFile reads a scenario from a file.
func LoadFile(path string, o Options) (*Scenario, Sources, hcl.Diagnostics) {
	if o.Read == nil {
		o.Read = readFile
	}
	src, err := o.Read(path)
	if err != nil {
		return nil, Sources{}, hcl.Diagnostics{
			{Severity: hcl.DiagError, Summary: "Cannot read the scenario", Detail: readErrorText(path, err)},
		}
	}
	return Load(path, src, o)
}

func readFile(path string) ([]byte, error) { return bounded.ReadFile(path, maxFile) }

// Load reads a scenario from src, with the files that it includes. The extension of path selects
// the syntax: .yaml, .yml or .hcl. Load returns a nil Scenario if there are errors; Sources are
// always set. It checks names, types and units. Package planner checks the rest: cycles, the number
// of cases, and combinations of options.
func Load(path string, src []byte, o Options) (*Scenario, Sources, hcl.Diagnostics) {
	g := newLoading(path, o)
	from := map[string]*given{}
	for name, text := range o.Vars {
		from[name] = &given{name: name, text: text, at: o.VarsAt[name]}
	}
	m := g.module(path, src, from, "", nil)
	for _, path := range slices.Sorted(maps.Keys(o.VarFiles)) {
		g.addFile(path, &hcl.File{Bytes: o.VarFiles[path], Body: hcl.EmptyBody()})
	}
	if m == nil || g.diags.HasErrors() {
		return nil, g.sources, inOrder(g.diags, g.files)
	}
	g.distinctCommands(m.Scenario)
	diags := inOrder(g.diags, g.files)
	if diags.HasErrors() {
		return nil, g.sources, diags
	}
	m.Scenario.Deadline, m.Scenario.Links = o.Deadline, o.Links
	return m.Scenario, g.sources, diags
}

// loading is the state that the files of one load share.
type loading struct {
	options Options
	main    string
	sources Sources
	files   []string // in the order in which they were met
	open    []string // the files being included at the moment, outermost first
	expired bool     // the deadline has passed, which is reported
	diags   hcl.Diagnostics

	own      map[string]*ownCell // of matrices that have one, by their canonical text
	matrices map[string]any      // canonical texts of matrix files, by path; nil: the file is wrong
	texts    map[string]string   // of other files, by path
}

func newLoading(path string, o Options) *loading {
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	if o.Read == nil {
		o.Read = readFile
	}
	return &loading{options: o, main: path, sources: Sources{}, matrices: map[string]any{},
		texts: map[string]string{}, own: map[string]*ownCell{}}
}

func (g *loading) addFile(path string, file *hcl.File) {
	g.sources[path] = file
	g.files = append(g.files, path)
}

// module reads one file with its includes. It returns nil if the file cannot be decoded. by is the
// include that names it, nil for the main file.
func (g *loading) module(path string, src []byte, from map[string]*given, prefix string, by *included) *module {
	if len(src) > maxSource {
		d := &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "File too large",
			Detail: fmt.Sprintf("%s has more than %d bytes, the limit for a scenario.", path,
				maxSource),
		}
		if by != nil {
			d.Subject = by.at.Ptr()
		}
		g.diags = append(g.diags, d)
		return nil
	}
	file, diags := parse(path, src)
	for _, d := range diags {
		if d.Subject == nil && by != nil {
			d.Subject = by.at.Ptr()
		}
	}
	l := newLoader(g, path, src, diags, &evaluator{env: g.options.Env, functions: functions})
	l.prefix = prefix
	for _, d := range diags {
		if d.Subject != nil && d.Subject.Start.Column == 1 && d.Summary == "Duplicate key" {
			l.places.add(*d.Subject, "") // it ends the section above it
		}
	}
	defer func() { g.diags = append(g.diags, l.diags...) }()
	file.Nav = l.places
	g.addFile(path, file)
	// A broken HCL tree lacks what the parser skipped, and errors about that would hide the cause.
	// A broken YAML tree is complete or absent.
	if diags.HasErrors() && (isHCL(path) || len(l.rootBlocks(file.Body)) == 0) {
		return nil
	}
	g.open = append(g.open, filepath.Clean(path))
	defer func() { g.open = g.open[:len(g.open)-1] }()
	return l.scenario(file.Body, from)
}

// NotYAML is the summary of the error about HCL that is read as YAML.
const NotYAML = "Not YAML"

func isHCL(path string) bool { return strings.EqualFold(filepath.Ext(path), ".hcl") }

func parse(path string, src []byte) (*hcl.File, hcl.Diagnostics) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml":
		file, diags := yamlsyntax.Parse(src, path, "scenario")
		for _, d := range diags {
			d.Detail = strings.Replace(d.Detail, "but found the end of the file", "but found the end of the text", 1)
			if d.Summary == "Not a mapping" && blockOfScenario().Match(src) {
				d.Summary, d.Detail = NotYAML, "This is HCL, but is read as YAML."
				d.Extra = Hint("Rename the file to .hcl.")
			}
		}
		return file, explainTemplates(explainInvisible(diags, src))
	case ".hcl":
		if d := nestingError(path, src); d != nil {
			return &hcl.File{Bytes: src, Body: hcl.EmptyBody()}, hcl.Diagnostics{d}
		}
		file, diags := hclsyntax.ParseConfig(src, path, hcl.InitialPos)
		diags = untilUnclosed(diags)
		for _, d := range diags {
			if d.Subject != nil && bytes.HasPrefix(src[d.Subject.Start.Byte:], []byte("env.")) {
				d.Extra = Hint(`Quote a name with a dot, and write the sweep with an equals sign: sweep = { "env.NAME" = […] }.`)
			}
		}
		return file, append(explainTemplates(explainHCL(diags, src)), writtenNumbers(file)...)
	}
	return &hcl.File{Bytes: src, Body: hcl.EmptyBody()}, hcl.Diagnostics{{
		Severity: hcl.DiagError, Summary: "Unknown kind of file",
		Detail: fmt.Sprintf("%s has none of the extensions .yaml, .yml and .hcl.", path),
	}}
}

// readErrorText says why a file cannot be read.
func readErrorText(path string, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text := fmt.Sprintf("The file %s does not exist.", path)
		if near := nearFile(path); near != "" {
			text += fmt.Sprintf(" Did you mean %q?", near)
		}
		return text
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("No permission to read %s.", path)
	}
	return err.Error()
}

// nearFile returns the file with the closest name in the folder of a path; "" if none is close.
func nearFile(path string) string {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return ""
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(1000) // a hint needs no more
	near := suggest.Nearest(filepath.Base(path), names)
	if near == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(path), near)
}

// cannotRead reports that a named file cannot be read, and where it was searched.
func (l *loader) cannotRead(at hcl.Range, summary, path string, err error) {
	detail, hint := cannotReadText(path, err)
	l.error(at, summary, detail, hint)
}

func cannotReadText(path string, err error) (detail, hint string) {
	hint = "Paths are relative to the file that names them."
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("There is no file %s.", filepath.Base(path)),
			fmt.Sprintf("It was looked for in %s. %s", folderText(path), hint)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("No permission to read %s.", path), hint
	case errors.Is(err, syscall.EISDIR):
		return fmt.Sprintf("%s is a folder, not a file.", path), hint
	}
	return sentence(err.Error()), hint
}

// folderText describes the folder of a path for people.
func folderText(path string) string {
	dir := filepath.Dir(path)
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	return dir
}

// explainTemplates adds a hint to texts with %{, which formats of other programs have.
func explainTemplates(diags hcl.Diagnostics) hcl.Diagnostics {
	for _, d := range diags {
		if d.Extra == nil && d.Summary == "Invalid template control keyword" {
			d.Extra = Hint("Write %%{ for the characters %{, as in curl -w '%%{time_total}'.")
		}
	}
	return diags
}

// nestingError limits the brackets and unary operators that are open at once.
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
			pos := hcl.Pos{
				Line: bytes.Count(src[:i], []byte("\n")) + 1, Column: utf8.RuneCount(src[start:i]) + 1, Byte: i,
			}
			return &hcl.Diagnostic{
				Severity: hcl.DiagError, Summary: "Nested too deeply",
				Detail:  fmt.Sprintf("More than %d brackets or %d operators are open here.", maxNesting, maxUnary),
				Subject: &hcl.Range{Filename: path, Start: pos, End: pos},
			}
		}
	}
	return nil
}
