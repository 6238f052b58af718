package run

import (
	"fmt"
	"io"
	"strings"

	"github.com/weir-bench/weir/cmd/weir/reports"
	"github.com/weir-bench/weir/gate"
)

// outcome is what became of one of several scenarios.
type outcome struct {
	name, file string
	status     string // of its session; "": it had none
	dir        string // of its session
	code       int
}

// worst is the exit code of all.
func worst(all []outcome) int {
	var codes []int
	for _, o := range all {
		codes = append(codes, o.code)
	}
	return gate.Worst(codes...)
}

// title announces one of several scenarios.
func title(w io.Writer, nth, of int, name, file string) {
	if nth > 1 {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "scenario %d of %d: %s (%s)\n\n", nth, of, name, file)
}

// total ends the tables of several scenarios: how many have each status, and where those are that did not pass.
func total(w io.Writer, all []outcome, of int) {
	var order []string
	count := map[string]int{}
	for _, o := range all {
		if count[o.word()]++; count[o.word()] == 1 {
			order = append(order, o.word())
		}
	}
	if left := of - len(all); left > 0 {
		order, count["not run"] = append(order, "not run"), left
	}
	var parts []string
	for _, word := range order {
		parts = append(parts, fmt.Sprintf("%d %s", count[word], word))
	}
	fmt.Fprintf(w, "\n%d scenarios: %s; exit code %d\n", of, strings.Join(parts, ", "), worst(all))
	for _, o := range all {
		if o.code != gate.ExitPassed {
			fmt.Fprintf(w, "  %s: %s\n", o.word(), o.place())
		}
	}
}

// word is the status of the session, or why there is none.
func (o outcome) word() string {
	switch {
	case o.status != "":
		return o.status
	case o.code == gate.ExitEmpty:
		return "without selected cases"
	}
	return "not started"
}

// place names the scenario and where its results are.
func (o outcome) place() string {
	text := fmt.Sprintf("%s (%s)", o.name, o.file)
	if o.dir != "" {
		text += ", results in " + o.dir
	}
	return text
}

// tables is the writer of tables: stderr where stdout is for a program.
func (f *flags) tables(stdout, stderr io.Writer, wanted []reports.Report) io.Writer {
	if reports.ToStdout(wanted) || f.events == "-" {
		return stderr
	}
	return stdout
}
