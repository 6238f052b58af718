// Plans as text: runs, stages and commands.

package planner

import (
	"fmt"
	"github.com/weir-bench/weir/internal/quantity"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// stage is a heading with the runs below it.
type stage struct {
	name string
	runs []string
}

// stages returns the stages in execution order: first the runs without a stage, then each stage at
// its first run.
func (p *Plan) stages() []stage {
	all := []stage{{}}
	for _, run := range p.runs() {
		name := ""
		if r := p.run(run); r != nil {
			name = r.Stage
		}
		i := slices.IndexFunc(all, func(s stage) bool { return s.name == name })
		if i < 0 {
			i, all = len(all), append(all, stage{name: name})
		}
		all[i].runs = append(all[i].runs, run)
	}
	return all
}

// text writes the shared settings of a run's cases besides options.
func (r *Run) text(t io.Writer) {
	if r == nil {
		return // a plan of an earlier version
	}
	rowOfWords(t, "  tags", r.Tags)
	if r.Order.By != "given" {
		textRow(t, "  order", r.Order.text())
	}
	if r.While != "" {
		textRow(t, "  while", r.While+" runs (background load)")
	}
	var files []string
	for _, option := range slices.Sorted(maps.Keys(r.Files)) {
		files = append(files, option+"="+r.Files[option])
	}
	rowOfWords(t, "  files", files)
	rowOfWords(t, "  metrics", metricWords(r.Metrics))
	for _, name := range slices.Sorted(maps.Keys(r.VariantNotes)) {
		textRow(t, "  variant", name+": "+r.VariantNotes[name])
	}
	if r.Retry != nil {
		textRow(t, "  retry", r.Retry.text())
	}
	if r.MayFail != nil {
		textRow(t, "  may fail", r.mayFailText())
	}
	for _, name := range []string{"ready", "connect", "run", "verify", "teardown"} {
		if limit, ok := r.Phases[name]; ok {
			textRow(t, "  timeout", quantity.ShortSeconds(limit)+" for phase "+name)
		}
	}
	for _, c := range []struct {
		name string
		list []Command
	}{
		{"setup", r.Setup}, {"setup each launch", r.LaunchSetup}, {"teardown each launch", r.LaunchTeardown},
		{"teardown", r.Teardown},
	} {
		textCommands(t, "  "+c.name, c.list)
	}
}

func (o Order) text() string {
	s := o.By
	if o.Axis != "" {
		s += " over " + o.Axis
	}
	if o.By == "random" {
		s += fmt.Sprintf(", seed %d", o.Seed)
	}
	return s
}

func (r *Retry) text() string {
	if r == nil {
		return ""
	}
	s := fmt.Sprintf("up to %s on %s", plural(r.Times, "time"), strings.Join(r.On, ", "))
	if r.Wait > 0 {
		s += ", " + "after " + quantity.ShortSeconds(r.Wait)
	}
	return s
}

func (r *Run) mayFailText() string {
	if r.MayFail == nil {
		return ""
	}
	return r.MayFail.String()
}

func textCommands(t io.Writer, name string, list []Command) {
	for _, c := range list {
		textRow(t, name, c.text())
	}
}

// text describes what the command runs and where.
func (c Command) text() string {
	s := textArgv(c.Command) + " on " + c.On + " within " + quantity.ShortSeconds(c.Timeout)
	if len(c.Command) > 0 && !strings.HasSuffix(c.Command[0], c.Name) {
		s = c.Name + ": " + s
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		s += ", " + name + "=" + textWord(c.Env[name])
	}
	for _, name := range slices.Sorted(maps.Keys(c.Secrets)) {
		s += ", secret " + name + " from " + c.Secrets[name]
	}
	return s
}

func (a Artifact) text() string {
	s := a.Name + ": "
	if a.File != "" {
		s += a.File
	} else {
		s += "output of " + textArgv(a.Command)
	}
	s += " of " + a.On + " at the " + a.At + " within " + quantity.ShortSeconds(a.Timeout)
	if a.Required {
		s += ", required"
	}
	return s
}

// textArgv quotes arguments as needed.
func textArgv(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = textWord(a)
	}
	return strings.Join(words, " ")
}

func textWord(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\n\"'") {
		return strconv.Quote(s)
	}
	return s
}
