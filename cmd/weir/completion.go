package main

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/input"
	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/dsl/format"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/scenarios"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/traffic/model"
)

// completer gives the completions of a word. It reports no errors: a shell cannot show them.
type completer = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective)

// addCompletions registers the completions of the flags and arguments of all commands.
func addCompletions(root *cobra.Command) {
	flags := map[string]completer{
		"run --only": completeSelector, "run --skip": completeSelector, "plan --only": completeSelector,
		"plan --skip": completeSelector,
		"run --var":   completeVariable, "plan --var": completeVariable, "validate --var": completeVariable,
		"manifests --var": completeVariable, "github --var": completeVariable, "gitlab --var": completeVariable,
		"run --report": words(reporters.Formats()...), "report --report": words(reporters.Formats()...),
		"gate --report": words(reporters.Formats()...),
		"plan --output": words("text", "json", "dot", "mermaid"), "validate --format": words("text", "json", "github"),
		"list --format": words("text", "json"), "trend --format": words("text", "json"),
		"status --format": words("text", "json"),
		"matgen --model":  words(model.Names()...), "matgen --kv-dtype": words(model.DTypes()...),
		"matgen --sleep":   words(model.Rules()...),
		"compare --format": words(comparisonFormats...), "compare --metric": words(metricNames()...),
		"compare --report":   words(comparisonFormats...),
		"compare --multiple": words("holm"), "calibrate --metric": words(metricNames()...),
		"convert --to": words(format.YAML, format.HCL), "fmt --syntax": words(format.YAML, format.HCL),
	}
	arguments := map[string]completer{
		"run": completeScenario, "plan": completeScenario, "validate": completeScenario, "convert": completeScenario,
		"manifests": completeScenario, "github": completeScenario, "gitlab": completeScenario,
		"fmt": completeFile, "ct-perftest": completeFile, "show": words(catalogNames()...),
		"workloads": words(workload.Names()...), "metrics": words(workload.Names()...),
	}
	var add func(c *cobra.Command)
	add = func(c *cobra.Command) {
		if complete, ok := arguments[c.Name()]; ok {
			c.ValidArgsFunction = complete
		}
		for name, complete := range flags {
			command, flag, _ := strings.Cut(name, " --")
			if command == c.Name() && c.Flags().Lookup(flag) != nil {
				if err := c.RegisterFlagCompletionFunc(flag, complete); err != nil {
					panic(err) // registered twice
				}
			}
		}
		for _, inner := range c.Commands() {
			add(inner)
		}
	}
	add(root)
}

func catalogNames() []string {
	var names []string
	for _, e := range scenarios.Entries() {
		names = append(names, e.Name)
	}
	return names
}

// withPrefix keeps the words with a prefix.
func withPrefix(all []string, begun string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(w string) bool { return !strings.HasPrefix(w, begun) })
}

func words(all ...string) completer {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return withPrefix(all, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

var scenarioExtensions = []string{"yaml", "yml", "hcl"}

func completeFile(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return scenarioExtensions, cobra.ShellCompDirectiveFilterFileExt
}

// completeScenario offers files, or shipped scenarios if the word begins like their prefix.
func completeScenario(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	var all []string
	for _, name := range catalogNames() {
		all = append(all, input.CatalogPrefix+name)
	}
	if found := withPrefix(all, begun); begun != "" && len(found) > 0 {
		return found, cobra.ShellCompDirectiveNoFileComp
	}
	return append([]string{"json"}, scenarioExtensions...), cobra.ShellCompDirectiveFilterFileExt
}

// labels are the names of the blocks of a type in a scenario, which may have errors.
func labels(arg, blockType string) []string {
	path, src, err := input.Source(arg)
	if err != nil {
		return nil
	}
	file, _ := dsl.CheckSyntax(path, src)
	top := func(name string) *hcl.BodySchema {
		return &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: name, LabelNames: []string{"name"}}}}
	}
	content, _, _ := file.Body.PartialContent(top("scenario"))
	var names []string
	for _, b := range content.Blocks {
		inner, _, _ := b.Body.PartialContent(top(blockType))
		for _, named := range inner.Blocks {
			names = append(names, named.Labels[0])
		}
	}
	return names
}

// maxCompletions bounds the list of a large scenario.
const maxCompletions = 200

// completeSelector offers runs, and the cases of the run that is named.
func completeSelector(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	var found []string
	for _, arg := range args {
		found = append(found, withPrefix(labels(arg, "run"), begun)...)
		if strings.Contains(begun, "[") || slices.Contains(found, begun) {
			found = append(found, caseKeys(arg, begun)...)
		}
	}
	return found[:min(len(found), maxCompletions)], cobra.ShellCompDirectiveNoFileComp
}

func caseKeys(arg, begun string) []string {
	p, _, diags, err := input.Read(arg, dsl.Options{})
	if err != nil || diags.HasErrors() {
		return nil
	}
	var keys []string
	for _, c := range p.Cases {
		if c.Key != begun && strings.HasPrefix(c.Key, begun) {
			keys = append(keys, c.Key)
		}
	}
	return keys
}

// completeVariable offers the names of variables with a trailing =.
func completeVariable(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	var found []string
	for _, arg := range args {
		for _, name := range withPrefix(labels(arg, "variable"), begun) {
			found = append(found, name+"=")
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
