// Package importer converts command lines of other benchmark tools to scenarios.
//
// Each tool is a file in tools with a row for each flag: the option that it becomes, or why it
// becomes none. docs/import.md is generated from these files.
package importer

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/serving"
	"github.com/weir-bench/weir/workload/transfer"
)

// Options are the options of a conversion.
type Options struct {
	Memory       string // memory of all buffers; "": that of the command line
	AsCommand    bool   // the scenario runs the tool itself
	SkipUnmapped bool   // skip flags that cannot be mapped, instead of failing
	// Read reads the files that command lines name; nil: there are none.
	Read func(path string) ([]byte, error)
	Base string // the directory of the scenario, to which paths of matrices are relative; "": the working directory
	// Glob returns the files that match a pattern; nil: there are none.
	Glob func(pattern string) ([]string, error)
}

// Imported is a scenario in YAML with notes on the conversion.
type Imported struct {
	Scenario []byte
	Fates    []*Fate // of a script: what became of each command
	Notes    []Note  // also in the scenario, as comments
	// Variables of the scenario have no value: who runs it gives them.
	Variables []string
}

// Note is one sentence about the conversion.
type Note struct {
	Text    string
	Warning bool // the scenario measures something different, or less
}

// tool is a program, or a family of programs with the same flags.
type tool struct {
	toolData
	name string
	also *tool          // a program of the same suite with its own flags; nil: none
	kind *workload.Kind // of its runs; nil: transfer
	// settings returns further settings that a command line refers to, before its own; nil: none.
	settings func(*call, Options) ([]setting, error)
	// native fills the run from combinations of flags; command fills a run that starts the tool
	// itself.
	native, command func(*call)
	// nodes sets the number of nodes; nil: the tool's functions do, or it is unknown.
	nodes func(*call)
	// serves reports whether a line starts a server; nil: one without the address of a server does.
	serves func(*call) bool
	// processes returns the number of the process that a command line starts, -1 if unknown, and
	// the number of command lines of a run; nil: one.
	processes func(*call) (number, of int64)
	// ofProcess are the flags in which the lines of one run may differ.
	ofProcess []string
	// measures names what a run measures, for the name of the scenario; nil: the name of the tool.
	measures func(*call) string
	// instead returns the calls of another tool that the tool makes; nil: it measures itself.
	instead func(*call, Options) ([]*call, error)
}

// tools are all tools, in the order of docs/import.md. init breaks an initialization cycle between
// kvbench and nixlbench.
var tools []*tool

func init() {
	tools = []*tool{nixlbench, kvbench, ucxPerftest, perftest, nixlEP}
	scriptTools = []*tool{
		matgen, sequentialCTPerftest, ctPerftest, vllmBench, sglangBench, aiperf, genaiPerf, guidellm, inferencePerf,
		llmperf, evalscope, curl, fio, ncclTests, osu, fiPingpong, iperf3,
	}
}

// Tools returns the names of all tools.
func Tools() []string {
	var names []string
	for _, t := range tools {
		names = append(names, t.name)
	}
	return names
}

// RunsItself reports whether a scenario can run a tool and read its output. It reads no file of a tool, because each
// start of weir asks.
func RunsItself(name string) bool {
	i := slices.IndexFunc(tools, func(t *tool) bool { return t.name == name })
	return i >= 0 && (tools[i].command != nil || tools[i].instead != nil)
}

// allTools returns the tools including the other programs of their suites.
func allTools() []*tool {
	loadTools()
	return withOthers(slices.Concat(tools, scriptTools))
}

func withOthers(tools []*tool) (all []*tool) {
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
	loadTools()
	return tools[i], nil
}

func (t *tool) workload() *workload.Kind {
	if t.kind == nil {
		return transfer.Kind
	}
	return t.kind
}

// scriptTools are further tools whose calls are found in scripts, by weir import without a name.
var scriptTools []*tool

func (t *tool) called() []string {
	switch {
	case t.Programs == nil:
		return []string{t.name}
	case t.also != nil:
		return slices.Concat(t.Programs, t.also.called())
	}
	return t.Programs
}

// of returns the tool of the suite that is called.
func (t *tool) of(program string) *tool {
	for other := t.also; other != nil; other = other.also {
		if slices.Contains(other.Programs, path.Base(program)) {
			return other
		}
	}
	return t
}

