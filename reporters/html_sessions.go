package reporters

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/weir-bench/weir/history"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// Addresses are those of the pages of a folder of sessions, relative to its list.
type Addresses struct {
	Session func(file string) string
	Running func(name string) string
	Series  func(scenario string) string
	Trend   func(scenario, key, metric string) string
	Compare string // gets the files of the picked sessions as "session"
}

// SessionsHTML writes the list of a folder's sessions, the newest first, with links to their reports and to the series
// of each scenario. Sessions that are picked are compared. running are the names of sessions without results.
func SessionsHTML(w io.Writer, folder string, running []string, entries []history.Entry, problems []history.Problem,
	to Addresses) error {
	p := &html.Page{
		Kind: "sessions", Title: plain(folder), Status: plural(len(entries), "session"),
		Headline: "a session opens its report; picked sessions are compared, the oldest is the base",
	}
	if len(running) > 0 {
		p.Headline = plural(len(running), "session") + " without results yet; " + p.Headline
		r := html.Run{ID: "running", Name: "Running or interrupted", Table: html.Table{
			Caption: "Running or interrupted", Columns: []html.Column{{Head: "session"}},
		}}
		for _, name := range running {
			r.Table.Rows = append(r.Table.Rows, html.Row{Cells: []string{plain(name)}, Href: to.Running(name)})
		}
		p.Runs = append(p.Runs, r)
	}
	list := html.Run{ID: "sessions", Name: "Sessions", Table: html.Table{
		Caption: plural(len(entries), "session"),
		Form: &html.Form{Action: to.Compare, Name: "session",
			Button: fmt.Sprintf("compare the picked sessions (2 to %d)", MostCompared)},
		Columns: []html.Column{{Head: "session"}, {Head: "started (UTC)"}, {Head: "scenario"}, {Head: "cases"},
			{Head: "weir"}, {Head: "environment"}, {Head: "nodes"}, {Head: "verdict", Verdict: true}},
	}}
	series := html.Run{ID: "scenarios", Name: "Trends", Table: html.Table{
		Caption: "Scenarios with two or more sessions",
		Columns: []html.Column{{Head: "scenario"}, {Head: "sessions", Right: true}}}}
	sessions := map[string]int{}
	for _, e := range entries {
		sessions[e.Scenario]++
	}
	for _, e := range slices.Backward(entries) {
		status := labelled(e.Status)
		if e.Simulated {
			status += " (simulated)"
		}
		list.Table.Rows = append(list.Table.Rows, html.Row{
			Class: rowClass(e.Status), Href: to.Session(e.File), Pick: e.File,
			Cells: []string{plain(e.Session), e.Started.UTC().Format("2006-01-02 15:04"), plain(e.Scenario),
				caseCountsText(e), entryVersion(e), plain(shortDigest(e.Fingerprint)),
				plain(strings.Join(e.Nodes, ", ")), plain(status)},
		})
		if n := sessions[e.Scenario]; n > 1 {
			series.Table.Rows = append(series.Table.Rows, html.Row{
				Cells: []string{plain(e.Scenario), fmt.Sprint(n)}, Href: to.Series(e.Scenario),
			})
			sessions[e.Scenario] = 0
		}
	}
	p.Runs = append(p.Runs, list, series)
	if len(problems) > 0 {
		note := html.Note{Title: "Left out"}
		for _, x := range problems {
			note.Lines = append(note.Lines, plain(x.File+": "+x.Reason))
		}
		p.Notes = []html.Note{note}
	}
	return p.Write(w)
}

// entryVersion is the version of weir of a session; its last word is the commit.
func entryVersion(e history.Entry) string {
	version, commit := "", e.Weir
	if at := strings.LastIndexByte(e.Weir, ' '); at >= 0 {
		version, commit = e.Weir[:at], e.Weir[at+1:]
	}
	return versionText(version, commit)
}

// SeriesHTML writes the list of a scenario's series, by its newest session: every metric of every case, with links to
// their trends.
func SeriesHTML(w io.Writer, doc *results.Document, home string, to Addresses) error {
	p := &html.Page{
		Kind: "series", Home: home, Title: plain(doc.Scenario.Name), Status: "series",
		Headline: "a case opens the trend of its metric over all sessions",
	}
	r := html.Run{ID: "series", Name: "Series", Table: html.Table{
		Columns: []html.Column{{Head: "case"}, {Head: "metric"}, {Head: "newest", Right: true}},
	}}
	tables := workload.DefinitionsOf(doc)
	for _, c := range doc.Cases {
		for _, column := range tables.Of(c.Workload, c.Run).Shown() {
			m, ok := c.Metrics.Get(column.Metric)
			if !ok {
				continue
			}
			definition, _ := tables.Metric(c, column.Metric)
			r.Table.Rows = append(r.Table.Rows, html.Row{
				Href: to.Trend(doc.Scenario.Name, c.Key, column.Metric),
				Cells: []string{plain(c.Key), plain(column.Metric),
					quantity.Format(m.Value, definition.Unit)},
			})
		}
	}
	r.Table.Caption = plural(len(r.Table.Rows), "series")
	p.Runs = []html.Run{r}
	return p.Write(w)
}

// QueryOf is a path with a query of pairs of names and values.
func QueryOf(path string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return path + "?" + q.Encode()
}
