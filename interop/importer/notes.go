package importer

import (
	"fmt"
	"strings"
)

// mostNoted is how many runs with an equal note are named.
const mostNoted = 4

// ofRuns names the runs of a note.
func ofRuns(names []string) string {
	if len(names) == 1 {
		return "run " + names[0]
	}
	more := ""
	if n := len(names) - mostNoted; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
		names = names[:mostNoted]
	}
	return "runs " + strings.Join(names, ", ") + more
}
