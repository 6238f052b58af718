// Package toolimport makes scenarios of the command lines of other benchmark tools.
//
// A tool is a table with a row for each of its flags: the option of the workload that it becomes,
// or why it becomes none. docs/import.md is made from these tables.
package toolimport

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"weir/suggest"
	"weir/workload"
	"weir/workload/transfer"
)

// Options say how command lines become a scenario.
type Options struct {
	Memory       string // the kind of memory of all buffers; "": that of the command line
	AsCommand    bool   // the scenario runs the tool itself
	SkipUnmapped bool   // flags that cannot be mapped are left out
	// Read reads the files that command lines name; nil: there are none.
	Read func(path string) ([]byte, error)
	// Glob finds the files that a pattern names; nil: there are none.
	Glob func(pattern string) ([]string, error)
}

// Imported is a scenario in YAML, and what is to be known of how it came about.
type Imported struct {
	Scenario []byte
	Notes    []Note // the scenario has all of them as comments
}

// Note is one sentence about the import.
type Note struct {
	Text    string
	Warning bool // the scenario measures something else than the command line, or less
}

// tool is a program, or a family of programs with the same flags.
type tool struct {
	name     string
	programs []string // by which it is called; nil: its name
	also     *tool    // a program of the same suite with flags of its own; nil: there is none
	doc      string
	flags    []flag
	style    style
	kind     *workload.Kind // of its runs; nil: transfer
	twoSided bool           // a server, and a client that names the server's address
	// settings are further ones that a command line refers to, before its own; nil: none.
	settings func(*call, Options) ([]setting, error)
	// native fills the run with what flags mean together; command fills one that runs the
	// tool itself.
	native, command func(*call) error
	// repeated says that a command line is that of a further node, which joins the run of another line; nil: none is.
	repeated func(*call) bool
	// instead gives the calls of another tool that the tool makes; nil: it measures itself.
	instead func(*call, Options) ([]*call, error)
}

// tools are all tools, in the order of docs/import.md; init breaks the cycle by which
// kvbench refers to nixlbench.
var tools []*tool

func init() { tools = []*tool{nixlbench, kvbench, ucxPerftest, perftest, nixlEP} }

// Tools are the names of all tools.
func Tools() []string {
	var names []string
	for _, t := range tools {
		names = append(names, t.name)
	}
	return names
}

// allTools are the tools with those beside them.
func allTools() (all []*tool) {
	for _, t := range tools {
		for ; t != nil; t = t.also {
			all = append(all, t)
		}
	}
	return all
}

func lookup(name string) (*tool, error) {
	i := slices.IndexFunc(tools, func(t *tool) bool { return t.name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no tool %q. %s", name, suggest.Sentence(name, Tools(), "tools"))
	}
	return tools[i], nil
}

func (t *tool) workload() *workload.Kind {
	if t.kind == nil {
		return transfer.Kind
	}
	return t.kind
}

func (t *tool) called() []string {
	switch {
	case t.programs == nil:
		return []string{t.name}
	case t.also != nil:
		return slices.Concat(t.programs, t.also.called())
	}
	return t.programs
}

// of is the tool of the suite that is called.
func (t *tool) of(program string) *tool {
	for other := t.also; other != nil; other = other.also {
		if slices.Contains(other.programs, path.Base(program)) {
			return other
		}
	}
	return t
}

// Import makes a scenario with a run for each command line.
func Import(name string, lines []Line, o Options) (*Imported, error) {
	t, err := lookup(name)
	if err != nil {
		return nil, err
	}
	calls, notes, err := t.calls(lines, o)
	if err != nil {
		return nil, err
	}
	var runs []*run
	var unmapped []string
	for i, c := range calls {
		c.run.name = runName(c, i)
		if err := c.convert(o); err != nil {
			return nil, fmt.Errorf("%s%w", c.at, err)
		}
		for _, n := range c.notes {
			if len(calls) > 1 {
				n.Text = "run " + c.run.name + ": " + n.Text
			}
			notes = append(notes, n)
		}
		for _, lost := range c.unmapped {
			unmapped = append(unmapped, c.at+lost)
		}
		runs = append(runs, c.run)
	}
	if len(unmapped) > 0 && !o.SkipUnmapped {
		return nil, fmt.Errorf("%s\nthese flags change what is measured: --skip-unmapped leaves them out, --as-command runs %s itself",
			strings.Join(unmapped, "\n"), calls[0].tool.name)
	}
	src, err := scenario(t, runs, notes)
	return &Imported{src, notes}, err
}

// calls are the calls that measure something. Of a tool with two sides these are the
// clients': what a server does, its client says.
func (t *tool) calls(lines []Line, o Options) (calls []*call, notes []Note, err error) {
	servers := 0
	var workers []*call // of a run whose line may be here
	for _, l := range lines {
		c, err := t.of(l.path).read(l, o)
		if err != nil {
			return nil, nil, fmt.Errorf("%s%w", l.at, err)
		}
		if t.twoSided && len(c.positional) == 0 && !l.launched {
			servers++
			continue
		}
		if c.tool.repeated != nil && c.tool.repeated(c) {
			workers = append(workers, c)
			continue
		}
		made := []*call{c}
		if t.instead != nil {
			if made, err = t.instead(c, o); err != nil {
				return nil, nil, fmt.Errorf("%s%w", l.at, err)
			}
		}
		calls = append(calls, made...)
	}
	switch {
	case len(workers) > 0 && len(calls) > 0:
		notes = append(notes, Note{Text: "lines of further nodes are left out: weir starts the ranks of all nodes"})
	case len(workers) > 0:
		calls = workers[:1]
	}
	switch {
	case len(calls) > 0:
		if servers > 0 {
			notes = append(notes, Note{
				Text: "lines without the address of a server are the servers' own; the clients' say what is measured",
			})
		}
		return calls, notes, nil
	case servers > 0:
		return nil, nil, fmt.Errorf("without the address of a server this is the server's command line: " +
			"give that of the client, which says what is measured")
	}
	return nil, nil, errors.New("there is nothing to import")
}

func runName(c *call, i int) string {
	name := c.tool.name
	if len(c.tool.programs) > 1 {
		name = c.program()
	}
	if i > 0 {
		name = fmt.Sprintf("%s_%d", name, i+1)
	}
	return name
}
