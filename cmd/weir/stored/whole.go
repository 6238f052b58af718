// Package stored reads sessions that lie in directories: their documents, samples and times.
package stored

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"

	"weir/cmd/weir/exit"
	"weir/gate"
	"weir/results"
)

// Read reads a document that has all cases of its plan and is as it was written, as
// far as this version can tell.
func Read(path string, notes io.Writer) (*results.Document, error) {
	frugal(path)
	doc, err := results.ReadWhole(path)
	if errors.Is(err, results.ErrChanged) {
		return nil, exit.With(gate.ExitStale, err)
	}
	if err != nil {
		return nil, exit.With(gate.ExitUsage, err)
	}
	if doc.SealedEarlier() {
		NoteSealedEarlier(notes, path)
	}
	return doc, nil
}

func NoteSealedEarlier(notes io.Writer, path string) {
	fmt.Fprintf(notes, "note: %s was sealed by an earlier version of weir: its contents are not checked\n", path)
}

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
	limit := debug.SetMemoryLimit(-1) // of the documents before this one
	if limit == math.MaxInt64 {
		limit = 0
	}
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(max(least, limit+st.Size()*17/10)) // in memory it takes about what its text does
}
