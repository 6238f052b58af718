package results

import (
	"errors"
	"maps"
	"strconv"
	"strings"

	"weir/placeholder"
)

// errUnknown says that a name is of another launch, or none of a value of a run.
var errUnknown = errors.New("no value")

// Settled are the options of the case as its launches had them: those that follow from other runs
// have the numbers that these were when the first of its launches began.
func (c *Case) Settled() map[string]any {
	if !c.hasValues() {
		return c.Options
	}
	out := maps.Clone(c.Options)
	for name, v := range c.Options {
		text, _ := v.(string)
		settled, changed := c.settle(text)
		if !changed {
			continue
		}
		out[name] = settled
		if n, err := strconv.ParseFloat(settled, 64); err == nil {
			out[name] = n // as JSON has counts
		}
	}
	return out
}

// SettledEnv are the variables of the case as its launches had them, as Settled.
func (c *Case) SettledEnv() map[string]string {
	if !c.hasValues() {
		return c.Env
	}
	out := maps.Clone(c.Env)
	for name, text := range c.Env {
		out[name], _ = c.settle(text)
	}
	return out
}

func (c *Case) hasValues() bool { return len(c.Launches) > 0 && len(c.Launches[0].Values) > 0 }

// settle gives the names in a text the values that the first launch had of them. A text without
// names, and one that has names without such a value, stays as it is.
func (c *Case) settle(text string) (settled string, changed bool) {
	if !strings.Contains(text, "${") {
		return text, false
	}
	settled, err := placeholder.Expand(text, func(name string) (string, error) {
		if value, ok := c.Launches[0].Values[name]; ok {
			return value, nil
		}
		return "", errUnknown
	})
	if err != nil {
		return text, false
	}
	return settled, true
}
