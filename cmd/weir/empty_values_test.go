package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/gate"
)

// An empty value of a flag is never the same as no flag: the test gives one to each text flag of each command.
func TestEmptyValuesAreErrors(t *testing.T) {
	tried := 0
	var try func(c *cobra.Command)
	try = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			try(sub)
		}
		if c.Hidden || !c.Runnable() || c.HasSubCommands() {
			return
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !slices.Contains([]string{"string", "stringArray", "stringSlice"}, f.Value.Type()) {
				return
			}
			tried++
			line := append(strings.Fields(c.CommandPath())[1:], "--"+f.Name+"=")
			code, text := executeAnyArgs(t, line)
			if code != gate.ExitUsage || !strings.Contains(text, "--"+f.Name+" is empty\n") &&
				!strings.Contains(text, "--"+f.Name+" has an empty value\n") {
				t.Errorf("%v: exit code %d, %s", line, code, text)
			}
		})
	}
	try(newRoot())
	if tried < 60 {
		t.Errorf("%d flags", tried)
	}
	if code, text := executeAnyArgs(t, []string{"validate", "a.yaml", " "}); code != gate.ExitUsage ||
		!strings.Contains(text, "argument 2 of weir validate is empty") {
		t.Errorf("exit code %d, %s", code, text)
	}
}

// executeAnyArgs executes a command line, whatever number of arguments the command takes.
func executeAnyArgs(t *testing.T, line []string) (code int, text string) {
	t.Helper()
	root := newRoot()
	c, _, err := root.Find(line)
	if err != nil {
		t.Fatal(err)
	}
	c.Args = cobra.ArbitraryArgs
	root.SetArgs(line)
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	var stderr strings.Builder
	return exit.Explain(&stderr, c, root.Execute()), stderr.String()
}
