package input

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
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
	if planLimit <= 0 {
		return dsl.Options{}, exit.Usage("--plan-timeout %v: it leaves no time", planLimit)
	}
	o := dsl.Options{Vars: map[string]string{}, VarsAt: map[string]hcl.Range{}, VarFiles: map[string][]byte{}}
	if err := v.read(&o); err != nil {
		return dsl.Options{}, err
	}
	s, err := v.Site.Read()
	if err != nil {
		return dsl.Options{}, err
	}
	if s != nil {
		o.References, o.Links = s.References, s.Links()
	}
	return o, nil
}

// read reads the texts of all variables, by name.
func (v *Variables) read(o *dsl.Options) error {
	for _, path := range v.Files {
		b, err := bounded.ReadFile(path, bounded.Text)
		if err != nil {
			return exit.Usage("--var-file: %w", err)
		}
		values, err := parseVariables(path, string(b))
		if err != nil {
			return exit.Usage("%s:%w", path, err)
		}
		o.VarFiles[path] = b
		for name, value := range values {
			o.Vars[name], o.VarsAt[name] = value.text, value.at
		}
	}
	for _, text := range v.Vars {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return exit.Usage("--var %q: write it as NAME=VALUE", text)
		}
		o.Vars[name] = value
		delete(o.VarsAt, name)
	}
	return nil
}

// valueInFile is a value of a file of variables.
type valueInFile struct {
	text string
	at   hcl.Range // of its line
}

// parseVariables reads lines of `name = value` or `name: value`, the value bare
// or in double quotes; # begins a comment line.
func parseVariables(path, text string) (map[string]valueInFile, error) {
	values := map[string]valueInFile{}
	from := 0
	for i, whole := range strings.Split(text, "\n") {
		line := strings.TrimSpace(whole)
		begin := from + strings.Index(whole, line)
		from += len(whole) + 1
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.IndexAny(line, "=:")
		if at <= 0 {
			return nil, fmt.Errorf("%d: %q is not of the form name = value", i+1, line)
		}
		name, value := strings.TrimSpace(line[:at]), strings.TrimSpace(line[at+1:])
		if first, twice := values[name]; twice {
			return nil, fmt.Errorf("%d: %s is already given on line %d", i+1, name, first.at.Start.Line)
		}
		if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
			value = value[1 : len(value)-1]
		}
		values[name] = valueInFile{value, hcl.Range{
			Filename: path, Start: hcl.Pos{Line: i + 1, Column: 1, Byte: begin},
			End: hcl.Pos{Line: i + 1, Column: 1 + len(line), Byte: begin + len(line)},
		}}
	}
	return values, nil
}
