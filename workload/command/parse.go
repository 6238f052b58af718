package command

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/structure"
	"github.com/weir-bench/weir/interop/output"
	"github.com/weir-bench/weir/workload"
)

// Parse describes which parts of the programs' output become metrics.
type Parse struct {
	Of     string            `key:"of"` // "": no role's
	Format string            `key:"format"`
	File   string            `key:"file,late"` // "": standard output
	Lines  string            `key:"lines,regexp"`
	Paths  []structure.Named `key:"paths"`
	Rows   string            `key:"rows"` // the key that distinguishes rows; "": there is one row
}

const (
	anyRole       = "any"
	nothingParsed = "{}"
	linesFormat   = "lines"
	jsonFormat    = "json"
)

// formats returns the names of all formats.
func formats() []string { return append(output.Names(), linesFormat, jsonFormat) }

// canonicalParse validates option parse and formats it canonically.
func canonicalParse(text string) (string, error) {
	p, err := readParse(text)
	if err != nil {
		return "", err
	}
	slices.SortFunc(p.Paths, func(a, b structure.Named) int { return strings.Compare(a.Name, b.Name) })
	return texts.Encode(p, Parse{}).JSON(), nil
}

func readParse(text string) (p Parse, err error) {
	v, err := structure.Read(text)
	if err != nil || v.Pairs != nil && len(v.Pairs) == 0 {
		return p, err
	}
	err = texts.Decode(v, &p)
	return p, err
}

// Check completes and validates the description of an output.
func (p *Parse) Check(d *structure.Decoder) {
	if p.Format == "" && p.Lines != "" {
		p.Format = linesFormat
	}
	if p.Format == "" && p.Paths != nil {
		p.Format = jsonFormat
	}
	switch {
	case p.Of == "":
		d.Fail("it has no role: add of: ROLE, or of: any")
	case p.Format == "":
		d.Fail("it has no format: add format, lines or paths")
	case !slices.Contains(formats(), p.Format):
		d.At("format").Fail("there is no format %q; there are %s", p.Format, strings.Join(formats(), ", "))
	case (p.Format == linesFormat) != (p.Lines != ""):
		d.Fail("lines, a regular expression, and format: lines belong together")
	case (p.Format == jsonFormat) != (p.Paths != nil):
		d.Fail("paths, a path for each metric, and format: json belong together")
	}
	if d.Failed() {
		return
	}
	format, err := p.format()
	switch {
	case p.Lines != "" && len(p.own()) == 0:
		d.At("lines").Fail("no metric is given: %s", unnamed(p.Lines))
	case err != nil && p.Lines != "":
		d.At("lines").Fail("%w", err)
	case err != nil:
		d.At("paths").Fail("%w", err)
	case p.Rows != "" && len(format.Keys) == 0:
		d.At("rows").Fail("an output of %s has one row with all metrics: leave rows out", p.Format)
	case p.Rows != "" && !slices.Contains(format.Keys, p.Rows):
		d.At("rows").Fail("rows of %s are distinguished by %s, not by %q", p.Format,
			strings.Join(format.Keys, ", "), p.Rows)
	case format.File && p.File == "":
		d.Fail("the tool writes %s into a file: say which by file", p.Format)
	}
}

// groupWord matches the word before a group, as bw in "bw=(".
var groupWord = lazyregexp.New(`([A-Za-z_][A-Za-z0-9_]*)[^A-Za-z0-9_()\\\[]*\(`)

// unnamed says what is missing in an expression without a group for a metric.
func unnamed(lines string) string {
	name := "NAME"
	if m := groupWord().FindStringSubmatch(lines); m != nil {
		name = m[1]
	}
	if regexp.MustCompile(lines).NumSubexp() > 0 {
		return fmt.Sprintf("name the group of its number after it, as (?<%s>…)", name)
	}
	return fmt.Sprintf("put its number into a group of its name, as (?<%s>…)", name)
}

// format returns the format of the output.
func (p *Parse) format() (output.Format, error) {
	switch p.Format {
	case linesFormat:
		return output.Lines(p.Lines, p.keys(), p.measured())
	case jsonFormat:
		paths := map[string]string{}
		for _, v := range p.Paths {
			paths[v.Name] = v.Value
		}
		return output.JSON(paths, p.keys(), p.measured())
	}
	f, _ := output.Lookup(p.Format)
	return f, nil
}

// keys returns the keys that distinguish the rows of a described output.
func (p *Parse) keys() []string {
	if p.Rows == "" {
		return nil
	}
	return []string{p.Rows}
}

// measured returns the metrics of a described output.
func (p *Parse) measured() []output.Metric {
	var all []output.Metric
	for _, name := range p.own() {
		all = append(all, output.Metric{Name: name, Better: output.Neither})
	}
	return all
}

// own returns the names of metrics that the run describes.
func (p *Parse) own() (names []string) {
	if p.Lines != "" {
		for _, name := range regexp.MustCompile(p.Lines).SubexpNames() { // validated with it
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

// measures returns the metrics of a run: of the format, or declared ones, which must match the described ones or are
// further columns of a table.
func measures(v option.Values, declared []workload.Metric) ([]workload.Metric, error) {
	text, _ := Kind.Get(v)("parse").(string)
	p, err := readParse(text)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(Kind.Metrics)
	served, _ := Kind.Get(v)("services").(string)
	services, _ := Use(served) // errors are reported elsewhere
	observed, err := services.Metrics(slices.Concat(all, declared))
	if all = append(all, observed...); err != nil {
		return all, err
	}
	names, columns := p.own(), false
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
		columns = f.Columns
		for _, m := range f.Metrics {
			all = append(all, workload.Metric{
				Name: m.Name, Unit: m.Unit, Better: workload.Direction(m.Better), MayBeZero: m.MayBeZero, Doc: m.Doc,
			})
		}
	}
	for _, m := range declared {
		if !columns && !slices.Contains(names, m.Name) {
			err = fmt.Errorf("metrics declares %q, which parse does not find: it would never have a value%s", m.Name,
				foundText(names))
		}
		all = append(all, m)
	}
	return all, err
}

// foundText lists what parse finds.
func foundText(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; parse finds " + strings.Join(names, ", ")
}
