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
	"slices"

	"weir/engine"
	"weir/gate"
	"weir/quantity"
	"weir/results"
	"weir/workload"
)

// mostSampled is how many launches have their samples files checked unasked, which
// takes some 50 us for each.
const mostSampled = 2000

// checkSamples holds the raw samples that lie beside a document against it. A document
// may stand alone, without the folder; if the folder is there, all files must be. What
// comes back is the document, with the quantiles of these samples if an older version
// computed it and all its transfers have samples.
func checkSamples(doc *results.Document, dir string, all bool, notes io.Writer) (*results.Document, error) {
	if st, err := os.Stat(filepath.Join(dir, "samples")); err != nil || !st.IsDir() {
		return doc, nil
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
		return doc, nil
	}
	redefined, complete := map[*results.Launch]map[string]float64{}, true
	for _, c := range doc.Cases {
		for _, l := range c.Launches {
			if l.SamplesDigest == "" {
				complete = complete && !isTransfer(c, l)
				continue
			}
			if err := sameSamples(l, dir); err != nil {
				return nil, withCode(samplesCode(err), fmt.Errorf("case %s, launch %d: %w", c.Key, l.Index, err))
			}
			quantiles, err := followsFromSamples(doc, c, l, dir)
			if err != nil {
				return nil, withCode(gate.ExitStale, fmt.Errorf("case %s, launch %d: %w", c.Key, l.Index, err))
			}
			if len(quantiles) > 0 {
				redefined[l] = quantiles
			}
		}
	}
	if !complete || len(redefined) == 0 {
		return doc, nil
	}
	return gate.Requantiled(doc, redefined), nil
}

var errOtherSamples = errors.New("its samples files are not those that were measured")

// sameSamples refuses samples files that are gone, or are not those of the launch.
func sameSamples(l *results.Launch, dir string) error {
	digest, err := results.DigestSamples(dir, l.Samples)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("a samples file is gone: %w", err)
	case err != nil:
		return err
	case digest != l.SamplesDigest:
		return errOtherSamples
	}
	return nil
}

func samplesCode(err error) int {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errOtherSamples) {
		return gate.ExitStale
	}
	return gate.ExitExecution
}

// isTransfer says whether a launch has the metrics of a transfer. One that failed was
// not evaluated.
func isTransfer(c *results.Case, l *results.Launch) bool {
	return c.Workload == workload.Transfer.Name && l.Status == results.OK
}

// followsFromSamples computes the metrics of a transfer again, those that its raw
// samples say all of, and gives the quantiles that the document defines in an older way.
func followsFromSamples(doc *results.Document, c *results.Case, l *results.Launch, dir string) (map[string]float64, error) {
	if !isTransfer(c, l) {
		return nil, nil
	}
	o, err := transferOptions(c)
	if err != nil {
		return nil, err
	}
	var samples []*results.Samples
	for _, file := range l.Samples {
		s, err := results.ReadSamplesFile(filepath.Join(dir, filepath.FromSlash(file)))
		if err != nil {
			return nil, err
		}
		samples = append(samples, s)
	}
	metrics, err := engine.FromSamples(o, samples)
	if err != nil {
		return nil, fmt.Errorf("computing its metrics again: %w", err)
	}
	older := engine.RoundedQuantiles(samples)
	redefined := map[string]float64{}
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		is := metrics[name]
		if doc.DefinitionOf(c.Workload, name) == results.RoundedRankRule {
			redefined[name], is = is, older[name]
		}
		stated, ok := l.Metrics.Get(name)
		if !ok {
			return nil, fmt.Errorf("the document lacks %s, and its samples have it", name)
		}
		if !(math.Abs(is-stated) <= gate.LastDigits*math.Abs(is)) {
			return nil, fmt.Errorf("the document has %v for %s, and its samples give %v", stated, name, is)
		}
	}
	return redefined, nil
}

// transferOptions are those of a case's options that metrics from samples depend on.
func transferOptions(c *results.Case) (workload.TransferOptions, error) {
	o := workload.TransferOptions{Batch: 1, Threads: 1}
	for name, to := range map[string]*int64{"batch": &o.Batch, "threads": &o.Threads} {
		if v, ok := workload.Number(c.Options[name]); ok {
			*to = int64(v)
		}
	}
	o.Mode, _ = c.Options["mode"].(string)
	size, err := quantity.ParseSize(quantity.Text(c.Options["block_size"]))
	if err != nil {
		return o, fmt.Errorf("its block size: %w", err)
	}
	o.BlockSize = size
	return o, nil
}

// reportedSamples is a document as it was judged. One of an older version says for which
// quantiles its raw samples give another value.
func reportedSamples(doc *results.Document, dir string, notes io.Writer) *results.Document {
	if len(doc.RoundedQuantiles()) == 0 {
		return doc
	}
	now, err := checkSamples(doc, dir, false, notes)
	if err != nil {
		fmt.Fprintf(notes, "note: quantiles are not computed again: %v\n", err)
		return doc
	}
	if now == doc {
		return doc
	}
	out := *doc
	out.Quantiles = &results.Quantiles{Definition: results.RoundedRankRule, Recomputed: now.Quantiles.Recomputed}
	return &out
}
