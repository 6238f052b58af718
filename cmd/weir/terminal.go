package main

import (
	"io"
	"os"

	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// styleFlags say how much is shown to a person, and how.
type styleFlags struct {
	quiet   bool
	noColor bool
}

func (s *styleFlags) add(f *pflag.FlagSet) {
	f.BoolVar(&s.quiet, "quiet", false, "print nothing but errors")
	f.BoolVar(&s.noColor, "no-color", false, "no colours (so does NO_COLOR in the environment)")
}

// color says whether to colour what goes to w.
func (s *styleFlags) color(w io.Writer) bool {
	return !s.noColor && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

func isTerminal(w io.Writer) bool {
	f, ok := fileOf(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// width is how many columns w has, 0 where there is no limit.
func width(w io.Writer) int {
	if f, ok := fileOf(w); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return columns
		}
	}
	return 0
}
