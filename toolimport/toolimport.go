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
	// nodes says how many nodes the run has; nil: the tool's functions do, or nobody does.
	nodes func(*call) error
	// processes is the number of the process that a command line starts, -1 where it does not say, and how many command
	// lines a run has; nil: one.
	processes func(*call) (number, of int64, err error)
	// ofProcess are flags in which the lines of one run may differ.
	ofProcess []string
	// measures names what a run measures, for the name of the scenario; nil: the tool does.
	measures func(*call) string
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

// RunsItself says whether a scenario can run a tool itself, and read what it prints.
func RunsItself(name string) bool {
	t, err := lookup(name)
	return err == nil && (t.command != nil || t.instead != nil)
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
	if o.AsCommand && calls[0].tool.command == nil {
		return nil, fmt.Errorf("weir cannot read what %s prints, so there is no --as-command", calls[0].program())
	}
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
		ways := "--skip-unmapped leaves them out"
		if calls[0].tool.command != nil {
			ways += ", --as-command runs " + calls[0].tool.name + " itself"
		}
		return nil, fmt.Errorf("%s\nthese flags change what is measured: %s", strings.Join(unmapped, "\n"), ways)
	}
	src, err := scenario(title(calls), t, runs, notes)
	return &Imported{src, notes}, err
}

// title names what calls measure, if that is the same.
func title(calls []*call) string {
	name := ""
	for i, c := range calls {
		own := c.tool.name
		if c.tool.measures != nil {
			own += "-" + c.tool.measures(c)
		}
		if i > 0 && own != name {
			return c.tool.name
		}
		name = own
	}
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '-'
	}, name))
}

// calls are the calls that measure something. Of a tool with two sides these are the
// clients': what a server does, its client says.
func (t *tool) calls(lines []Line, o Options) (calls []*call, notes []Note, err error) {
	servers := 0
	for _, l := range lines {
		c, err := t.of(l.path).read(l, o)
		if err != nil {
			return nil, nil, fmt.Errorf("%s%w", l.at, err)
		}
		if t.twoSided && len(c.positional) == 0 && l.launch.by == "" {
			servers++
			continue
		}
		isFurther, err := join(c, calls)
		if err != nil {
			return nil, nil, fmt.Errorf("%s%w", l.at, err)
		}
		if isFurther {
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
