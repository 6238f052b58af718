package importer

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/workload/serving"
	"github.com/weir-bench/weir/workload/transfer"
)

// call is one call of a tool while it is converted to a run.
type call struct {
	tool       *tool
	at         string
	path       string    // path of the program as called
	given      []setting // in order, those of a configuration first
	own        int       // how many of given are not from the command line
	positional []string
	memory     string
	read       func(path string) ([]byte, error) // reads files that flags name; nil: there are none
	files      map[string]*string                // that the script wrote before
	base       string                            // the directory of the scenario
	launch     launcherCall
	whole      []string // all words of the command, those of launchers too
	ofWrappers []Note   // of words that a run of the whole command line has
	outer      *outer
	amount
	atOnce  int     // how many of its requests run together; 0: only the shell knows
	waves   bool    // the script waits for all of them
	load    string  // what its requests have in common with others of one load
	various variety // in what they differ
	fate    *Fate   // of its line in a script
	process int64   // its number among the processes of its run
	further []*call // lines of other processes of the run

	run      *run
	notes    []Note
	unmapped []string
	unread   bool  // of what it prints as a command
	wrong    error // the first error
}

func (t *tool) read(l Line, o Options) (*call, error) {
	if l.wrong != nil {
		return nil, l.wrong
	}
	l.cutPassed(t)
	settings, positional, err := t.parse(l.args)
	if err != nil {
		return nil, err
	}
	c := &call{
		tool: t, at: l.at, path: l.path, given: settings, positional: positional, memory: o.Memory,
		read: o.Read, base: o.Base, files: l.files,
		run: &run{kind: t.workload(), env: l.env, options: map[string]value{}}, notes: l.notes, launch: l.launch,
		whole: l.whole, ofWrappers: l.ofWrappers, outer: l.outer, fate: l.fate, amount: l.amount, atOnce: 1,
	}
	if err := t.takesArguments(positional); err != nil {
		return nil, err
	}
	if t.settings != nil {
		before, err := t.settings(c, o)
		if err != nil {
			return nil, err
		}
		c.own, c.given = len(before), append(before, settings...)
	}
	return c, nil
}

// program returns the name of the called program.
func (c *call) program() string { return path.Base(c.path) }

// convert fills the run.
func (c *call) convert(o Options) error {
	if c.tool.nodes != nil {
		if c.tool.nodes(c); c.wrong != nil {
			return c.wrong
		}
	}
	if o.AsCommand && c.tool.command != nil || c.tool.native == nil {
		for _, s := range c.given {
			if s.flag.Secret {
				c.warn("%s: the scenario has its value in clear text", c.shown(s.flag))
			}
			if s.flag.fate != ignored && s.flag.Shell == "" && unexpanded(s.value) {
				return fmt.Errorf("%s: %q%s", c.shown(s.flag), s.value, ofShell(s.value))
			}
		}
		if err := unknownOf(c.run.env); err != nil {
			return err
		}
		c.tool.command(c)
		c.noteAll(c.ofWrappers)
		c.refuseUnexpanded()
		return c.wrong
	}
	c.noteAll(c.ofWrappers)
	if o.AsCommand {
		c.warn("--as-command: weir does not run %s itself; the run measures with weir", c.tool.name)
	}
	if c.tool != curl {
		c.noteJoined()
	}
	for i := range c.tool.Flags {
		if err := c.apply(&c.tool.Flags[i]); err != nil {
			return err
		}
	}
	c.tool.native(c)
	if c.run.kind == serving.Kind && c.run.options["output"] == nil && c.run.options["trace"] == nil {
		c.note("answers: the command line sets no length; weir asks for its default of 128 tokens, see `output`")
	}
	return c.wrong
}

// apply converts one flag.
func (c *call) apply(f *flag) error {
	v, given := c.get(f)
	if given && f.seedNewEachTime(v) {
		c.note("%s %s: left out, since it is another one each time", c.shown(f), v)
		return nil
	}
	if given && f.fate != ignored && f.fate != unavailable && f.Shell == "" && unexpanded(v) {
		return fmt.Errorf("%s: %q%s", c.shown(f), v, ofShell(v))
	}
	switch f.fate {
	case ignored:
		if given {
			c.note("%s: %s", c.shownAll(f), f.says)
		}
	case unavailable:
		if given {
			c.warn("%s: %s", c.shownAll(f), f.says)
		}
	case unmapped:
		if given && !sameValue(v, f.Default) && v != "false" {
			c.unmappedFlag("%s: %s", c.shownAll(f), f.says)
		}
	case asOption, asVariable:
		if v == "" {
			return nil
		}
		if f.Values != nil {
			to, ok := f.Values[v]
			if !ok {
				return fmt.Errorf("%s: weir does not support %q; it supports %s", c.shown(f), v,
					strings.Join(sortedKeys(f.Values), ", "))
			}
			v = to
		}
		if f.fate == asVariable {
			c.setEnv(f.says, v)
			return nil
		}
		return c.fromFlag(f, v, given)
	}
	return nil
}

