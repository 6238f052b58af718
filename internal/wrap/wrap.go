// Package wrap breaks words that are longer than a line of a terminal.
package wrap

import "strings"

// separators end the parts of a word that may be on lines of their own: those of the key of a case.
const separators = ",;["

// Word breaks a word after separators into parts: the first has room for first columns, the others for rest. A part
// without separators is not broken, so that paths and addresses stay whole.
func Word(word string, first, rest int) []string {
	var out []string
	room := first
	for {
		line := []rune(word)
		if len(line) <= room {
			return append(out, word)
		}
		at := strings.LastIndexAny(string(line[:max(room, 0)]), separators)
		if at < 0 && room < rest && len(out) == 0 { // it fits better on a line of its own
			out, room = append(out, ""), rest
			continue
		}
		if at < 0 {
			at = strings.IndexAny(word, separators)
		}
		if at < 0 || at+1 == len(word) {
			return append(out, word)
		}
		out, word, room = append(out, word[:at+1]), word[at+1:], rest
	}
}
