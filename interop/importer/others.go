package importer

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// otherCommand is a command that is no benchmark, as one pass of the loops around it runs it.
type otherCommand struct {
	command *syntax.CallExpr
	became  string
	text    string
	before  int  // the calls of tools that the script has made
	inLoop  bool // also one around a call of its function
}

// unchanging are the fates of commands that do not change what is measured.
var unchanging = []string{measuresNothing, readsOutput, fatesOfOthers["sleep|wait"]}

// tellChanging warns of commands before a benchmark that are others each time, in passes of a loop or calls of a
// function, as the start of a server: the scenario measures with one of them, or with none.
func (s *script) tellChanging(from int, inLoop bool) {
	passes := slices.DeleteFunc(slices.Clone(s.others[min(from, len(s.others)):]), func(c otherCommand) bool {
		return c.inLoop != inLoop
	})
	for i, first := range passes {
		last, differ := first, false
		for _, c := range passes[i:] {
			if c.command == first.command {
				last, differ = c, differ || c.text != first.text
			}
		}
		if differ && last.before < len(s.lines) && !slices.Contains(unchanging, first.became) {
			words := strings.Fields(s.fateOf[first.command].Command)
			s.lose("line %d (%s …) is another command each time: the scenario lacks what that changes",
				s.lineOf(first.command), strings.Join(words[:min(3, len(words))], " "))
		}
	}
}
