package command

import (
	"strings"
)

const (
	// lastLines is how many lines of what a program printed an error has, of both of its streams.
	lastLines = 10
	// longestLine is how much of one it has, in bytes.
	longestLine = 300
)

// Said is what a program has printed last.
type Said struct {
	Stdout []string `json:"stdout,omitempty"`
	Stderr []string `json:"stderr,omitempty"`
}

// LastSaid takes the last lines of both streams: half of them of each, and more where the other
// has fewer.
func LastSaid(stdout, stderr []byte) Said {
	out, errs := linesOf(stdout), linesOf(stderr)
	ofOut := max(lastLines/2, lastLines-len(errs))
	out = out[max(0, len(out)-ofOut):]
	return Said{out, errs[max(0, len(errs)-(lastLines-len(out))):]}
}

// linesOf are the last lines of a text, without what is blank at its end.
func linesOf(text []byte) []string {
	all := strings.Split(strings.TrimRight(strings.ToValidUTF8(string(text), "�"), "\r\n \t"), "\n")
	if len(all) == 1 && all[0] == "" {
		return nil
	}
	all = all[max(0, len(all)-lastLines):]
	for i, line := range all {
		line = strings.TrimRight(line, "\r")
		if len(line) > longestLine {
			line = strings.ToValidUTF8(line[:longestLine], "") + "…"
		}
		all[i] = line
	}
	return all
}

// String is the end of an error; "" where nothing was printed.
func (s Said) String() string { return ending("stdout", s.Stdout) + ending("stderr", s.Stderr) }

// ending names what lines are the end of.
func ending(of string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "\n" + of + " ends with:\n" + strings.Join(lines, "\n")
}
