package environ

import (
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
)

// Redacted replaces the value of a secret.
const Redacted = "***"

// credentials are weir's own variables that child processes do not inherit.
var credentials = []string{"WEIR_ETCD_PASSWORD", "WEIR_NOTIFY"}

// Layers are the sources of a process's variables. The last layer with a name wins, except that Binding
// never replaces Shell, Scenario or Secrets.
type Layers struct {
	Own      []string          // the environment of the agent, NAME=value
	Shell    map[string]string // carried from the shell of weir run
	Binding  map[string]string // of the devices that a rank is bound to
	Scenario map[string]string
	Unset    []string          // variables that the scenario unsets
	Secrets  map[string]string // with their values
	Weir     []string          // weir's own variables, NAME=value
	Defaults []string          // defaults of unset variables, NAME=value; not recorded
}

// Composed is the environment of a process.
type Composed struct {
	Env      []string           // each name once, weir's own last
	Record   []results.Variable // library variables by name, without weir's own
	Replaced []string           // names of variables that weir's own replaced
}

// setting is a variable's value and its source.
type setting struct{ value, from string }

// Compose makes an environment.
func (l Layers) Compose() Composed {
	all := map[string]setting{}
	set := func(pairs []string, from string) {
		for _, pair := range pairs {
			if name, value, ok := strings.Cut(pair, "="); ok && name != "" && !strings.Contains(pair, "\x00") {
				all[name] = setting{value, from}
			}
		}
	}
	set(l.Own, results.FromNode)
	for _, name := range credentials {
		delete(all, name)
	}
	set(Pairs(l.Shell), results.FromShell)
	set(Pairs(l.binding()), results.FromBinding)
	for _, name := range l.Unset {
		delete(all, name)
	}
	set(Pairs(l.Scenario), results.FromScenario)
	set(Pairs(l.Secrets), results.FromSecret)
	var c Composed
	for _, pair := range l.Weir {
		name, value, _ := strings.Cut(pair, "=")
		if had, ok := all[name]; ok && had.value != value {
			c.Replaced = append(c.Replaced, name)
		}
		delete(all, name)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		c.Env = append(c.Env, name+"="+s.value)
		if !Library(name) {
			continue
		}
		if s.from == results.FromSecret {
			s.value = Redacted
		}
		c.Record = append(c.Record, results.Variable{Name: name, Value: s.value, From: s.from})
	}
	for _, pair := range l.Defaults {
		name, _, _ := strings.Cut(pair, "=")
		if _, set := all[name]; !set && !slices.Contains(l.Unset, name) {
			c.Env = append(c.Env, pair)
		}
	}
	c.Env = append(c.Env, l.Weir...)
	return c
}

// binding are the variables of Binding that no other layer sets.
func (l Layers) binding() map[string]string {
	left := maps.Clone(l.Binding)
	for _, other := range []map[string]string{l.Shell, l.Scenario, l.Secrets} {
		for name := range other {
			delete(left, name)
		}
	}
	return left
}

// Pairs are variables in the form of an environment, by name.
func Pairs(variables map[string]string) []string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		pairs = append(pairs, name+"="+variables[name])
	}
	return pairs
}
