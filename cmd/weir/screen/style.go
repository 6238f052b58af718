// Package screen shows the progress of a session, with the width and colours of the terminal.
package screen

import (
	"io"
	"os"

	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// Style are the flags --quiet and --no-color.
type Style struct {
	Quiet   bool
	noColor bool
}

func (s *Style) Add(f *pflag.FlagSet) {
	f.BoolVarP(&s.Quiet, "quiet", "q", false, "print only errors")
	f.BoolVar(&s.noColor, "no-color", false, "no colours (also: $NO_COLOR)")
}

// Color reports whether output to w is coloured.
func (s *Style) Color(w io.Writer) bool {
	return !s.noColor && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

func isTerminal(w io.Writer) bool {
	f, ok := fileOf(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width is the number of columns of w, 0 if it is no terminal.
func Width(w io.Writer) int {
	if f, ok := fileOf(w); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return columns
		}
	}
	return 0
}
