package main

import (
	"slices"

	"github.com/spf13/pflag"
)

// ofOneSession are the flags that choose what of a scenario runs, say where results go
// or end a session early: who runs some cases again wants others of these, or none.
var ofOneSession = []string{"only", "skip", "out", "report", "events", "resume", "quiet", "no-color", "fail-fast", "timeout", "previous"}

// again is a command that runs all of the session's scenario again, in the same way and
// at the same place.
func (s *session) again() []string {
	command := []string{"weir", "run", s.input}
	s.flags.set.Visit(func(f *pflag.Flag) {
		if slices.Contains(ofOneSession, f.Name) {
			return
		}
		list, ok := f.Value.(pflag.SliceValue)
		switch {
		case ok:
			for _, v := range list.GetSlice() {
				command = append(command, "--"+f.Name, v)
			}
		case f.NoOptDefVal != "": // the value of a switch would be read as a file
			command = append(command, "--"+f.Name+"="+f.Value.String())
		default:
			command = append(command, "--"+f.Name, f.Value.String())
		}
	})
	return command
}
