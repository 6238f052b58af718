package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
