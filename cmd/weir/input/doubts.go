package input

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// Doubts are the assertions of a plan that no measurement can decide, each cause once. noise is from earlier
// sessions; references may add to it.
func Doubts(p *planner.Plan, noise []results.CaseNoise) []*planner.Doubt {
	cases := map[string]*results.Case{}
	for _, c := range p.Cases {
		cases[c.Key] = &results.Case{Key: c.Key, Run: c.Run, Workload: c.Workload, Axes: c.Axes}
	}
	return p.Doubts(func(own *planner.Case, a assertion.Assertion, looks []int) (why, change string) {
		var keys []string
		if own != nil {
			keys = append(keys, own.Key)
		}
		a.Takes(func(_, key string) {
			if key != "" && !slices.Contains(keys, key) && cases[key] != nil {
				keys = append(keys, key)
			}
		})
		var of []*results.Case
		var known []results.CaseNoise
		for _, key := range keys {
			of = append(of, cases[key])
			if i := slices.IndexFunc(noise, func(n results.CaseNoise) bool { return n.Case == key }); i >= 0 {
				known = append(known, noise[i])
			}
		}
		var first *results.Case
		if own != nil {
			first = of[0]
		}
		return gate.SessionsAlone(a, first, of, looks, known)
	})
}

// doubtText describes a doubt and the number of its cases.
func doubtText(d *planner.Doubt) string {
	text := fmt.Sprintf("%q will be inconclusive in %s", d.Assertion.Text, d.Cases[0])
	if n := len(d.Cases) - 1; n == 1 {
		text += " and 1 further case"
	} else if n > 1 {
		text += fmt.Sprintf(" and %d further cases", n)
	}
	return text + ": " + d.Why
}

// DoubtLine describes a doubt on one printable line, with its place and its remedy.
func DoubtLine(d *planner.Doubt) string {
	text := fmt.Sprintf("%s:%d: %s", d.Assertion.File, d.Assertion.Line, doubtText(d))
	if d.Change != "" && !d.OfLaunches() { // the text of a doubt about launches has the remedy
		text += "; set " + d.Change
	}
	return printable.Line(text)
}

// DoubtDiagnostics are doubts as warnings at their places.
func DoubtDiagnostics(doubts []*planner.Doubt, sources dsl.Sources) (all hcl.Diagnostics) {
	for _, d := range doubts {
		at := lineOf(d.Assertion.File, d.Assertion.Line, sources)
		n := &hcl.Diagnostic{
			Severity: hcl.DiagWarning, Summary: "Inconclusive", Detail: doubtText(d) + ".", Subject: &at,
		}
		if d.Change != "" {
			n.Extra = dsl.Hint("So that it can be decided: " + d.Change + ".")
		}
		all = append(all, n)
	}
	return all
}

// lineOf is a line of a file without its indentation.
func lineOf(file string, line int, sources dsl.Sources) hcl.Range {
	at := hcl.Range{Filename: file, Start: hcl.Pos{Line: line, Column: 1}, End: hcl.Pos{Line: line, Column: 1}}
	source := sources[file]
	if source == nil {
		return at
	}
	lines := bytes.SplitAfter(source.Bytes, []byte("\n"))
	if line < 1 || line > len(lines) {
		return at
	}
	text := bytes.TrimRight(lines[line-1], "\r\n")
	begin := len(bytes.Join(lines[:line-1], nil))
	indent := len(text) - len(bytes.TrimLeft(text, " \t"))
	at.Start.Byte, at.End.Byte = begin+indent, begin+len(text)
	at.Start.Column, at.End.Column = 1+indent, 1+len(text)
	return at
}
