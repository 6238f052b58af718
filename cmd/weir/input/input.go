// Package input plans the arguments of a command line: scenario files, folders, saved plans and shipped
// scenarios, with variables, selections and limits.
package input

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/dsl/deadline"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/scenarios"
)

// CatalogPrefix marks the name of a shipped scenario where a file is expected.
const CatalogPrefix = "catalog:"

// Stdin stands for a scenario in YAML on stdin, where a file is expected. It includes files of the working
// directory.
const Stdin = "-"

const stdinName = "stdin.yaml"

// stdin reads stdin once, as some commands load a scenario twice.
var stdin = sync.OnceValues(func() ([]byte, error) {
	src, err := bounded.Stdin()
	if err != nil {
		return nil, exit.With(gate.ExitUsage, fmt.Errorf("reading stdin: %w", err))
	}
	return src, nil
})

// Files are the files of a list of arguments; a folder stands for the scenarios in it.
func Files(args []string) ([]string, error) {
	var out []string
	for _, a := range args {
		st, err := os.Stat(a)
		if strings.HasPrefix(a, CatalogPrefix) || err != nil || !st.IsDir() {
			out = append(out, a)
			continue
		}
		list, err := os.ReadDir(a)
		if err != nil {
			return nil, exit.Usage("reading folder: %w", err)
		}
		before := len(out)
		for _, f := range list {
			if !f.IsDir() && slices.Contains([]string{".yaml", ".yml", ".hcl"}, filepath.Ext(f.Name())) {
				out = append(out, filepath.Join(a, f.Name()))
			}
		}
		if len(out) == before {
			return nil, exit.Usage("%s holds no scenario: no .yaml, .yml or .hcl file", a)
		}
	}
	return out, nil
}

// IsPlan reports whether an argument names a saved plan.
func IsPlan(arg string) bool { return filepath.Ext(arg) == ".json" }

// Load reads a scenario from a file, as catalog:NAME, or from stdin as Stdin.
func Load(arg string, options dsl.Options) (*dsl.Scenario, dsl.Sources, hcl.Diagnostics, error) {
	d := deadline.After(planLimit)
	options.Today, options.Deadline = time.Now().UTC().Format(time.DateOnly), d
	if name, ok := strings.CutPrefix(arg, CatalogPrefix); ok {
		e, err := scenarios.Lookup(name)
		if err != nil {
			return nil, nil, nil, exit.With(gate.ExitUsage, err)
		}
		s, sources, diags := dsl.Load(CatalogPrefix+e.File, e.Content, options)
		return s, sources, diags, nil
	}
	if arg == Stdin {
		src, err := stdin()
		if err != nil {
			return nil, nil, nil, err
		}
		s, sources, diags := dsl.Load(stdinName, src, options)
		for _, d := range diags {
			if d.Summary == dsl.NotYAML {
				d.Extra = dsl.Hint("stdin is read as YAML: write it to a file .hcl, or convert it by weir convert --to yaml.")
			}
		}
		return s, sources, diags, nil
	}
	var s *dsl.Scenario
	var sources dsl.Sources
	var diags hcl.Diagnostics
	Limited(d, "reading "+arg, func() { s, sources, diags = dsl.LoadFile(arg, options) })
	return s, sources, diags, nil
}

// ReadPlan reads a saved plan.
func ReadPlan(arg string, vars map[string]string) (*planner.Plan, error) {
	if len(vars) > 0 {
		return nil, exit.Usage("%s is a saved plan: its variables already have their values; plan the scenario again to change them",
			arg)
	}
	p, err := planner.Read(arg)
	if errors.Is(err, planner.ErrDigest) {
		return nil, exit.With(gate.ExitStale, fmt.Errorf("%w; plan the scenario again", err))
	}
	return p, exit.With(gate.ExitUsage, err)
}

// Read plans an argument: a scenario file, Stdin, a saved plan (.json) or catalog:NAME. Errors of the scenario
// are diagnostics, all others are the error.
func Read(arg string, options dsl.Options) (*planner.Plan, dsl.Sources, hcl.Diagnostics, error) {
	if IsPlan(arg) {
		p, err := ReadPlan(arg, options.Vars)
		return p, nil, nil, err
	}
	s, sources, diags, err := Load(arg, options)
	if err != nil || diags.HasErrors() {
		return nil, sources, diags, err
	}
	p, more := build(s)
	return p, sources, append(diags, more...), nil
}

// Show prints diagnostics on stderr, and returns wrong usage if there are errors.
func Show(cmd *cobra.Command, diags hcl.Diagnostics, sources dsl.Sources) error {
	if err := screen.Diagnostics(cmd.ErrOrStderr(), diags, sources); err != nil {
		return exit.With(gate.ExitExecution, fmt.Errorf("writing diagnostics: %w", err))
	}
	if diags.HasErrors() {
		return exit.Code(gate.ExitUsage)
	}
	return nil
}

// ReadShown is Read that prints the diagnostics; errors among them are the error.
func ReadShown(cmd *cobra.Command, arg string, options dsl.Options) (*planner.Plan, error) {
	p, sources, diags, err := Read(arg, options)
	if err == nil {
		err = Show(cmd, diags, sources)
	}
	return p, err
}

// ReadAll plans all arguments and prints their diagnostics.
func ReadAll(cmd *cobra.Command, args []string, options dsl.Options) ([]*planner.Plan, error) {
	stderr := cmd.ErrOrStderr()
	files, err := Files(args)
	if err != nil {
		return nil, err
	}
	var plans []*planner.Plan
	bad := []int{}
	for _, f := range files {
		p, err := ReadShown(cmd, f, options)
		if err != nil {
			bad = append(bad, exit.Explain(stderr, cmd, err))
			continue
		}
		plans = append(plans, p)
	}
	if len(bad) > 0 {
		return nil, exit.Code(gate.Worst(bad...))
	}
	return plans, nil
}

// Source is the text of a scenario file, a shipped scenario or Stdin. The extension of path gives its syntax.
func Source(arg string) (path string, src []byte, err error) {
	if name, ok := strings.CutPrefix(arg, CatalogPrefix); ok {
		e, err := scenarios.Lookup(name)
		if err != nil {
			return "", nil, exit.With(gate.ExitUsage, err)
		}
		return CatalogPrefix + e.File, e.Content, nil
	}
	if arg == Stdin {
		src, err = stdin()
		return stdinName, src, err
	}
	src, err = bounded.ReadFile(arg, bounded.Text)
	if err != nil {
		return "", nil, exit.With(gate.ExitUsage, fmt.Errorf("reading a scenario: %w", err))
	}
	return arg, src, nil
}
