package toolimport

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"weir/workload/transfer"
)

// call is one call of a tool while it becomes a run.
type call struct {
	tool       *tool
	at         string
	path       string    // the program, as it is called
	given      []setting // in their order, those of a configuration first
	own        int       // how many of given are not of the command line
	positional []string
	memory     string
	read       func(path string) ([]byte, error) // of files that flags name; nil: there are none
	launch     launch
	process    int64   // its number among those of its run
	further    []*call // the lines of other processes of the run

	run      *run
	notes    []Note
	unmapped []string
}

func (t *tool) read(l Line, o Options) (*call, error) {
	settings, positional, err := t.parse(l.args)
	if err != nil {
		return nil, err
	}
	c := &call{
		tool: t, at: l.at, path: l.path, given: settings, positional: positional, memory: o.Memory,
		run: &run{kind: t.workload(), env: l.env, options: map[string]value{}}, notes: l.notes, launch: l.launch,
	}
	if !t.twoSided && len(positional) > 0 && t.instead == nil {
		return nil, fmt.Errorf("%s takes no argument %q without a flag", t.name, positional[0])
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

// program is the name of the program that is called.
func (c *call) program() string { return path.Base(c.path) }

// convert fills the run.
func (c *call) convert(o Options) error {
	if c.tool.nodes != nil {
		if err := c.tool.nodes(c); err != nil {
			return err
		}
	}
	if o.AsCommand {
		for _, s := range c.given {
			if s.flag.secret {
				c.warn("%s: the scenario has its value in clear text", s.flag.shown())
			}
			if s.flag.fate != ignored && unexpanded(s.value) {
				return fmt.Errorf("%s: %q%s", s.flag.shown(), s.value, ofShell(s.value))
			}
		}
		return c.tool.command(c)
	}
	c.joined()
	for i := range c.tool.flags {
		if err := c.apply(&c.tool.flags[i]); err != nil {
			return err
		}
	}
	return c.tool.native(c)
}

// apply is what becomes of one flag alone.
func (c *call) apply(f *flag) error {
	v, given := c.get(f)
	if given && f.fate != ignored && unexpanded(v) {
		return fmt.Errorf("%s: %q%s", f.shown(), v, ofShell(v))
	}
	switch f.fate {
	case ignored:
		if given {
			c.note("%s: %s", f.shown(), f.doc)
		}
	case unavailable:
		if given {
			c.warn("%s: %s", f.shown(), f.doc)
		}
	case unmapped:
		if given && v != f.initial && v != "false" {
			c.lose("%s: %s", f.shown(), f.doc)
		}
	case asOption, asVariable:
		if v == "" {
			return nil
		}
		if f.values != nil {
			to, ok := f.values[v]
			if !ok {
				return fmt.Errorf("%s: weir has nothing for %q; it has something for %s", f.shown(), v,
					strings.Join(sortedKeys(f.values), ", "))
			}
			v = to
		}
		if f.fate == asVariable {
			c.setEnv(f.to, v)
			return nil
		}
		return c.fromFlag(f, v, given)
	}
	return nil
}

// fromFlag sets an option that one flag has the value of. What is weir's default too and
// is not given stays unsaid.
func (c *call) fromFlag(f *flag, v string, given bool) error {
	o, ok := c.run.kind.Option(f.to)
	if !ok {
		return fmt.Errorf("workload %s has no option %s", c.run.kind.Name, f.to)
	}
	if isMemory(f.to) {
		return c.setMemory(f.shown(), f.to, v)
	}
	parsed, err := o.Parse(v)
	if err != nil {
		return fmt.Errorf("%s: %w", f.shown(), err)
	}
	b, isBool := parsed.(bool)
	switch {
	case !given && parsed == o.Default:
	case isBool:
		c.set(f.to, truth(b))
	default:
		c.set(f.to, literal(v))
	}
	return nil
}

func isMemory(option string) bool { return option == "initiator" || option == "target" }

// setMemory decides in which memory a side has its buffers: where the command line has
// them unless another kind is asked for.
func (c *call) setMemory(shown, option, kind string) error {
	o, _ := transfer.Kind.Option(option)
	if c.memory != "" && c.memory != kind {
		c.warn("%s: the command line has %s; --memory puts the buffers into %s", shown, kind, c.memory)
		kind = c.memory
	}
	parsed, err := o.Parse(kind)
	if err != nil {
		return fmt.Errorf("%s: %w. --memory dram moves the same between buffers in host memory", shown, err)
	}
	if parsed != o.Default {
		c.set(option, literal(kind))
	}
	return nil
}

const vram = literal("vram")

// heap puts buffers in host memory into private memory, as these tools have them, once the kinds of
// memory are known.
func (c *call) heap() {
	if c.run.options["initiator"] != vram || c.run.options["target"] != vram {
		c.set("alloc", literal("heap"))
	}
}

func (c *call) set(option string, v value) { c.run.options[option] = v }

// setEnv sets a variable unless the command line itself does.
func (c *call) setEnv(name, v string) {
	if slices.ContainsFunc(c.run.env, func(e Variable) bool { return e.Name == name }) {
		c.note("%s: the command line sets it", name)
		return
	}
	c.run.env = append(slices.Clone(c.run.env), Variable{name, v})
}

// get is the last value of a flag, or its default.
func (c *call) get(f *flag) (v string, given bool) {
	for _, s := range slices.Backward(c.given) {
		if s.flag == f {
			return s.value, true
		}
	}
	return f.initial, false
}

func (c *call) has(name string) bool {
	_, given := c.get(c.tool.flag(name))
	return given
}

func (c *call) text(name string) string {
	v, _ := c.get(c.tool.flag(name))
	return v
}

func (c *call) number(name string, least, most int64) (int64, error) {
	f := c.tool.flag(name)
	v, _ := c.get(f)
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%s: %s is not from %d to %d", f.shown(), v, least, most)
	}
	return n, nil
}

func (c *call) note(format string, args ...any) {
	c.notes = append(c.notes, Note{Text: fmt.Sprintf(format, args...)})
}

func (c *call) warn(format string, args ...any) {
	c.notes = append(c.notes, Note{Text: fmt.Sprintf(format, args...), Warning: true})
}

// lose says that something cannot be mapped, which is an error unless it is left out.
func (c *call) lose(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	c.unmapped = append(c.unmapped, text)
	c.notes = append(c.notes, Note{Text: "not mapped: " + text, Warning: true})
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
