package dsl

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl/grammar"
)

// The scopes of a command.
const (
	sessionScope = "session"
	runScope     = "run"
	launchScope  = "launch"
)

// maxCommands bounds a list of commands, of which every run may have a copy.
const maxCommands = 100

// scoped is a command with what it surrounds.
type scoped struct {
	*Command
	scope string
}

// hooks are the commands of one place, setup and teardown.
type hooks struct{ setup, teardown []scoped }

// hooks reads setup and teardown of the scenario or of a run. own is the scope
// of a command that names none.
func (l *loader) hooks(content *hcl.BodyContent, own string) hooks {
	return hooks{l.commands(content, "setup", own), l.commands(content, "teardown", own)}
}

func (l *loader) commands(content *hcl.BodyContent, key, own string) []scoped {
	expr := argument(content, key)
	if expr == nil {
		return nil
	}
	items, diags := hcl.ExprList(expr)
	if diags.HasErrors() {
		l.error(expr.Range(), "Not a list", key+" is a list of commands.",
			"Write each as an item: [mount, /mnt/data], or a mapping with command and more.")
		return nil
	}
	if len(items) > maxCommands {
		l.error(expr.Range(), "Too many commands",
			fmt.Sprintf("%s has %d commands; the most is %d.", key, len(items), maxCommands), "Put them into a script.")
		return nil
	}
	var out []scoped
	for _, item := range items {
		if c, ok := l.command(item, key, own); ok {
			out = append(out, c)
		}
	}
	return out
}

// command reads one item: an argument list, or a mapping.
func (l *loader) command(item hcl.Expression, key, own string) (scoped, bool) {
	c := scoped{&Command{On: "every node", Timeout: time.Minute, Range: item.Range()}, own}
	if !isMapping(item) {
		var ok bool
		if c.Argv, ok = l.argv(item, "a command of "+key); ok {
			c.Name = filepath.Base(c.Argv[0])
		}
		return c, ok
	}
	of := "a command of " + key
	p := l.record(item, schemaOf(grammar.Command), of)
	if !l.complete(p, grammar.Command, of) {
		return c, false
	}
	argv, ok := l.argv(argument(p.BodyContent, "command"), "command")
	if ok {
		c.Argv, c.Name = argv, filepath.Base(argv[0])
	}
	if expr := argument(p.BodyContent, "name"); expr != nil {
		c.Name, c.named = l.name(expr), true
	}
	if expr := argument(p.BodyContent, "on"); expr != nil {
		c.On, _ = l.oneOf(expr, grammar.Command, "on")
	}
	if expr := argument(p.BodyContent, "scope"); expr != nil {
		c.scope, _ = l.oneOf(expr, grammar.Command, "scope")
		if own != sessionScope && c.scope == sessionScope {
			l.error(expr.Range(), "Invalid value",
				"A run's command surrounds the run, or each of its launches, never the session.",
				"Move it to "+key+" of the scenario.")
		}
	}
	if expr := argument(p.BodyContent, "timeout"); expr != nil {
		c.Timeout = l.duration(expr, "timeout")
	}
	c.Env, c.Secrets = l.commandEnv(l.section(p.BodyContent, "env"))
	return c, ok
}

// name reads a name for people: any text that is not empty.
func (l *loader) name(expr hcl.Expression) string {
	text, ok := l.text(expr, "name")
	if ok && strings.TrimSpace(text) == "" {
		l.error(expr.Range(), "Invalid name", "The name is empty.", "Write one, or leave the key out.")
	}
	return text
}

// argv reads a program with its arguments.
func (l *loader) argv(expr hcl.Expression, what string) ([]string, bool) {
	items, isList, whole := l.list(expr, what)
	if !isList {
		l.error(expr.Range(), "Not a list", "A command is a list of the program and its arguments; no shell reads it.",
			"Write [fi_info, -p, efa].")
		return nil, false
	}
	var argv []string
	for _, i := range items {
		if strings.ContainsRune(i.text, 0) {
			l.error(i.at, "Invalid value", "It contains a NUL character, which no argument can hold.", "")
			return nil, false
		}
		argv = append(argv, i.text)
	}
	if whole && (len(argv) == 0 || argv[0] == "") {
		l.error(expr.Range(), "Missing command", "It names no program.", "Begin the list with one.")
		return nil, false
	}
	return argv, whole
}

// surround hands commands of the scope of runs and launches to a run, those of
// the scenario outside of the run's own.
func (h hooks) surround(r *Run) {
	for i := len(h.setup) - 1; i >= 0; i-- {
		c := h.setup[i]
		switch c.scope {
		case runScope:
			r.Setup = append([]*Command{c.copy()}, r.Setup...)
		case launchScope:
			r.LaunchSetup = append([]*Command{c.copy()}, r.LaunchSetup...)
		}
	}
	for _, c := range h.teardown {
		switch c.scope {
		case runScope:
			r.Teardown = append(r.Teardown, c.copy())
		case launchScope:
			r.LaunchTeardown = append(r.LaunchTeardown, c.copy())
		}
	}
}

// copy is a command of its own, whose name is still to be told apart from those
// around it.
func (c scoped) copy() *Command {
	out := *c.Command
	return &out
}

func session(all []scoped) []*Command {
	var out []*Command
	for _, c := range all {
		if c.scope == sessionScope {
			out = append(out, c.copy())
		}
	}
	return out
}

// distinctCommands gives commands without a name one that is unique in their
// list, and reports names that are given twice.
func (g *loading) distinctCommands(s *Scenario) {
	lists := [][]*Command{s.Setup, s.Teardown}
	for _, r := range s.Runs {
		lists = append(lists, r.Setup, r.LaunchSetup, r.Teardown, r.LaunchTeardown)
	}
	for _, list := range lists {
		taken := map[string]*Command{}
		for _, c := range list {
			if first := taken[c.Name]; c.named && first != nil {
				g.diags = append(g.diags, diagnostic(c.Range, "Duplicate command",
					fmt.Sprintf("%q is also the name of the command at %s:%d, in the same list.", c.Name,
						first.Range.Filename, first.Range.Start.Line), "Rename one of the two."))
			}
			if c.named {
				taken[c.Name] = c
			}
		}
		number := map[string]int{}
		for _, c := range list {
			if c.named {
				continue
			}
			program := c.Name
			for taken[c.Name] != nil {
				number[program] = max(number[program]+1, 2)
				c.Name = fmt.Sprintf("%s %d", program, number[program])
			}
			taken[c.Name] = c
		}
	}
}
