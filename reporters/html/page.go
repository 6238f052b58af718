// Package html renders a report as one self-contained page. It does not depend on result documents:
// package reporters converts these to plain data with final texts.
//
// Tables, verdicts and findings are plain HTML, because some CI systems forbid style sheets and scripts.
// Charts are data that a script draws with Apache ECharts, included in the page; all their numbers are
// also in tables. A content security policy in the page allows only its own sheet, script and library, by
// their hashes.
package html

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"sync"
)

// Pair is a named fact.
type Pair struct{ Name, Value string }

// Link refers to the definition of a metric: ID is that of Definition; "" if it has none.
type Link struct{ Name, ID, Doc string }

// Page is a report.
type Page struct {
	Kind         string // of page: "report"
	Refresh      int    // seconds after which the browser reads tables and head again; 0: never
	Home         string // link to the page above it; "": none
	Title        string
	Sign, Status string // the verdict with its symbol
	Headline     string
	Against      string // with what it was compared; ""
	Banner       string // prominent warnings; ""
	Description  string
	Brief        string // shown while the facts are folded
	Facts        []Pair
	Groups       []Group
	Overview     []Run // charts of several runs
	Runs         []Run
	ChartsFirst  bool   // before the tables of Runs
	Held         *Table // assertions over several cases that hold; nil: none
	Claims       *Table // nil: none
	ClaimNotes   []string
	Matrices     Matrices
	Timeline     *Figure
	Notes        []Note
	Environment  []Note // facts of the session, then of each node
	Definitions  []Definition
}

// Group are findings of one kind, the first ones with details.
type Group struct {
	Title string
	Cards []Card
	More  *Table
}

// Card is a finding of one or several cases with one reason: the first line is visible, the rest unfolds.
type Card struct {
	ID                         string // stable, for links to it; ""
	Open                       bool   // unfolded at first
	Sign, Standing             string
	Where, Name, Place         string
	Measured, Promised, Margin string
	Nodes                      string
	Message                    string
	Metrics                    []Link
	Lines                      []string // always visible
	Launches                   []string
	Log                        []string
	Again                      string // command that repeats it
	Others                     *Table // all cases, if there are several
}

// Run is one run: a section with its tables, and one with its charts.
type Run struct {
	ID, Name      string
	Stage         string // heading above it; "": none
	Heads         bool   // first of its stage
	Setup         []Setting
	Brief         string // shown while Setup is folded
	Figures       []Figure
	Table         Table
	Gains         *Table // nil: none was asserted
	QuantileTable *Table
}

// Setting is a setting of a run: name, value and explanation.
type Setting struct{ Name, Value, Doc string }

// Figure is one or several charts with a caption.
type Figure struct {
	Metric Link
	Title  string
	Note   string
	Charts []Chart
}

// Matrices are the traffic matrices of all cases.
type Matrices struct {
	Maps  []Figure
	Table *Table
	Note  string
}

// Note is a list of lines, facts or files, or a table.
type Note struct {
	Title string
	Lines []string
	Table *Table
	Facts []Pair
	Files []File
}

// File is a file beside the page.
type File struct {
	Name, Says string
	Href       string // relative to the page; "": no such file
}

// Definition defines a metric.
type Definition struct{ ID, Name, Workload, Unit, Better, Doc string }

var (
	//go:embed page.tmpl
	pageText string
	//go:embed page.css
	sheet string
	//go:embed page.js
	tables string
	//go:embed charts.js
	drawing string
	//go:embed charts/echarts.js
	library string
)

// script is the page's own script.
var script = "'use strict';\n" + tables + drawing

// page is parsed on first use: most processes render none.
var page = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageText)) })

// hash is the policy's hash of an element's text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// policy allows the sheet and the scripts of a page by their hashes. A server's own policy applies in
// addition. Charts set styles by script, which hashes do not restrict.
func (p *Page) policy(scripts ...string) string {
	allowed := "'none'"
	for i, s := range scripts {
		if i == 0 {
			allowed = hash(s)
			continue
		}
		allowed += " " + hash(s)
	}
	submits := "'none'"
	if slices.ContainsFunc(p.Runs, func(r Run) bool { return r.Table.Form != nil }) {
		submits = "'self'"
	}
	reads := "'none'"
	if p.Refresh > 0 {
		reads = "'self'"
	}
	return fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; img-src data:; connect-src %s; "+
		"base-uri 'none'; form-action %s", allowed, hash(sheet), reads, submits)
}

// HasFigures reports whether a run has charts.
func (p *Page) HasFigures() bool {
	drawn := func(r Run) bool { return len(r.Figures) > 0 }
	return slices.ContainsFunc(p.Overview, drawn) || slices.ContainsFunc(p.Runs, drawn)
}

// charts reports whether the page has any.
func (p *Page) charts() bool {
	return p.Timeline != nil || len(p.Matrices.Maps) > 0 || p.HasFigures()
}

// Write writes the page, with the library only if there is a chart.
func (p *Page) Write(w io.Writer) error {
	scripts := []string{script}
	if p.charts() {
		scripts = []string{library, script}
	}
	var elements string
	for _, s := range scripts {
		elements += "<script>" + s + "</script>\n"
	}
	var b bytes.Buffer
	err := page().Execute(&b, struct {
		*Page
		Policy         string
		HasCharts      bool
		Sheet, Scripts template.HTML // our own trusted files, byte for byte
	}{p, p.policy(scripts...), p.charts(), template.HTML("<style>" + sheet + "</style>"), template.HTML(elements)})
	if err != nil {
		return fmt.Errorf("drawing the page: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}
