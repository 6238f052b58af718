package results

import (
	"errors"
	"maps"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/placeholder"
)

// ResolvedOptions are the options of the case as its launches had them: expressions over other runs are
// replaced by their values when the first launch began.
func (c *Case) ResolvedOptions() map[string]any {
	if len(c.Later) == 0 {
		return c.Options
	}
	out := maps.Clone(c.Options)
	for _, name := range c.Later {
		text, ok := c.Options[name].(string)
		if !ok {
			continue
		}
		settled := c.resolve(text)
		out[name] = settled
		if n, err := strconv.ParseFloat(settled, 64); err == nil {
			out[name] = n // as counts in JSON
		}
	}
	return out
}

// ResolvedEnv are the variables of the case, resolved as in ResolvedOptions.
func (c *Case) ResolvedEnv() map[string]string {
	if len(c.Later) == 0 {
		return c.Env
	}
	out := maps.Clone(c.Env)
	for _, later := range c.Later {
		if name, ok := strings.CutPrefix(later, "env."); ok {
			out[name] = c.resolve(c.Env[name])
		}
	}
	return out
}

// errNoValue keeps the text unresolved; it is never displayed.
var errNoValue = errors.New("no launch has a value")

// resolve replaces expressions in a text by their values in the first launch.
func (c *Case) resolve(text string) string {
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
