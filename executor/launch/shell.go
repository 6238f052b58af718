package launch

import "strings"

// ShellCommand writes an argument vector as a POSIX shell reads it. Words that need no
// quotes have none.
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
