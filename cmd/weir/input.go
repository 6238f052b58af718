package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"weir/dsl"
	"weir/dsl/deadline"
	"weir/gate"
	"weir/planner"
	"weir/scenarios"
)

// catalogPrefix marks the name of a shipped scenario where a file is expected.
const catalogPrefix = "catalog:"

// inputs are the files that a list of arguments names: folders stand for the
// scenarios in them.
func inputs(args []string) ([]string, error) {
	var out []string
	for _, a := range args {
		st, err := os.Stat(a)
		if strings.HasPrefix(a, catalogPrefix) || err != nil || !st.IsDir() {
			out = append(out, a)
			continue
		}
		list, err := os.ReadDir(a)
		if err != nil {
			return nil, wrongUsage("reading folder: %w", err)
		}
		before := len(out)
		for _, f := range list {
			if !f.IsDir() && slices.Contains([]string{".yaml", ".yml", ".hcl"}, filepath.Ext(f.Name())) {
				out = append(out, filepath.Join(a, f.Name()))
			}
		}
		if len(out) == before {
			return nil, wrongUsage("%s holds no scenario: no .yaml, .yml or .hcl file", a)
		}
	}
	return out, nil
}

// isPlan says whether an argument names a saved plan.
func isPlan(arg string) bool { return filepath.Ext(arg) == ".json" }

// load reads a scenario from a file or as catalog:NAME.
func load(arg string, options dsl.Options) (*dsl.Scenario, dsl.Sources, hcl.Diagnostics, error) {
	d := deadline.After(planLimit)
	options.Today, options.Deadline = time.Now().UTC().Format(time.DateOnly), d
	if name, ok := strings.CutPrefix(arg, catalogPrefix); ok {
		e, err := scenarios.Lookup(name)
		if err != nil {
			return nil, nil, nil, withCode(gate.ExitUsage, err)
		}
		s, sources, diags := dsl.Load(catalogPrefix+e.File, e.Content, options)
		return s, sources, diags, nil
	}
	var s *dsl.Scenario
	var sources dsl.Sources
	var diags hcl.Diagnostics
	limited(d, "reading "+arg, func() { s, sources, diags = dsl.LoadFile(arg, options) })
	return s, sources, diags, nil
}

// readPlan reads a saved plan.
func readPlan(arg string, vars map[string]string) (*planner.Plan, error) {
	if len(vars) > 0 {
		return nil, wrongUsage("%s is a saved plan: its variables already have their values; plan the scenario again to change them", arg)
	}
	p, err := planner.Read(arg)
	if errors.Is(err, planner.ErrDigest) {
		return nil, withCode(gate.ExitStale, fmt.Errorf("%w; plan the scenario again", err))
	}
	return p, withCode(gate.ExitUsage, err)
}

// read makes a plan of an argument: a scenario file, a saved plan (.json) or
// catalog:NAME. Errors of the scenario come as diagnostics, all others as error.
func read(arg string, options dsl.Options) (*planner.Plan, dsl.Sources, hcl.Diagnostics, error) {
	if isPlan(arg) {
		p, err := readPlan(arg, options.Vars)
		return p, nil, nil, err
	}
	s, sources, diags, err := load(arg, options)
	if err != nil || diags.HasErrors() {
		return nil, sources, diags, err
	}
	p, more := build(s)
	return p, sources, append(diags, more...), nil
}

// readAll plans every argument and reports what is wrong with any of them.
func readAll(cmd *cobra.Command, args []string, options dsl.Options) ([]*planner.Plan, error) {
	stderr := cmd.ErrOrStderr()
	files, err := inputs(args)
	if err != nil {
		return nil, err
	}
	var plans []*planner.Plan
	bad := []int{}
	for _, f := range files {
		p, sources, diags, err := read(f, options)
		if err != nil {
			bad = append(bad, explain(stderr, cmd, err))
			continue
		}
		if err := dsl.WriteDiagnostics(stderr, "text", diags, sources); err != nil {
			return nil, withCode(gate.ExitExecution, fmt.Errorf("writing diagnostics: %w", err))
		}
		if diags.HasErrors() {
			bad = append(bad, gate.ExitUsage)
			continue
		}
		plans = append(plans, p)
	}
	if len(bad) > 0 {
		return nil, exit(gate.Worst(bad...))
	}
	return plans, nil
}
