package launcher

import "strings"

// ShellCommand quotes an argument vector for a POSIX shell, where needed.
func ShellCommand(argv ...string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = a
		if !only(a, letters+digits+"/._-+=:@%,") {
			words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
