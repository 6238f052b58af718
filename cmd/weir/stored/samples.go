package stored

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

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// MostSampled is the number of launches up to which samples files are checked by default (about 50 us each).
const MostSampled = 2000

// CheckSamples checks a document against the raw samples in dir, if there are any. If there are, all
// files must exist. It returns the document, with recomputed quantiles if an older version wrote it and
// all its transfers have samples.
func CheckSamples(doc *results.Document, dir string, all bool, notes io.Writer) (*results.Document, error) {
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
	if left > MostSampled && !all {
		fmt.Fprintf(notes, "note: the samples files of %d launches are not checked; --samples does\n", left)
		return doc, nil
	}
	redefined, complete := map[*results.Launch]map[string]float64{}, true
	for _, c := range doc.Cases {
		for _, l := range c.Launches {
			if l.SamplesDigest == "" {
				complete = complete && recomputed(c, l) == nil
				continue
			}
			name := results.LaunchName(l.Index)
			if err := sameSamples(l, dir); err != nil {
				return nil, exit.With(samplesCode(err), fmt.Errorf("case %s, %s: %w", c.Key, name, err))
			}
			quantiles, err := followsFromSamples(doc, c, l, dir)
			if err != nil {
				return nil, exit.With(gate.ExitStale, fmt.Errorf("case %s, %s: %w", c.Key, name, err))
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

// sameSamples refuses samples files that are missing or were changed.
func sameSamples(l *results.Launch, dir string) error {
	digest, err := results.DigestSamples(dir, l.Samples)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("a samples file is missing: %w", err)
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

// recomputed is the workload of a launch if its metrics follow from its samples, else nil.
func recomputed(c *results.Case, l *results.Launch) workload.Recomputer {
	b, ok := workload.As[workload.Recomputer](c.Workload)
	if !ok || l.Status != results.OK {
		return nil
	}
	return b
}

// followsFromSamples recomputes the metrics of a launch from its raw samples and compares them. It
// returns the new values of the quantiles that the document defines in the older way.
func followsFromSamples(doc *results.Document, c *results.Case, l *results.Launch, dir string) (map[string]float64,
	error) {
	k := recomputed(c, l)
	if k == nil {
		return nil, nil
	}
	var samples [][]byte
	for _, file := range l.Samples {
		content, err := bounded.ReadFile(filepath.Join(dir, filepath.FromSlash(file)), bounded.Result)
		if err != nil {
			return nil, fmt.Errorf("reading samples: %w", err)
		}
		samples = append(samples, content)
	}
	metrics, err := k.Recompute(c.ResolvedOptions(), samples)
	if err != nil {
		return nil, fmt.Errorf("computing its metrics again: %w", err)
	}
	older := map[string]float64{}
	if r, ok := k.(workload.Rounder); ok {
		if older, err = r.Rounded(samples); err != nil {
			return nil, fmt.Errorf("computing its quantiles again: %w", err)
		}
	}
	var others []string
	if r, ok := k.(workload.Redefiner); ok {
		others = r.Redefined(l)
	}
	redefined := map[string]float64{}
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		is := metrics[name]
		if slices.Contains(others, name) {
			continue
		}
		if doc.DefinitionOf(c.Workload, name) == results.RoundedRankRule {
			redefined[name], is = is, older[name]
		}
		stated, ok := l.Metrics.Get(name)
		if !ok {
			return nil, fmt.Errorf("the document lacks %s, which follows from its samples", name)
		}
		if !(math.Abs(is-stated) <= gate.LastDigits*math.Abs(is)) {
			return nil, fmt.Errorf("the document has %s = %v, but its samples give %v", name, stated, is)
		}
	}
	return redefined, nil
}

// ReportedSamples is a document with its stored verdicts. A document of an older version also gets the
// list of quantiles that its raw samples change.
func ReportedSamples(doc *results.Document, dir string, notes io.Writer) *results.Document {
	if len(doc.RoundedQuantiles()) == 0 {
		return doc
	}
	now, err := CheckSamples(doc, dir, false, notes)
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
