// Package lazyregexp compiles regular expressions on first use, so that the start of each process,
// and so of each rank, stays fast.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the expression. Its first call compiles the text, and panics
// if it is invalid.
func New(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
