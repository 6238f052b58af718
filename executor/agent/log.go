package agent

import (
	"bytes"
	"io"
	"os"
	"strings"
	"unicode"
)

const (
	logLines = 20
	lineMax  = 500
	tailMax  = 64 << 10
)

// tailOf reads the last lines of a log file. What cannot be read has no lines.
func tailOf(path string) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.Size() > tailMax {
		if _, err := f.Seek(-tailMax, io.SeekEnd); err != nil {
			return nil
		}
	}
	b, err := io.ReadAll(io.LimitReader(f, tailMax))
	if err != nil {
		return nil
	}
	return lastLines(b, logLines)
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
