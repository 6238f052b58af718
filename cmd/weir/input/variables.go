package input

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/launcher"
	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/bounded"
)

// Variables are --var, which takes precedence, and --var-file, and --site for its references and links.
type Variables struct {
	Vars  []string
	Files []string
	Site  launcher.SiteFlag
}

func (v *Variables) Add(f *pflag.FlagSet) {
	f.StringArrayVar(&v.Vars, "var", nil, "set a variable, as `NAME=VALUE` (repeatable)")
	f.StringArrayVar(&v.Files, "var-file", nil, "read variables from a `FILE` of lines name = value (repeatable)")
	v.Site.Add(f)
	f.DurationVar(&planLimit, "plan-timeout", planLimit, "time limit for planning a scenario")
}

// Options are the options for loading scenarios.
func (v *Variables) Options() (dsl.Options, error) {
	vars, err := v.Values()
	if err != nil {
		return dsl.Options{}, err
	}
	s, err := v.Site.Read()
	if err != nil {
		return dsl.Options{}, err
	}
	o := dsl.Options{Vars: vars}
	if s != nil {
		o.References, o.Links = s.References, s.Links()
	}
	return o, nil
}

// Values are the texts of all variables, by name.
func (v *Variables) Values() (map[string]string, error) {
	out := map[string]string{}
	for _, path := range v.Files {
		b, err := bounded.ReadFile(path, bounded.Text)
		if err != nil {
			return nil, exit.Usage("reading variables: %w", err)
		}
		if err := parseVariables(string(b), out); err != nil {
			return nil, exit.Usage("%s:%w", path, err)
		}
	}
	for _, text := range v.Vars {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, exit.Usage("--var %q: write it as NAME=VALUE", text)
		}
		out[name] = value
	}
	return out, nil
}

// parseVariables reads lines of `name = value` or `name: value`, the value bare
// or in double quotes; # begins a comment line.
func parseVariables(text string, into map[string]string) error {
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.IndexAny(line, "=:")
		if at <= 0 {
			return fmt.Errorf("%d: %q is not of the form name = value", i+1, line)
		}
		value := strings.TrimSpace(line[at+1:])
		if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
			value = value[1 : len(value)-1]
		}
		into[strings.TrimSpace(line[:at])] = value
	}
	return nil
}
