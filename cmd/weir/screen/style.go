// Package screen shows a person how a session goes, as wide and as colourful as the terminal is.
package screen

import (
	"io"
	"os"

	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// Style are the flags that say how much is shown to a person, and how.
type Style struct {
	Quiet   bool
	noColor bool
}

func (s *Style) Add(f *pflag.FlagSet) {
	f.BoolVar(&s.Quiet, "quiet", false, "print nothing but errors")
	f.BoolVar(&s.noColor, "no-color", false, "no colours (so does NO_COLOR in the environment)")
}

// Color says whether to colour what goes to w.
func (s *Style) Color(w io.Writer) bool {
	return !s.noColor && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

func isTerminal(w io.Writer) bool {
	f, ok := fileOf(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width is how many columns w has, 0 where there is no limit.
func Width(w io.Writer) int {
	if f, ok := fileOf(w); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return columns
		}
	}
	return 0
}
