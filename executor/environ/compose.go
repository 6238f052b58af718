package environ

import (
	"maps"
	"slices"
	"strings"

	"weir/results"
)

// Redacted stands for a value that nothing may show.
const Redacted = "***"

// credentials are weir's own variables that no process has a use for that an agent starts.
var credentials = []string{"WEIR_JOIN_TOKEN", "WEIR_ETCD_PASSWORD"}

// Layers are where the variables of a process come from. Of a name that several layers
// have, the last layer wins, but a seat never replaces what anybody else has set.
type Layers struct {
	Own      []string          // the environment of the agent, NAME=value
	Shell    map[string]string // carried from the shell of weir run
	Seat     map[string]string
	Scenario map[string]string
	Unset    []string          // variables that the scenario leaves unset
	Secrets  map[string]string // their values
	Weir     []string          // what weir cannot do without, NAME=value
	Defaults []string          // what a process has where nobody sets it, NAME=value; it is not recorded
}

// Composed is the environment of a process.
type Composed struct {
	Env      []string           // each name once, weir's own last
	Record   []results.Variable // library variables by name, but for weir's own
	Replaced []string           // names of variables that weir's own values replaced
}

// setting is a variable's value and where it comes from.
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
	set(Pairs(l.seat()), results.FromSeat)
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

// seat is what of the seat's variables nobody else sets.
func (l Layers) seat() map[string]string {
	left := maps.Clone(l.Seat)
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
