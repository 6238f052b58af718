// Package stored reads the documents, samples and durations of stored sessions.
package stored

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/results"
)

// Read reads a complete, unchanged document. Its exit code is ExitStale if it was changed, else ExitUsage.
func Read(path string, notes io.Writer) (*results.Document, error) {
	limitMemory(path)
	doc, err := results.ReadVerified(path)
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

// limitMemory sets the garbage collector's limit to about the size of the document in memory: by default,
// memory would grow to twice that. GOMEMLIMIT and GOGC take precedence.
func limitMemory(path string) {
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
	debug.SetMemoryLimit(max(least, limit+st.Size()*17/10))
}