// Import converts command lines to a scenario with a run for each.
func Import(name string, lines []Line, o Options) (*Imported, error) {
	t, err := lookup(name)
	if err != nil {
		return nil, err
	}
	calls, notes, err := t.calls(lines, o)
	if err != nil {
		return nil, err
	}
	tellTogether(calls)
	if o.AsCommand && calls[0].tool.command == nil {
		return nil, fmt.Errorf("weir cannot read what %s prints, so there is no --as-command", calls[0].program())
	}
	runs, more, err := convert(calls, o, len(calls) > 1)
	if err != nil {
		return nil, err
	}
	notes = append(notes, more...)
	src, err := scenario(title(calls), t.name, runs, notes)
	return &Imported{Scenario: src, Notes: notes, Variables: variablesOf(runs)}, err
}

// convert fills the run of each call. Its notes name the run if there are several.
func convert(calls []*call, o Options, several bool) (runs []*run, notes []Note, err error) {
	var unmapped []string
	noted := map[Note][]string{} // the runs of equal notes
	for rest := calls; len(rest) > 0; {
		var passes []*call
		passes, rest = ofOneCommand(rest)
		passes = distinct(passes)
		for i, c := range passes {
			c.run.name = runName(c, len(runs)+i)
			if err := c.convert(o); err != nil {
				return nil, nil, fmt.Errorf("%s%w", c.at, err)
			}
		}
		passes = swept(sameRuns(passes))
		for i, c := range passes {
			c.run.name = runName(c, len(runs)+i)
		}
		for _, c := range passes {
			for _, one := range append([]*call{c}, c.further...) {
				one.became("run " + c.run.name)
			}
			for _, n := range c.notes {
				if noted[n] == nil {
					notes = append(notes, n)
				}
				noted[n] = append(noted[n], c.run.name)
			}
			for _, lost := range c.unmapped {
				unmapped = append(unmapped, c.at+lost)
			}
			runs = append(runs, c.run)
		}
	}
	if len(unmapped) > 0 && !o.SkipUnmapped {
		ways := "--skip-unmapped ignores them"
		if calls[0].tool.command != nil && !slices.ContainsFunc(calls, func(c *call) bool { return c.unread }) {
			ways += ", --as-command runs " + calls[0].tool.name + " itself"
		}
		return nil, nil, fmt.Errorf("%s\nthese flags change what is measured: %s", strings.Join(unmapped, "\n"), ways)
	}
	for i, n := range notes {
		if several {
			notes[i].Text = ofRuns(noted[n]) + ": " + n.Text
		}
	}
	return runs, notes, nil
}

var notInTitles = lazyregexp.New(`[^A-Za-z0-9_-]`)

// title returns the common name of what calls measure, if it is the same.
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
	return strings.ToLower(notInTitles().ReplaceAllString(name, "-"))
}

// calls returns the calls that measure something. For a tool with two sides these are the clients'
// calls, which also describe the servers.
func (t *tool) calls(lines []Line, o Options) (calls []*call, notes []Note, err error) {
	servers := 0
	for _, l := range lines {
		c, err := t.of(l.path).read(l, o)
		if err != nil {
			return nil, nil, fmt.Errorf("%s%w", l.at, err)
		}
		if c.isServer() {
			servers++
			if l.fate != nil {
				l.fate.Became = "nothing: it starts a server, and the line of the client describes both sides"
			}
			continue
		}
		isFurther := join(c, calls)
		if c.wrong != nil {
			return nil, nil, fmt.Errorf("%s%w", l.at, c.wrong)
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
		for _, one := range made {
			one.stages, one.order = c.stages, c.order
		}
		calls = append(calls, made...)
	}
	calls = inWaves(calls)
	switch {
	case len(calls) > 0:
		if servers > 0 {
			notes = append(notes, Note{
				Text: "lines without the address of a server start servers, and are ignored: the lines of clients define the measurement",
			})
		}
		return calls, notes, nil
	case servers > 0:
		return nil, nil, errServer
	}
	return nil, nil, errors.New("there is nothing to import")
}

var errServer = errors.New("this is the command line of the server, since it has no address of a server: " +
	"give that of the client")

// isServer reports whether a call starts the server of a test with two sides.
func (c *call) isServer() bool {
	switch {
	case !c.tool.TwoSided:
		return false
	case c.tool.serves != nil:
		return c.tool.serves(c)
	}
	return len(c.positional) == 0 && (c.launch.by == "" || c.launch.alone())
}

func runName(c *call, i int) string {
	name := c.tool.name
	if len(c.tool.Programs) > 1 && c.tool.kind != serving.Kind {
		name = c.program()
	}
	if i > 0 {
		name = fmt.Sprintf("%s_%d", name, i+1)
	}
	return name
}
