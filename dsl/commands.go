// Commands of setup and teardown, with the scope that they belong to.

package dsl

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/grammar"
)

// The scopes of a command: what it runs before or after.
const (
	sessionScope = "session"
	runScope     = "run"
	launchScope  = "launch"
)

// scoped is a command with its scope.
type scoped struct {
	*Command
	scope string
}

// hooks are the setup and teardown commands of one section.
type hooks struct{ setup, teardown []scoped }

// hooks reads setup and teardown of the scenario or of a run. own is the default scope.
func (l *loader) hooks(content *hcl.BodyContent, own string) hooks {
	return hooks{l.commands(content, "setup", own), l.commands(content, "teardown", own)}
}

func (l *loader) commands(content *hcl.BodyContent, key, own string) []scoped {
	expr := argument(content, key)
	if expr == nil {
		return nil
	}
	items, _ := l.items(expr, key+" is a list of commands.",
		"Write each as an item: [mount, /mnt/data], or a mapping with command and more.")
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
	l.fill(p, grammar.Command, c.Command)
	if !l.complete(p, grammar.Command, of) {
		return c, false
	}
	ok := len(c.Argv) > 0
	if ok {
		c.Name = filepath.Base(c.Argv[0])
	}
	if expr := argument(p.BodyContent, "name"); expr != nil {
		c.Name, c.named = l.name(expr), true
	}
	if expr := argument(p.BodyContent, "scope"); expr != nil {
		c.scope, _ = l.oneOf(expr, grammar.Command, "scope")
		if own != sessionScope && c.scope == sessionScope {
			l.error(expr.Range(), "Invalid value",
				"A command of a run belongs to the run or to each of its launches, not to the session.",
				"Move it to "+key+" of the scenario.")
		}
	}
	c.Env, c.Secrets = l.commandEnv(l.section(p.BodyContent, "env"))
	return c, ok
}

// name reads a name for display: any text that is not empty.
func (d *decoder) name(expr hcl.Expression) string {
	text, ok := d.text(expr, "name")
	if ok && strings.TrimSpace(text) == "" {
		d.error(expr.Range(), "Invalid name", "The name is empty.", "Write one, or leave the key out.")
	}
	return text
}

// argv reads a program with its arguments.
func (d *decoder) argv(expr hcl.Expression, what string) ([]string, bool) {
	items, isList, whole := d.list(expr, what)
	if !isList {
		d.error(expr.Range(), "Not a list", "A command is a list of the program and its arguments; no shell is used.",
			"Write [fi_info, -p, efa].")
		return nil, false
	}
	var argv []string
	for _, i := range items {
		if strings.ContainsRune(i.text, 0) {
			d.error(i.at, "Invalid value", "It contains a NUL character, which no argument can hold.", "")
			return nil, false
		}
		argv = append(argv, i.text)
	}
	if whole && (len(argv) == 0 || argv[0] == "") {
		d.error(expr.Range(), "Missing command", "It has no program.", "Begin the list with one.")
		return nil, false
	}
	return argv, whole
}

// addTo adds the commands with scope run or launch to a run, those of the scenario outside of
// the run's own.
func (h hooks) addTo(r *Run) {
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

// copy copies the command; distinctCommands names the copy.
func (c scoped) copy() *Command {
	out := *c.Command
	return &out
}

func commandsOfSession(all []scoped) []*Command {
	var out []*Command
	for _, c := range all {
		if c.scope == sessionScope {
			out = append(out, c.copy())
		}
	}
	return out
}

// distinctCommands gives unnamed commands a name unique in their list, and reports duplicate names.
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
