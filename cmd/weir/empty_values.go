package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/cmd/weir/exit"
)

// noEmptyValues is an error if a flag or an argument of a command line is empty, as by an unset variable of the shell.
func noEmptyValues(cmd *cobra.Command, args []string) error {
	if cmd.Hidden { // such as __complete, whose arguments are unfinished
		return nil
	}
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		list, several := f.Value.(pflag.SliceValue)
		switch {
		case several && len(list.GetSlice()) == 0, !several && blank(f.Value.String()):
			err = exit.Usage("--%s is empty", f.Name)
		case several && slices.ContainsFunc(list.GetSlice(), blank):
			err = exit.Usage("--%s has an empty value", f.Name)
		}
	})
	if i := slices.IndexFunc(args, blank); err == nil && i >= 0 {
		err = exit.Usage("argument %d of %s is empty", i+1, cmd.CommandPath())
	}
	return err
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }
