package structure

import (
	"encoding/json"
	"strings"
)

// IsLiteral reports whether a text of a structure with types is a scalar of JSON: a number, a truth
// value, null, or a quoted string. All other texts are plain strings.
func IsLiteral(text string) bool {
	return json.Valid([]byte(text)) && !strings.ContainsAny(text, "{[")
}

// TypedText encodes a string for a structure with types: unchanged, or quoted if it would be read
// as another scalar.
func TypedText(text string) string {
	if !IsLiteral(text) {
		return text
	}
	var b strings.Builder
	writeText(&b, text)
	return b.String()
}
