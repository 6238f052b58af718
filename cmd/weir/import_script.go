package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/syntax"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/interop/importer"
)

// addImportScript lets weir import read a script or a command line of any tool.
func addImportScript(cmd *cobra.Command) {
	var i lineImport
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case cmd.ArgsLenAtDash() == 0 && len(args) > 1:
			text, err := quotedWords(args)
			if err != nil {
				return exit.Usage("%w", err)
			}
			return importScript(cmd, "", text, i)
		case len(args) != 1:
			return onlySubcommands(cmd, args)
		}
		src, err := bounded.ReadFile(args[0], bounded.Text)
		switch {
		case err == nil:
			return importScript(cmd, args[0], string(src), i)
		case !errors.Is(err, fs.ErrNotExist) && !strings.Contains(args[0], " "):
			return exit.Usage("%w", err)
		case fileName.MatchString(args[0]):
			return exit.Usage("there is no file %s; give a command line in quotes, as one argument", args[0])
		case !strings.Contains(args[0], " "):
			var names []string
			for _, c := range cmd.Commands() {
				names = append(names, c.Name())
			}
			return exit.Usage("there is no tool and no file %q. %s", args[0], suggest.Sentence(args[0], names, "tools"))
		}
		return importScript(cmd, "", args[0], i)
	}
	i.addFlags(cmd)
	cmd.Flags().BoolVar(&i.options.AsCommand, "as-command", false, "run the tools themselves, with workload command")
}

// quotedWords is the command line of a shell with these words.
func quotedWords(args []string) (string, error) {
	words := make([]string, len(args))
	for i, arg := range args {
		quoted, err := syntax.Quote(arg, syntax.LangBash)
		if err != nil {
			return "", fmt.Errorf("the argument %q: %w", arg, err)
		}
		words[i] = quoted
	}
	return strings.Join(words, " "), nil
}

// importScript writes the scenario of a script or a command line, and tells the fate of each command.
func importScript(cmd *cobra.Command, file, text string, i lineImport) error {
	if err := i.check(); err != nil {
		return err
	}
	made, err := importer.Script(file, text, i.options)
	if made != nil {
		for _, f := range made.Fates {
			if f.Became == "" || made.Scenario == nil && strings.HasPrefix(f.Became, "run ") {
				continue // of a tool's call; there is an error instead of a scenario
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "line %d: %s: %s\n", f.Line, shortened(f.Command), f.Became)
		}
	}
	if made == nil || made.Scenario == nil {
		return exit.Usage("%w", err)
	}
	failed := i.write(cmd, made)
	if err == nil {
		return failed
	}
	return exit.Usage("%w", errors.Join(err, failed))
}

// shortened returns a command on one line of the screen.
func shortened(command string) string {
	const most = 60
	words := []rune(strings.Join(strings.Fields(command), " "))
	if len(words) > most {
		return string(words[:most]) + "…"
	}
	return string(words)
}
