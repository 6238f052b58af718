package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/dsl"
)

// The help of a flag takes at most two terminal lines of 100 columns each.
func TestFlagsTakeAtMostTwoLines(t *testing.T) {
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		for line := range strings.Lines(c.LocalFlags().FlagUsages()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 200 {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), n, strings.TrimSpace(line))
			}
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if _, text := pflag.UnquoteUsage(f); len(text) > 150 {
				t.Errorf("%s --%s: %d characters: %s", c.CommandPath(), f.Name, len(text), text)
			}
		})
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(newRoot())
}

// A key of a scenario that is an option of weir run is told as one, unless scenarios have it too, under this name or
// another one.
func TestOptionsOfRunAreNoKeys(t *testing.T) {
	keys := []string{
		"baseline", "baseline-missing", "cluster", "etcd", "help", "hosts", "inconclusive", "inconclusive-streak",
		"launcher", "launches", "node-label", "timeout", "var", "var-file", "wait",
	}
	command, _, err := newRoot().Find([]string{"run"})
	if err != nil {
		t.Fatal(err)
	}
	command.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || slices.Contains(keys, f.Name) {
			return
		}
		_, _, diags := dsl.Load("s.yaml", []byte("scenario: s\n"+f.Name+": x\n"), dsl.Options{})
		var b bytes.Buffer
		if err := dsl.WriteDiagnostics(&b, "text", diags, nil); err != nil {
			t.Fatal(err)
		}
		if want := "It is an option of weir run: --" + f.Name; !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	})
}
