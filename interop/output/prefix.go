package output

import (
	"bytes"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// Prefixes of lines that no list has, as those of a log collector: all lines of an output begin with the same text, in
// which numbers may differ.

// podStarts matches the lines that stern prints when it begins and ends to follow a container.
var podStarts = lazyregexp.New(`(?m)^[+-] \S+(?: \S+)? › \S+\s*\n`)

// afterPrefix reads an output, and if that fails the same without the prefix of all its lines.
func afterPrefix(read func([]byte) ([]Row, error)) func([]byte) ([]Row, error) {
	return func(output []byte) ([]Row, error) {
		found, err := read(output)
		if err == nil {
			return found, nil
		}
		if wrong := refuseEncoded(output); wrong != nil {
			return nil, wrong
		}
		bare, ok := withoutPrefix(output)
		if !ok {
			return found, err
		}
		if again, failed := read(bare); failed == nil {
			return again, nil
		}
		return found, err
	}
}

// withoutPrefix removes the text that all lines of an output begin with; not ok if there is none.
func withoutPrefix(output []byte) (bare []byte, ok bool) {
	text := uncoloured(string(bytes.TrimPrefix(output, byteOrderMark)))
	if strings.Contains(text, " › ") {
		text = podStarts().ReplaceAllString(text, "")
	}
	lines := strings.Split(text, "\n")
	last := len(lines) - 1
	if last < 1 || lines[last] != "" {
		return nil, false
	}
	common := digits().ReplaceAllString(strings.TrimSuffix(lines[0], "\r")+" ", "0")
	for _, l := range lines[1:last] {
		n, _ := sharedPrefix(common, strings.TrimSuffix(l, "\r")+" ")
		common = common[:n]
	}
	if at := strings.Index(common, `{"`); at > 0 { // each line is a document
		common = common[:at]
	} else if common = common[:strings.LastIndexAny(common, " :>|])\t=")+1]; last < leastOfHosts {
		return nil, false
	}
	if common == "" {
		return nil, false
	}
	for i, l := range lines[:last] {
		_, from := sharedPrefix(common, l)
		lines[i] = l[from:]
	}
	return []byte(strings.Join(lines, "\n")), true
}

var digits = lazyregexp.New(`\d+`)

// sharedPrefix returns how much of a prefix a line begins with, and the length of that in the line. A 0 of the prefix
// is any number.
func sharedPrefix(prefix, line string) (n, from int) {
	for n < len(prefix) && from < len(line) {
		switch {
		case prefix[n] == '0' && isDigit(line[from]):
			for from < len(line) && isDigit(line[from]) {
				from++
			}
		case prefix[n] == line[from]:
			from++
		default:
			return n, from
		}
		n++
	}
	return n, from
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
