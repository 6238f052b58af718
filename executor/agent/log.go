package agent

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const (
	logLines = 20
	lineMax  = 500
	tailMax  = 64 << 10
)

// trace is where the Go runtime, which has said why it ends the process, begins to write
// what all of its threads are doing.
var trace = regexp.MustCompile(`(?m)^(goroutine \d+ |runtime stack:$)`)

// reasons is how messages begin by which a process says why it ends: weir's own, and
// those of the Go runtime.
var reasons = []string{"weir: ", "fatal error: ", "panic: ", "runtime: ", "runtime/cgo: "}

// lastReason is what a process has written of why it ends, where it could tell nobody.
func lastReason(log []string) (text string, ok bool) {
	for _, line := range slices.Backward(log) {
		for _, r := range reasons {
			if text, ok = strings.CutPrefix(line, r); ok {
				return text, true
			}
		}
	}
	return "", false
}

// lastLines gives the last lines of text in a form that every report can show:
// libraries write colours and worse.
func lastLines(b []byte, n int) []string {
	b = bytes.TrimRight(b, "\r\n \t")
	if len(b) == 0 {
		return nil
	}
	lines := strings.Split(strings.ToValidUTF8(string(b), "�"), "\n")
	lines = lines[max(0, len(lines)-n):]
	for i, line := range lines {
		line = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) && r != '\t' {
				return -1
			}
			return r
		}, line)
		if len(line) > lineMax {
			line = strings.ToValidUTF8(line[:lineMax], "") + "…"
		}
		lines[i] = line
	}
	return lines
}
