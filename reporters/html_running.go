package reporters

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weir-bench/weir/reporters/html"
	"github.com/weir-bench/weir/results"
)

// Running is what is known of a session without results.
type Running struct {
	Scenario string
	Step     []string // the current step and the progress
	Cases    []RunningCase
	Troubles []Trouble // by time
}

// RunningCase is a case of a running session.
type RunningCase struct {
	Name, Last string // readable name, and metrics of the last launch
	Launches   int
	Discarded  int             // of the launches
	Verdict    results.Verdict // the worst so far; "": none
}

// Trouble is a launch that does not count, or what is wrong with a node.
type Trouble struct {
	Where  string // a case or a node
	Launch string // "": none
	What   string // what became of it
	Why    string
}

// RefreshSeconds is how often a browser reads the page of a running session.
const RefreshSeconds = 2

// RunningHTML writes the state of a running session. The browser reads it again every few seconds.
func RunningHTML(w io.Writer, of Running, home string) error {
	p := &html.Page{
		Kind: "running session", Home: home, Refresh: RefreshSeconds,
		Title: plain(of.Scenario), Sign: "…", Status: "running",
		Headline: plain(strings.Join(of.Step, " · ")),
		Runs:     []html.Run{{ID: "cases", Name: "Cases", Table: runningCases(of.Cases)}},
	}
	if len(of.Troubles) > 0 {
		p.Runs = append(p.Runs, html.Run{
			ID: "troubles", Name: "Disturbances and failures", Table: troubleTable(of.Troubles),
		})
	}
	return p.Write(w)
}

func runningCases(all []RunningCase) html.Table {
	t := html.Table{Caption: plural(len(all), "case"), Columns: []html.Column{
		{Head: "case"}, {Head: "launches", Right: true}, {Head: "discarded", Right: true}, {Head: "last launch"},
		{Head: "verdict", Verdict: true},
	}}
	for _, c := range all {
		verdict := "-"
		if c.Verdict != "" {
			verdict = labelled(string(c.Verdict))
		}
		t.Rows = append(t.Rows, html.Row{Class: rowClass(string(c.Verdict)), Cells: []string{
			plain(c.Name), fmt.Sprint(c.Launches), fmt.Sprint(c.Discarded), plain(c.Last), verdict,
		}})
	}
	return t
}

// troubleTable lists troubles, the last first.
func troubleTable(all []Trouble) html.Table {
	t := html.Table{Caption: plural(len(all), "disturbance"), Text: true, Columns: []html.Column{
		{Head: "where"}, {Head: "launch"}, {Head: "what became of it"}, {Head: "why"},
	}}
	if more := len(all) - mostRows; more > 0 {
		t.Caption += fmt.Sprintf(", without the first %d", more)
		all = all[more:]
	}
	for _, x := range slices.Backward(all) {
		t.Rows = append(t.Rows, html.Row{Cells: []string{
			plain(x.Where), sentence("", x.Launch, dash(x.Launch)), x.What, plain(clip(x.Why, " …")),
		}})
	}
	return t
}
