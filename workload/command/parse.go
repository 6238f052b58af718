package command

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"weir/placeholder"
	"weir/tooloutput"
	"weir/workload"
)

// Parse says what of the programs' output becomes metrics.
type Parse struct {
	Of     string     `json:"of,omitempty"` // "": nothing does
	Format string     `json:"format,omitempty"`
	File   string     `json:"file,omitempty"` // "": its standard output; a text of package placeholder
	Lines  string     `json:"lines,omitempty"`
	Paths  []Variable `json:"paths,omitempty"`
	Rows   string     `json:"rows,omitempty"` // the key that tells rows apart; "": there is one row
}

const (
	anyRole       = "any"
	nothingParsed = "{}"
	linesFormat   = "lines"
	jsonFormat    = "json"
)

// formats are the names of all formats.
func formats() []string {
	var all []string
	for _, f := range tooloutput.Formats() {
		all = append(all, f.Name)
	}
	return append(all, linesFormat, jsonFormat)
}

// canonicalParse checks option parse and writes it in one way.
func canonicalParse(text string) (string, error) {
	p, err := readParse(text)
	if err != nil {
		return "", err
	}
	var w writer
	w.text("of", p.Of)
	w.text("format", p.Format)
	w.text("file", p.File)
	w.text("lines", placeholder.Quote(p.Lines))
	paths := slices.Clone(p.Paths)
	slices.SortFunc(paths, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	for i := range paths {
		paths[i].Value = placeholder.Quote(paths[i].Value)
	}
	w.variables("paths", paths)
	w.text("rows", p.Rows)
	return w.mapping().JSON(), nil
}

func readParse(text string) (p Parse, err error) {
	s, err := workload.ReadStructure(text)
	if err != nil || s.Pairs != nil && len(s.Pairs) == 0 {
		return p, err
	}
	f := mapping(s, nil, "of", "format", "file", "lines", "paths", "rows")
	if f.err != nil {
		return p, f.err
	}
	p = Parse{
		Of: f.text("of"), Format: f.text("format"), File: f.late("file"), Lines: f.expression("lines"),
		Paths: f.pairs("paths", false), Rows: f.text("rows"),
	}
	if p.Format == "" && p.Lines != "" {
		p.Format = linesFormat
	}
	if p.Format == "" && p.Paths != nil {
		p.Format = jsonFormat
	}
	switch {
	case p.Of == "":
		f.fail(nil, "it does not say of which role the output is: add of: ROLE, or of: any")
	case p.Format == "":
		f.fail(nil, "it does not say what the output is: add format, lines or paths")
	case !slices.Contains(formats(), p.Format):
		f.fail([]string{"format"}, "there is no format %q; there are %s", p.Format, strings.Join(formats(), ", "))
	case (p.Format == linesFormat) != (p.Lines != ""):
		f.fail(nil, "lines, a regular expression, and format: lines belong together")
	case (p.Format == jsonFormat) != (p.Paths != nil):
		f.fail(nil, "paths, a path for each metric, and format: json belong together")
	}
	if f.err != nil {
		return p, f.err
	}
	format, err := p.format()
	switch {
	case p.Lines != "" && len(p.own()) == 0:
		f.fail([]string{"lines"}, "no metric is given: %s", unnamed(p.Lines))
	case err != nil && p.Lines != "":
		f.fail([]string{"lines"}, "%w", err)
	case err != nil:
		f.fail([]string{"paths"}, "%w", err)
	case p.Rows != "" && len(format.Keys) == 0:
		f.fail([]string{"rows"}, "an output of %s is one row, of which each case has all: leave rows out", p.Format)
	case p.Rows != "" && !slices.Contains(format.Keys, p.Rows):
		f.fail([]string{"rows"}, "rows of %s are told apart by %s, not by %q", p.Format,
			strings.Join(format.Keys, ", "), p.Rows)
	case format.File && p.File == "":
		f.fail(nil, "the tool writes %s into a file: say which by file", p.Format)
	}
	return p, f.err
}

// groupWord is what stands before a group, as bw in "bw=(".
var groupWord = regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_]*)[^A-Za-z0-9_()\\\[]*\(`)

// unnamed says what is missing in an expression without a group for a metric.
func unnamed(lines string) string {
	name := "NAME"
	if m := groupWord.FindStringSubmatch(lines); m != nil {
		name = m[1]
	}
	if regexp.MustCompile(lines).NumSubexp() > 0 {
		return fmt.Sprintf("name the group of its number after it, as (?<%s>…)", name)
	}
	return fmt.Sprintf("put its number into a group of its name, as (?<%s>…)", name)
}

// format reads the output.
func (p *Parse) format() (tooloutput.Format, error) {
	switch p.Format {
	case linesFormat:
		return tooloutput.Lines(p.Lines, p.keys(), p.measured())
	case jsonFormat:
		paths := map[string]string{}
		for _, v := range p.Paths {
			paths[v.Name] = v.Value
		}
		return tooloutput.JSON(paths, p.keys(), p.measured())
	}
	f, _ := tooloutput.Lookup(p.Format)
	return f, nil
}

// keys are what tells rows of an output apart that its run describes.
func (p *Parse) keys() []string {
	if p.Rows == "" {
		return nil
	}
	return []string{p.Rows}
}

// measured are the metrics of an output that its run describes.
func (p *Parse) measured() []tooloutput.Metric {
	var all []tooloutput.Metric
	for _, name := range p.own() {
		all = append(all, tooloutput.Metric{Name: name, Better: tooloutput.Neither})
	}
	return all
}

// own are the names of metrics that the run describes.
func (p *Parse) own() (names []string) {
	if p.Lines != "" {
		for _, name := range regexp.MustCompile(p.Lines).SubexpNames() { // which was read with it
			if name != "" && name != p.Rows && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, v := range p.Paths {
		if v.Name != p.Rows {
			names = append(names, v.Name)
		}
	}
	return names
}

// measures are the metrics of a run: of the format, or those that it declares, which must
// be those that it describes.
func measures(v workload.Values, declared []workload.Metric) ([]workload.Metric, error) {
	text, _ := Kind.Get(v)("parse").(string)
	p, err := readParse(text)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(Kind.Metrics)
	served, _ := Kind.Get(v)("services").(string)
	services, _ := Use(served) // which is reported where they are read
	observed, err := services.Metrics(slices.Concat(all, declared))
	if all = append(all, observed...); err != nil {
		return all, err
	}
	names := p.own()
	for _, name := range names {
		if !slices.ContainsFunc(declared, func(m workload.Metric) bool { return m.Name == name }) {
			all = append(all, workload.Metric{Name: name, Better: workload.Neither})
			err = fmt.Errorf("parse finds %q, which metrics does not declare: add metrics: {%s: {unit: …, better: …}}",
				name, name)
		}
	}
	if len(names) == 0 && p.Of != "" {
		f, err := p.format()
		if err != nil {
			return nil, err
		}
		for _, m := range f.Metrics {
			all = append(all, workload.Metric{
				Name: m.Name, Unit: m.Unit, Better: workload.Direction(m.Better), MayBeZero: m.MayBeZero, Doc: m.Doc,
			})
		}
	}
	for _, m := range declared {
		if !slices.Contains(names, m.Name) {
			err = fmt.Errorf("metrics declares %q, which parse does not find: it would never have a value", m.Name)
		}
		all = append(all, m)
	}
	return all, err
}
