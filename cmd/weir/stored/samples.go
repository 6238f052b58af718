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

	"weir/cmd/weir/exit"
	"weir/gate"
	"weir/results"
	"weir/workload"
)

// MostSampled is how many launches have their samples files checked unasked, which
// takes some 50 us for each.
const MostSampled = 2000

// CheckSamples holds the raw samples that lie beside a document against it. A document
// may stand alone, without the folder; if the folder is there, all files must be. What
// comes back is the document, with the quantiles of these samples if an older version
// computed it and all its transfers have samples.
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

// recomputed is the workload of a launch whose metrics follow from its samples, nil if they
// do not. One that failed was not evaluated.
func recomputed(c *results.Case, l *results.Launch) *workload.Kind {
	k, ok := workload.Lookup(c.Workload)
	if !ok || k.Recompute == nil || l.Status != results.OK {
		return nil
	}
	return k
}

// followsFromSamples computes again the metrics of a launch of which its raw samples say
// all, and gives the quantiles that the document defines in an older way.
func followsFromSamples(doc *results.Document, c *results.Case, l *results.Launch, dir string) (map[string]float64,
	error) {
	k := recomputed(c, l)
	if k == nil {
		return nil, nil
	}
	var samples [][]byte
	for _, file := range l.Samples {
		content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
		if err != nil {
			return nil, fmt.Errorf("reading samples: %w", err)
		}
		samples = append(samples, content)
	}
	metrics, err := k.Recompute(c.Settled(), samples)
	if err != nil {
		return nil, fmt.Errorf("computing its metrics again: %w", err)
	}
	older := map[string]float64{}
	if k.Rounded != nil {
		if older, err = k.Rounded(samples); err != nil {
			return nil, fmt.Errorf("computing its quantiles again: %w", err)
		}
	}
	var others []string
	if k.Redefined != nil {
		others = k.Redefined(l)
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
			return nil, fmt.Errorf("the document lacks %s, and its samples have it", name)
		}
		if !(math.Abs(is-stated) <= gate.LastDigits*math.Abs(is)) {
			return nil, fmt.Errorf("the document has %v for %s, and its samples give %v", stated, name, is)
		}
	}
	return redefined, nil
}

// ReportedSamples is a document as it was judged. One of an older version says for which
// quantiles its raw samples give another value.
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
