package reporters

import "regexp"

var (
	fromBelow = regexp.MustCompile(` in \[([^,\[\]]+), ∞\)`)
	fromAbove = regexp.MustCompile(` in \(-∞, ([^,\[\]]+)\]`)
)

// promisedText is an assertion with its numbers, as assertions are written: "bandwidth >= 40 GB/s" for an interval
// without an upper end.
func promisedText(lowered string) string {
	text := fromBelow.ReplaceAllString(lowered, " >= $1")
	return plain(clip(fromAbove.ReplaceAllString(text, " <= $1"), " …"))
}
