package output

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/datafile"
)

// tool is a file of tools/: the output of a tool and its mapping. CONTRIBUTING.md has a checklist.
type tool struct {
	Doc      string
	Versions string // of the tool that printed the samples, or of the source that was read
	File     bool   // the tool writes a file
	Keys     []keyData
	Load     []keyData // of JSON: what a row says of its load besides keys
	Metrics  []metricData
	// Repeat has words that replace {} in the name and paths of each metric, one metric for each.
	Repeat []string
	// Parts are the tool's words for the parts of a distribution, which replace {part}; of several words, the
	// first that exists.
	Parts    map[string]texts
	JSON     *jsonData
	Table    *tableData
	Sweeps   map[string]sweep // keys of rows with values set by the command line
	Function string           // the function for what data cannot express
}

type keyData struct {
	Name   string
	Path   texts // of JSON: the first existing one counts
	Unless texts // of JSON: if one of them exists, Path does not count
	Column texts // of a table: its headings
	// As is the form of a column; "": a whole number, "text": any, "size": it is read by the function's
	// size, "words": all words outside of other columns.
	As    string
	Title bool // of a table: its title, if there are several
	// Subtitle is as Title, for several tables with the same title.
	Subtitle bool
	// Default is what an item of Load is without its path; "": unknown.
	Default string
}

type metricData struct {
	Name, Unit, Better, Doc string
	Zero                    string // "measured": 0 is a measurement; "absent": 0 means no number
	Signed                  bool   // may be negative
	In                      unit   // of the tool, if different

	Path  texts  // of JSON: the first existing one counts; "UNIT: PATH" is in that unit, whatever In is
	If    texts  // a count that must exist and not be 0 for the metric to be measured; the first existing one counts
	Rest  texts  // the metric is the share of the count at Path in itself and this count
	Plus  texts  // a count to add to that at Path, if it exists
	Needs string // the error of a row without it

	Columns map[string]string // of a table: the unit by heading; the last of several counts
	Beside  texts             // one of these columns must also exist
}

// texts is a text or a list of texts.
type texts []string

func (t *texts) UnmarshalYAML(n *datafile.Node) error {
	if n.Kind == datafile.Sequence {
		return n.Decode((*[]string)(t))
	}
	*t = texts{n.Value}
	return nil
}

// unit is the unit in which a tool prints a number.
type unit struct {
	scale
	said map[string]scale // by the text of member unit beside the number; nil: there is no such member
}

func (u *unit) UnmarshalYAML(n *datafile.Node) (err error) {
	if n.Kind == datafile.Scalar {
		u.scale, err = scaleOf(n.Value)
		return err
	}
	var said map[string]string
	if err := n.Decode(&said); err != nil {
		return err
	}
	u.said = map[string]scale{}
	for word, name := range said {
		if u.said[word], err = scaleOf(name); err != nil {
			return err
		}
	}
	return nil
}

func scaleOf(name string) (scale, error) {
	s, ok := scales[name]
	if !ok {
		return s, fmt.Errorf("there is no unit %q", name)
	}
	return s, nil
}

// pattern is a regular expression; the zero value matches nothing.
type pattern struct{ *regexp.Regexp }

func (p *pattern) UnmarshalYAML(n *datafile.Node) (err error) {
	p.Regexp, err = regexp.Compile(n.Value)
	return err
}

func (p pattern) matches(text string) bool { return p.Regexp != nil && p.MatchString(text) }

// submatch returns the groups of the expression in a text, nil if it does not match.
func (p pattern) submatch(text string) []string {
	if p.Regexp == nil {
		return nil
	}
	return p.FindStringSubmatch(text)
}

// partNames are the parts of a distribution in the order of documents.
var partNames = []struct{ name, doc string }{
	{"avg", "mean"}, {"min", "the least"}, {"p10", "10th percentile"}, {"p25", "25th percentile"}, {"p50", "median"},
	{"p75", "75th percentile"}, {"p90", "90th percentile"}, {"p95", "95th percentile"}, {"p99", "99th percentile"},
	{"p999", "99.9th percentile"}, {"p9999", "99.99th percentile"}, {"max", "the greatest"},
}

