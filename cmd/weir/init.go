package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"weir/cmd/weir/exit"
	"weir/gate"
	"weir/suggest"
)

//go:embed starters/*.yaml
var starters embed.FS

// starter is a commented scenario to begin with; its first line says what it is.
type starter struct{ name, about string }

// firstStarter is written where none is named.
const firstStarter = "sweep"

// starterList are all starters by name.
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
	var list strings.Builder
	var names []string
	for _, s := range starterList() {
		fmt.Fprintf(&list, "\n  %-9s %s", s.name, s.about)
		names = append(names, s.name)
	}
	cmd := &cobra.Command{
		Use: "init [TEMPLATE]", Short: "write a commented scenario to begin with",
		Long: "init writes TEMPLATE.yaml, a scenario with comments. All but serving, which needs an endpoint,\n" +
			"run as they are:\n" + list.String(),
		Example: "  weir init\n  weir init baseline --out gates/fabric.yaml",
		Args:    cobra.MaximumNArgs(1), ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := firstStarter
			if len(args) > 0 {
				name = args[0]
			}
			text, err := starters.ReadFile("starters/" + name + ".yaml")
			if err != nil {
				return exit.Usage("there is no template %q%s; the templates are %s", name,
					suggest.DidYouMean(name, names), strings.Join(names, ", "))
			}
			path := out
			if path == "" {
				path = name + ".yaml"
			}
			if path == "-" {
				_, err := cmd.OutOrStdout().Write(text)
				return exit.With(gate.ExitExecution, err)
			}
			return writeStarter(cmd, path, text)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`FILE` to write instead of TEMPLATE.yaml; - for the standard output")
	return cmd
}

// writeStarter makes a file that was not there.
func writeStarter(cmd *cobra.Command, path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return exit.Usage("%w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return exit.Usage("%s is there already: name another file with --out", path)
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
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s; next: weir plan %s, weir run %s\n", path, path, path)
	return exit.With(gate.ExitExecution, err)
}
