package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"weir/engine"
	"weir/gate"
	"weir/quantity"
	"weir/results"
	"weir/workload"
)

// readWhole reads a document that has all cases of its plan and is as it was written.
func readWhole(path string) (*results.Document, error) {
	frugal(path)
	doc, err := results.Read(path)
	if err != nil {
		return nil, withCode(gate.ExitUsage, err)
	}
	if err := doc.Verify(); err != nil {
		return nil, withCode(gate.ExitStale, fmt.Errorf("%s: %w", path, err))
	}
	return doc, nil
}

// mostSampled is how many launches have their samples files checked unasked, which
// takes some 50 us for each.
const mostSampled = 2000

// checkSamples holds the raw samples that lie beside a document against it. A document
// may stand alone, without the folder; if the folder is there, all files must be.
func checkSamples(doc *results.Document, dir string, all bool, notes io.Writer) error {
	if st, err := os.Stat(filepath.Join(dir, "samples")); err != nil || !st.IsDir() {
		return nil
	}
	left := 0
	for _, c := range doc.Cases {
		for _, l := range c.Launches {
			if l.SamplesDigest != "" {
				left++
			}
		}
	}
	if left > mostSampled && !all {
		fmt.Fprintf(notes, "note: the samples files of %d launches are not checked; --samples does\n", left)
		return nil
	}
	for _, c := range doc.Cases {
		for _, l := range c.Launches {
			if l.SamplesDigest == "" {
				continue
			}
			digest, err := results.DigestSamples(dir, l.Samples)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return withCode(gate.ExitStale, fmt.Errorf("case %s, launch %d: a samples file is gone: %w", c.Key, l.Index, err))
			case err != nil:
				return withCode(gate.ExitExecution, fmt.Errorf("case %s, launch %d: %w", c.Key, l.Index, err))
			case digest != l.SamplesDigest:
				return withCode(gate.ExitStale, fmt.Errorf("case %s, launch %d: its samples files are not those that were measured", c.Key, l.Index))
			}
			if err := followsFromSamples(c, l, dir); err != nil {
				return withCode(gate.ExitStale, fmt.Errorf("case %s, launch %d: %w", c.Key, l.Index, err))
			}
		}
	}
	return nil
}

// lastDigits is how far a metric may be from the same one computed on another machine.
const lastDigits = 1e-9

// followsFromSamples computes the metrics of a transfer again, those that its raw
// samples say all of. A launch that failed was not evaluated.
func followsFromSamples(c *results.Case, l *results.Launch, dir string) error {
	if c.Workload != workload.Transfer.Name || l.Status != results.OK {
		return nil
	}
	o := workload.TransferOptions{Batch: 1, Threads: 1}
	for name, to := range map[string]*int64{"batch": &o.Batch, "threads": &o.Threads} {
		if v, ok := workload.Number(c.Options[name]); ok {
			*to = int64(v)
		}
	}
	o.Mode, _ = c.Options["mode"].(string)
	size, err := quantity.ParseSize(quantity.Text(c.Options["block_size"]))
	if err != nil {
		return fmt.Errorf("its block size: %w", err)
	}
	o.BlockSize = size
	var samples []*results.Samples
	for _, file := range l.Samples {
		s, err := results.ReadSamplesFile(filepath.Join(dir, filepath.FromSlash(file)))
		if err != nil {
			return err
		}
		samples = append(samples, s)
	}
	metrics, err := engine.FromSamples(o, samples)
	if err != nil {
		return fmt.Errorf("computing its metrics again: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		is := metrics[name]
		stated, ok := l.Metrics.Get(name)
		if !ok {
			return fmt.Errorf("the document lacks %s, and its samples have it", name)
		}
		if !(math.Abs(is-stated) <= lastDigits*math.Abs(is)) {
			return fmt.Errorf("the document has %v for %s, and its samples give %v", stated, name, is)
		}
	}
	return nil
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