// load reads a file of tools/.
func load(name string, text []byte) (Format, error) {
	t := &tool{}
	if err := datafile.Decode(text, t); err != nil {
		return Format{}, err
	}
	t.expand()
	f := Format{Name: name, Doc: t.Doc, Versions: t.Versions, File: t.File, Columns: t.JSON == nil}
	for _, k := range t.Keys {
		f.Keys = append(f.Keys, k.Name)
	}
	for i, m := range t.Metrics {
		if m.In.scale == (scale{}) {
			t.Metrics[i].In.scale = same
		}
		f.Metrics = append(f.Metrics, Metric{
			Name: m.Name, Unit: m.Unit, Better: m.Better, MayBeZero: m.Zero == "measured", Doc: m.Doc,
		})
	}
	if t.Sweeps != nil {
		f.Rows = t.asked
	}
	special, ok := functions[t.Function]
	if !ok && t.Function != "" {
		return Format{}, fmt.Errorf("there is no function %q", t.Function)
	}
	var err error
	switch {
	case special.read != nil:
		f.Read = special.read
	case t.JSON != nil:
		f.Read, err = t.jsonReader(special)
	case t.Table != nil:
		f.Read, err = t.tableReader(special)
	default:
		err = errors.New("it has neither json nor table")
	}
	if err == nil {
		f.Read = afterPrefix(f.Read)
	}
	return f, err
}

// expand replaces Repeat and Parts.
func (t *tool) expand() {
	if t.Repeat == nil {
		t.Repeat = []string{""}
	}
	var all []metricData
	for _, word := range t.Repeat {
		for _, m := range t.Metrics {
			m = m.with("{}", word, word)
			if !strings.Contains(m.Name, "{part}") {
				all = append(all, m)
				continue
			}
			doc := m.Doc + ": "
			for _, part := range partNames {
				if words, ok := t.Parts[part.name]; ok {
					one := m.with("{part}", part.name, words...)
					one.Doc, doc = doc+part.doc, "the same, "
					all = append(all, one)
				}
			}
		}
	}
	t.Metrics = all
}

// has reports whether the tool has a metric.
func (t *tool) has(metric string) bool {
	return slices.ContainsFunc(t.Metrics, func(m metricData) bool { return m.Name == metric })
}

// with replaces a mark in the name and in paths.
func (m metricData) with(mark, inName string, inPath ...string) metricData {
	m.Name = strings.ReplaceAll(m.Name, mark, inName)
	m.If, m.Path = m.If.with(mark, inPath), m.Path.with(mark, inPath)
	return m
}

// with replaces a mark in each text by each of several words.
func (t texts) with(mark string, words []string) (all texts) {
	for _, p := range t {
		for _, w := range words {
			if one := strings.ReplaceAll(p, mark, w); !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	return all
}

// function has the code that a tool needs beside its data.
type function struct {
	read func(output []byte) ([]Row, error)          // reads the whole output
	rows func(root *jsonValue) ([]*jsonValue, error) // finds the rows of a JSON document
	json func(output []byte) ([]byte, error)         // makes a JSON document of another form of the output
	size func(text string) (string, error)           // reads a key
	// final checks the rows of a table, or the error of its reader.
	final func(t *tool, lines []string, found []Row, err error) ([]Row, error)
}

// functions are those of all tools, by the name of the tool.
var functions = map[string]function{
	"aiperf":       {rows: aiperfLoads},
	"deepep":       {read: readDeepEP},
	"fabtests":     {size: fabtestsSize},
	"fio":          {json: fioTerse},
	"iperf3":       {json: iperf3Stream},
	"llm-d":        {rows: llmdRows},
	"nixlbench":    {final: nixlbenchComplete},
	"nvbandwidth":  {rows: nvbandwidthTests},
	"ucx_perftest": {read: readUCXPerftest},
}
