// Plans as text: columns and rows.

package planner

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

func columns(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }

func textRow(w io.Writer, cells ...string) {
	fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), " "))
}

// rowOfWords writes words after a head, in as many lines as needed; nothing without words.
func rowOfWords(w io.Writer, head string, words []string) {
	const width = 90
	for len(words) > 0 {
		n, columns := 1, utf8.RuneCountInString(words[0])
		for ; n < len(words) && columns+1+utf8.RuneCountInString(words[n]) <= width; n++ {
			columns += 1 + utf8.RuneCountInString(words[n])
		}
		textRow(w, head, strings.Join(words[:n], " "))
		head, words = "", words[n:]
	}
}
