package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/dsl/format"
	"github.com/weir-bench/weir/dsl/jsonschema"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/suggest"
)

//go:embed starters/*.yaml
var starters embed.FS

// starter is a template of init; the first sentence of its file is about.
type starter struct{ name, about string }

// defaultStarter is the template of init without an argument.
const defaultStarter = "sweep"

// starterList are all starters, sorted by name.
func starterList() (all []starter) {
	files, err := starters.ReadDir("starters")
	if err != nil {
		panic(err) // embedded
	}
	for _, f := range files {
		text, err := starters.ReadFile("starters/" + f.Name())
		if err != nil {
			panic(err)
		}
		about, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), ".")
		all = append(all, starter{strings.TrimSuffix(f.Name(), ".yaml"), strings.ReplaceAll(about, "\n# ", " ")})
	}
	return all
}

func newInit() *cobra.Command {
	var out string
	var withSchema bool
	var list strings.Builder
	var names []string
	for _, s := range starterList() {
		fmt.Fprintf(&list, "\n  %-9s %s", s.name, s.about)
		names = append(names, s.name)
	}
	cmd := &cobra.Command{
		Use: "init [TEMPLATE|FILE.yaml]", Short: "write a commented scenario to start from",
		Long: "init writes TEMPLATE.yaml, or template " + defaultStarter + " to FILE.yaml:\n" +
			"a scenario with comments. All templates run without changes, except serving, which needs an endpoint:\n" +
			list.String() + "\n\n" +
			"--schema also writes " + schemaFile + " beside it, and the first line by which editors with\n" +
			"yaml-language-server complete and check the scenario, without a network. After an update of\n" +
			"weir, `weir schema > " + schemaFile + "` writes the file anew.",
		Example: "  weir init\n  weir init mine.yaml\n  weir init baseline --out gates/fabric.yaml --schema",
		Args:    cobra.MaximumNArgs(1), ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, path := defaultStarter, out
			switch {
			case len(args) > 0 && out == "" && format.SyntaxOf(args[0]) == format.YAML:
				path = args[0]
			case len(args) > 0:
				name = args[0]
			}
			text, err := starters.ReadFile("starters/" + name + ".yaml")
			if err != nil {
				return exit.Usage("there is no template %q%s; the templates are %s", name,
					suggest.DidYouMean(name, names), strings.Join(names, ", "))
			}
			if path == "" {
				path = name + ".yaml"
			}
			if path == "-" && withSchema {
				return exit.Usage("--schema writes a file beside the scenario: name the scenario's file with --out")
			}
			if path == "-" {
				_, err := cmd.OutOrStdout().Write(text)
				return exit.With(gate.ExitExecution, err)
			}
			if format.SyntaxOf(path) != format.YAML {
				return exit.Usage("--out %s: the name must end in .yaml, as templates are YAML", path)
			}
			if withSchema {
				text = slices.Concat([]byte("# yaml-language-server: $schema="+schemaFile+"\n"), text)
			}
			return writeStarter(cmd, path, text, withSchema)
		},
	}
	cmd.Flags().BoolVar(&withSchema, "schema", false, "also write "+schemaFile+", by which editors check the file")
	cmd.Flags().StringVar(&out, "out", "", "write `FILE` instead of TEMPLATE.yaml (-: stdout)")
	return cmd
}

// schemaFile is the file of the schema beside scenarios.
const schemaFile = "weir.schema.json"

// writeStarter creates a file, an existing one being an error, and the schema beside it, which replaces an
// earlier one.
func writeStarter(cmd *cobra.Command, path string, text []byte, withSchema bool) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return exit.Usage("%w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return exit.Usage("%s exists already: name another file with --out", path)
	}
	if err != nil {
		return exit.Usage("%w", err)
	}
	if _, err := f.Write(text); err != nil {
		return exit.With(gate.ExitExecution, errors.Join(err, f.Close()))
	}
	if err := f.Close(); err != nil {
		return exit.With(gate.ExitExecution, err)
	}
	wrote := path
	if withSchema {
		beside := filepath.Join(filepath.Dir(path), schemaFile)
		b, err := jsonschema.Scenario()
		if err != nil {
			return exit.With(gate.ExitInternal, err)
		}
		if err := os.WriteFile(beside, b, 0o666); err != nil {
			return exit.With(gate.ExitExecution, err)
		}
		wrote += " and " + beside
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s; next: weir plan %s, weir run %s\n", wrote, path, path)
	return exit.With(gate.ExitExecution, err)
}
