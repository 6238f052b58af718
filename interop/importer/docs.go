package importer

import (
	"fmt"
	"slices"
	"strings"
)

// Markdown returns docs/import.md: the mapping of each flag of each tool.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`# Command lines of other tools

` + "`weir import 'COMMAND LINE'`, `weir import FILE.sh` and `weir import README.md`" + ` take command lines of every tool on
this page and make a scenario of them. With the name of one (nixlbench, kvbench, ucx_perftest, perftest, nixl-ep), all
must be of that tool.

The tables list what each flag becomes. "error" is a flag that changes what is measured, but has no equivalent in weir:
any other value than its default is refused. --skip-unmapped ignores such flags; --as-command makes a scenario that runs
the tool itself and reads its output; its axes are named after the tool's flags.

Of a script weir import says line by line what became of each command. Tools without flags below are read whole. A
loop over known values, such as 1 2 4, {1..8}, $(seq 1 8) or an array, becomes a sweep; variables with known values
and defaults, such as ${1:-4096}, are replaced. A loop that only repeats a command gives one run: weir repeats
launches itself; of curl in a loop it is the number of requests. Benchmarks that a script runs together (&, xargs -P,
parallel) run one after another, with a warning. A program that weir runs itself, as a test of nccl-tests, keeps the
words before it, also before bash -c. Functions are followed where they are called, as are conditions, case and while
with known values, $(( )), eval, here-documents and read. So are xargs and GNU parallel with known values, arrays with
names (declare -A), files that lie beside the script, where it reads them (source), and files that it writes from
here-documents. What commands of the shell and seq, expr, bc, tr, cut, head, tail, sort, uniq, wc -l, basename and
dirname do with known values is known, as is what functions of these do. Commands of bash -c, ssh, su -c, script -c, flock and sbatch --wrap are read; if a
script gives a benchmark to another program, such as tmux or trap, the line cannot be imported. Of branches that a
default chooses, such as ${MODE:-fast}, that one is read, unless it ends the script; a warning names the lines of others.
If a value is not known, all branches are read, with a warning; variables are those of a script without arguments. A comment ends a command as in a shell, and a line that begins with a flag is told. In a Markdown file the
blocks of commands are read, also behind prompts; commands outside of blocks and in blocks of other languages are
told. docker, kubectl exec, ssh and sudo do not pass on what a script exports. A variable that only the shell knows
becomes a variable of the scenario in an address, a model or a prompt, and a secret in a header. All lines of a script
that cannot be imported are told at once, with the flag or the reason; the scenario has the others and names these
lines, and the exit code is 4. --skip-unmapped ignores flags without an equivalent and leaves other such lines out,
with exit code 0.

A load has the warm-up of its tool, which is none unless a flag says otherwise. Before each load weir sends a few requests
of one token, which show that the server answers and how many tokens its prompts have; the tools send one or none.

This page is generated from the files in interop/importer/tools (` + "`make golden`" + `).
`)
	for _, t := range allTools() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", t.name, t.Doc)
		if t.Flags != nil {
			b.WriteString("\n| flag | default | becomes |\n|---|---|---|\n")
		}
		for i := range t.Flags {
			f := &t.Flags[i]
			fmt.Fprintf(&b, "| %s | %s | %s |\n", "`"+f.all("` `")+"`", cell(f.Default), cell(f.becomes()))
		}
	}
	return b.String()
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// Flags lists the mapping of each flag of a tool; of all tools if name is "". It returns false if
// the tool is unknown.
func Flags(name string) (string, bool) {
	var b strings.Builder
	for _, t := range allTools() {
		if name != "" && t.name != name && !slices.Contains(t.called(), name) {
			continue
		}
		fmt.Fprintf(&b, "%s: %s\n\n", t.name, t.Doc)
		for i := range t.Flags {
			f := &t.Flags[i]
			initial := ""
			if f.Default != "" {
				initial = " (default " + f.Default + ")"
			}
			fmt.Fprintf(&b, "  %s%s\n      %s\n", f.all(", "), initial, plain.Replace(f.becomes()))
		}
		b.WriteString("\n")
	}
	return b.String(), b.Len() > 0
}

// plain removes Markdown from a text.
var plain = strings.NewReplacer("`", "", "**", "")

// becomes describes the mapping of a flag for people.
func (f *flag) becomes() string {
	switch f.fate {
	case asOption, asVariable:
		to := "`" + f.says + "`"
		if f.fate == asVariable {
			to = "variable " + to
		}
		var values []string
		for _, from := range sortedKeys(f.Values) {
			if from != f.Values[from] {
				values = append(values, from+" is "+f.Values[from])
			}
		}
		if values != nil {
			to += ": " + strings.Join(values, ", ")
		}
		return to
	case used:
		return f.says
	case ignored:
		return "nothing: " + f.says
	case unavailable:
		return "nothing, with a warning: " + f.says
	}
	return "**error**: " + f.says
}
