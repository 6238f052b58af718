package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
)

// frugal keeps what judging and reporting a document takes near what the document
// takes itself. The collector would let the memory grow to twice that otherwise, and
// runs before it must while the document is read. GOMEMLIMIT and GOGC have the last word.
func frugal(path string) {
	if os.Getenv("GOMEMLIMIT") != "" || os.Getenv("GOGC") != "" {
		return
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, "results.json")
	}
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return
	}
	const least = 128 << 20
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(max(least, st.Size()*21/10)) // in memory it is some 1.7 times its text
}
