package ctperftest

import (
	"fmt"
	"slices"
	"strings"
)

// CommandLine returns the file that a command line of ct-perftest or sequential-ct-perftest names. Words before
// the command, as srun and python, are of no account; flags change what is printed, or verify, which weir does.
func CommandLine(line string) (file string, err error) {
	words := strings.Fields(line)
	at := slices.IndexFunc(words, func(w string) bool { return w == "ct-perftest" || w == "sequential-ct-perftest" })
	if at < 0 {
		return "", fmt.Errorf("%q has neither ct-perftest nor sequential-ct-perftest", line)
	}
	for i := at + 1; i < len(words); i++ {
		switch w := words[i]; {
		case w == "--json-output-path":
			i++
		case w == "--verify-buffers", w == "--no-verify-buffers", w == "--print-recv-buffers",
			strings.HasPrefix(w, "--json-output-path="):
		case strings.HasPrefix(w, "-"):
			return "", fmt.Errorf("%s has no flag %s; it has --verify-buffers, --print-recv-buffers, --json-output-path",
				words[at], w)
		case file != "":
			return "", fmt.Errorf("%s takes one file, and the line has %s and %s", words[at], file, w)
		default:
			file = strings.Trim(w, `"'`)
		}
	}
	if file == "" {
		return "", fmt.Errorf("%s names no file", words[at])
	}
	return file, nil
}
