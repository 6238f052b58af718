// Package html draws a report as one page that needs nothing else: no host and no other
// file. It knows no result document, only plain data with its texts
// as they are to be read; package reporters makes these of a document.
//
// Tables, verdicts and findings are plain HTML, which some CI systems serve under a policy
// that forbids style sheets and scripts: nothing of them is lost there. Charts are data in
// the page that a script draws with Apache ECharts, which is in the page too; every number
// of theirs is in a table. A policy in the page itself lets in its sheet, its script and the
// library by their hashes and nothing else.
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
)

// Pair is a fact with its name.
type Pair struct{ Name, Value string }

// Link leads to the definition of a metric: ID is that of Definition; "" if it has none.
type Link struct{ Name, ID, Doc string }

// Page is a report.
type Page struct {
	Kind         string // of page: "report"
	Title        string
	Sign, Status string // the verdict, and a character that says it too
	Headline     string
	Banner       string // what nobody may miss; "": nothing
	Description  string
	Brief        string // of the facts, what is shown where they are folded
	Facts        []Pair
	Groups       []Group
	Overview     []Run // what compares several runs
	Runs         []Run
	Held         *Table // assertions over several cases that hold; nil: there are none
	Matrices     Matrices
	Timeline     *Figure
	Notes        []Note
	Environment  []Note // facts of the whole, then one for each node
	Definitions  []Definition
}

// Group are findings of one kind, the first of them at length.
type Group struct {
	Title string
	Cards []Card
	More  *Table
}

// Card is what was found of one or of several cases for one reason: its first line is shown,
// the rest when it is unfolded.
type Card struct {
	Sign, Standing             string
	Where, Name, Place         string
	Measured, Promised, Margin string
	Nodes                      string
	Message                    string
	Metrics                    []Link
	Lines                      []string // what else is to be known at once
	Launches                   []string
	Log                        []string
	Again                      string // the command that runs it again
	Others                     *Table // all cases that it was found of, if there are several
}

// Run is what one block of the scenario measured.
type Run struct {
	ID, Name      string
	Stage         string // heading that it is shown under; "": none
	Heads         bool   // it is the first of its stage
	Setup         []Setting
	Figures       []Figure
	Table         Table
	Gains         *Table // nil: none was asserted
	QuantileTable *Table
}

// Setting is what a run was run with: a name, its value, and what it means.
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

// Note is a list of lines, of facts, or of files.
type Note struct {
	Title string
	Lines []string
	Facts []Pair
	Files []File
}

// File is a file beside the page.
type File struct {
	Name, Says string
	Href       string // relative to the page; "": there is no such file
}

// Definition says what a metric is.
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

// script is the page's own.
var script = "'use strict';\n" + tables + drawing

var page = template.Must(template.New("page").Parse(pageText))

// hash is how a policy names what it lets in: the exact text of an element.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// policy lets in the sheet and the scripts of a page, by their hashes. It holds wherever
// the page is opened; what a server forbids besides stays forbidden. Charts measure
// themselves by styles that a script sets, which no policy of this kind forbids.
func policy(scripts ...string) string {
	allowed := "'none'"
	for i, s := range scripts {
		if i == 0 {
			allowed = hash(s)
			continue
		}
		allowed += " " + hash(s)
	}
	return fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; img-src data:; base-uri 'none'; form-action 'none'",
		allowed, hash(sheet))
}

// charts says whether the page has any.
func (p *Page) charts() bool {
	all := p.Matrices.Maps
	for _, r := range append(slices.Clone(p.Overview), p.Runs...) {
		all = append(slices.Clone(all), r.Figures...)
	}
	return p.Timeline != nil || len(all) > 0
}

// Write writes the page. The library is in it if there is a chart.
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
	err := page.Execute(&b, struct {
		*Page
		Policy         string
		HasCharts      bool
		Sheet, Scripts template.HTML // our own files: trusted, and not to be changed by a byte
	}{p, policy(scripts...), p.charts(), template.HTML("<style>" + sheet + "</style>"), template.HTML(elements)})
	if err != nil {
		return fmt.Errorf("drawing the page: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}
