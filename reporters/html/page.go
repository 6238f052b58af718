// Package html draws a report as one page that needs nothing else: no host, no
// library, no script. It knows no result document, only plain data with its texts
// as they are to be read; package reporters makes these of a document.
//
// The page is made for the strictest reader first. Without its style sheet and its
// script (some CI systems serve reports under a policy that forbids both) it is
// plain HTML whose drawings look right by their presentation attributes; the
// sheet adds layout, dark pages and print, the script sorting, filters and a
// read-out of charts. A policy in the page itself lets in these two by their
// hashes and nothing else.
package html

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
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
	Facts        []Pair
	Groups       []Group
	Runs         []Run
	Held         *Table // assertions over several cases that hold; nil: there are none
	Matrices     Matrices
	Timeline     template.HTML
	TimelineNote string
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

// Card is a finding at length.
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
}

// Run is what one block of the scenario measured.
type Run struct {
	ID, Name      string
	Stage         string // heading that it is shown under; "": none
	Heads         bool   // it is the first of its stage
	Figures       []Figure
	Scores        []Figure // wide ones: timelines, courses
	Table         Table
	Quantiles     []Figure
	QuantileTable *Table
}

// Figure is one metric in one or several drawings with one legend.
type Figure struct {
	Metric   Link
	Title    string
	Note     string
	Drawings []template.HTML
	Keys     []string // names of the series, in the order of their colours; none: there is one
	Band     bool     // some point has a target band
	Ceiling  bool     // some point has a ceiling
	Interval string   // what whiskers are; "": there are none
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
	script string
)

var page = template.Must(template.New("page").Funcs(template.FuncMap{"swatch": swatch}).Parse(pageText))

// hash is how a policy names what it lets in: the exact text of an element.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// policy lets in the sheet and the script of this page, by their hashes. It holds wherever
// the page is opened; what a server forbids besides stays forbidden.
func policy() string {
	return fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; img-src data:; base-uri 'none'; form-action 'none'",
		hash(script), hash(sheet))
}

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	var b bytes.Buffer
	err := page.Execute(&b, struct {
		*Page
		Policy        string
		Sheet, Script template.HTML // our own files: trusted, and not to be changed by a byte
	}{p, policy(), template.HTML("<style>" + sheet + "</style>"), template.HTML("<script>" + script + "</script>")})
	if err != nil {
		return fmt.Errorf("drawing the page: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// swatch is the mark of a series in a legend.
func swatch(i int) template.HTML {
	s := &svg{}
	s.open("svg", "width", "26", "height", "12", "viewBox", "0 0 26 12", "aria-hidden", "true")
	s.series(i)
	s.line(0, 6, 26, 6, "stroke-width", "1.8")
	s.marker(i, 13, 6, 3.6, "")
	s.close("g")
	return s.done()
}