// fromFlag sets an option from one flag. A default equal to weir's is omitted unless the flag is
// given.
func (c *call) fromFlag(f *flag, v string, given bool) error {
	o, ok := c.run.kind.Option(f.says)
	if !ok {
		return fmt.Errorf("workload %s has no option %s", c.run.kind.Name, f.says)
	}
	if isMemory(f.says) {
		c.setMemory(c.shown(f), f.says, v)
		return c.wrong
	}
	parsed, err := o.Parse(v)
	if err != nil {
		return fmt.Errorf("%s: %w", c.shown(f), err)
	}
	b, isBool := parsed.(bool)
	switch {
	case !given && parsed == o.Default:
	case isBool:
		c.set(f.says, truth(b))
	default:
		c.set(f.says, literal(v))
	}
	return nil
}

// sameValue reports whether two values are the same text or number.
func sameValue(a, b string) bool {
	x, wrong := strconv.ParseFloat(a, 64)
	y, also := strconv.ParseFloat(b, 64)
	return a == b || wrong == nil && also == nil && x == y
}

// shownAll formats all names under which a command line has a flag.
func (c *call) shownAll(f *flag) string {
	var names []string
	for _, s := range c.given {
		if s.flag == f && len(s.words) > 0 && strings.HasPrefix(s.words[0], "-") {
			if written, _, _ := strings.Cut(s.words[0], "="); !slices.Contains(names, written) {
				names = append(names, written)
			}
		}
	}
	if names == nil {
		return f.shown()
	}
	return strings.Join(names, ", ")
}

// shown formats a flag as the command line has it; one that it lacks by its long name.
func (c *call) shown(f *flag) string {
	for _, s := range c.given {
		if s.flag == f && len(s.words) > 0 && strings.HasPrefix(s.words[0], "-") {
			written, _, _ := strings.Cut(s.words[0], "=")
			return written
		}
	}
	return f.shown()
}

func isMemory(option string) bool { return option == "initiator" || option == "target" }

// setMemory sets the memory of a side's buffers: that of the command line unless another kind is
// requested.
func (c *call) setMemory(shown, option, kind string) {
	o, _ := transfer.Kind.Option(option)
	if c.memory != "" && c.memory != kind {
		c.warn("%s: the command line has %s; --memory puts the buffers into %s", shown, kind, c.memory)
		kind = c.memory
	}
	parsed, err := o.Parse(kind)
	if err != nil {
		c.fail("%s: %w. Use --memory dram for the same transfer between host memories", shown, err)
	} else if parsed != o.Default {
		c.set(option, literal(kind))
	}
}

const vram = literal("vram")

// usePrivateMemory places buffers in host memory in private memory, as these tools do, once the kinds of memory
// are known.
func (c *call) usePrivateMemory() {
	if c.run.options["initiator"] != vram || c.run.options["target"] != vram {
		c.set("alloc", literal("heap"))
	}
}

func (c *call) set(option string, v value) { c.run.options[option] = v }

// setEnv sets a variable unless the command line does.
func (c *call) setEnv(name, v string) {
	if slices.ContainsFunc(c.run.env, func(e Variable) bool { return e.Name == name }) {
		c.note("%s: the command line sets it", name)
		return
	}
	c.run.env = append(slices.Clone(c.run.env), Variable{Name: name, Value: v})
}

// get returns the last value of a flag, or its default.
func (c *call) get(f *flag) (v string, given bool) {
	for _, s := range slices.Backward(c.given) {
		if s.flag == f {
			return s.value, true
		}
	}
	return f.Default, false
}

func (c *call) has(name string) bool {
	_, given := c.get(c.tool.flag(name))
	return given
}

func (c *call) text(name string) string {
	v, _ := c.get(c.tool.flag(name))
	return v
}

// number returns the value of a flag within bounds; on error, the lower bound.
func (c *call) number(name string, least, most int64) int64 {
	f := c.tool.flag(name)
	v, _ := c.get(f)
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < least || n > most {
		c.fail("%s: %s is not from %d to %d", c.shown(f), v, least, most)
		return least
	}
	return n
}

// fail keeps the first error.
func (c *call) fail(format string, args ...any) {
	if c.wrong == nil {
		c.wrong = fmt.Errorf(format, args...)
	}
}

func (c *call) note(format string, args ...any) {
	c.notes = append(c.notes, Note{Text: fmt.Sprintf(format, args...)})
}

// noteAll adds the notes that it lacks.
func (c *call) noteAll(notes []Note) {
	for _, n := range notes {
		if !slices.Contains(c.notes, n) {
			c.notes = append(slices.Clip(c.notes), n)
		}
	}
}

func (c *call) warn(format string, args ...any) {
	c.notes = append(c.notes, Note{Text: fmt.Sprintf(format, args...), Warning: true})
}

// unmappedFlag reports that something cannot be mapped: an error unless it is to be skipped.
func (c *call) unmappedFlag(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	c.unmapped = append(c.unmapped, text)
	c.notes = append(c.notes, Note{Text: "not mapped: " + text, Warning: true})
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
