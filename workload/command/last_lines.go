package command

import (
	"strings"
)

const (
	// lastLines is the number of a program's last lines in an error, over both streams.
	lastLines = 10
	// longestLine limits each of them, in bytes.
	longestLine = 300
)

// LastLines are the last lines of a program's output.
type LastLines struct {
	Stdout []string `json:"stdout,omitempty"`
	Stderr []string `json:"stderr,omitempty"`
}

// TakeLastLines takes the last lines of both streams: half of them from each, or more if the other has fewer.
func TakeLastLines(stdout, stderr []byte) LastLines {
	out, errs := linesOf(stdout), linesOf(stderr)
	ofOut := max(lastLines/2, lastLines-len(errs))
	out = out[max(0, len(out)-ofOut):]
	return LastLines{out, errs[max(0, len(errs)-(lastLines-len(out))):]}
}

// linesOf returns the last lines of a text, without blank ones at its end.
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

// String formats the lines as the end of an error; "" without output.
func (s LastLines) String() string { return ending("stdout", s.Stdout) + ending("stderr", s.Stderr) }

// ending formats the last lines of a stream.
func ending(of string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "\n" + of + " ends with:\n" + strings.Join(lines, "\n")
}
