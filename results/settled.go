package results

import (
	"errors"
	"maps"
	"strconv"
	"strings"

	"weir/placeholder"
)

// Settled are the options of the case as its launches had them: those that follow from other runs
// have the numbers that these were when the first of its launches began.
func (c *Case) Settled() map[string]any {
	if len(c.Later) == 0 {
		return c.Options
	}
	out := maps.Clone(c.Options)
	for _, name := range c.Later {
		text, ok := c.Options[name].(string)
		if !ok {
			continue
		}
		settled := c.settle(text)
		out[name] = settled
		if n, err := strconv.ParseFloat(settled, 64); err == nil {
			out[name] = n // as JSON has counts
		}
	}
	return out
}

// SettledEnv are the variables of the case as its launches had them, as Settled.
func (c *Case) SettledEnv() map[string]string {
	if len(c.Later) == 0 {
		return c.Env
	}
	out := maps.Clone(c.Env)
	for _, later := range c.Later {
		if name, ok := strings.CutPrefix(later, "env."); ok {
			out[name] = c.settle(c.Env[name])
		}
	}
	return out
}

// errNoValue is never shown: the text stays as it is.
var errNoValue = errors.New("no launch has a value")

// settle gives the names in a text the values that the first launch had of them.
func (c *Case) settle(text string) string {
	settled, err := placeholder.Expand(text, func(name string) (string, error) {
		if len(c.Launches) > 0 {
			if value, ok := c.Launches[0].Values[name]; ok {
				return value, nil
			}
		}
		return "", errNoValue
	})
	if err != nil {
		return text
	}
	return settled
}
