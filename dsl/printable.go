// Text that is safe for terminals.

package dsl

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// invisible reports whether a character has no shape of its own, or that of a blank.
func invisible(r rune) bool {
	return r > '\x7f' && unicode.In(r, unicode.Zs, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point)
}

// escaped finds escapes of quoted texts, and among them those of characters.
var escaped = lazyregexp.New(`\\\\|\\u[0-9a-f]{4}`)

// named replaces invisible characters by their code points: a reader of a message cannot tell them apart.
func named(text string) string {
	text = escaped().ReplaceAllStringFunc(text, func(e string) string {
		if n, err := strconv.ParseUint(strings.TrimPrefix(e, `\u`), 16, 32); err == nil && invisible(rune(n)) {
			return codePoint(rune(n))
		}
		return e
	})
	if strings.IndexFunc(text, invisible) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if invisible(r) {
			b.WriteString(codePoint(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// codePoint shows an invisible character by its code point, and another one also as itself.
func codePoint(r rune) string {
	if invisible(r) {
		return fmt.Sprintf("<U+%04X>", r)
	}
	return fmt.Sprintf("%q (U+%04X)", string(r), r)
}

// marked replaces each invisible character by one that is seen, so that columns stay.
func marked(line string) string {
	return strings.Map(func(r rune) rune {
		if invisible(r) {
			return unicode.ReplacementChar
		}
		return r
	}, line)
}

// explainInvisible names an invisible character in the line of a syntax error, or in the line before: after a colon it
// is no blank of YAML.
func explainInvisible(diags hcl.Diagnostics, src []byte) hcl.Diagnostics {
	lines := strings.Split(string(src), "\n")
	for _, d := range diags {
		if d.Subject == nil || d.Summary != "Invalid YAML" {
			continue
		}
		for n := max(d.Subject.Start.Line-2, 0); n < min(d.Subject.Start.Line, len(lines)); n++ {
			if i := strings.IndexFunc(lines[n], func(r rune) bool { return invisible(r) && r != '\uFEFF' }); i >= 0 {
				r, _ := utf8.DecodeRuneInString(lines[n][i:])
				d.Detail += fmt.Sprintf(" Line %d has the character %s, which is no blank.", n+1, codePoint(r))
				break
			}
		}
	}
	return diags
}
