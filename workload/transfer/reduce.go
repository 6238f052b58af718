package transfer

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

func (behaviour) Reduce(m *workload.Measured, l *results.Launch) (map[string]float64, error) {
	parts, err := move.Describe(m, l)
	if err != nil {
		return nil, err
	}
	l.Pieces = move.Pieces(parts)
	l.Distributions = results.Distributions{"latency": latencies(parts).Distribution()}
	o := m.Spec.(*move.Spec)
	metrics, err := Metrics(*o, parts)
	l.Notes = slices.Concat(stampNotes(o, parts), stallNotes(o, parts, metrics), overlapNotes(metrics))
	return metrics, err
}

// latencies merges the histograms of all initiators.
func latencies(ranks []*move.Part) *results.Latencies {
	counts := map[int]int64{}
	for _, r := range ranks {
		if r.Initiator && r.Samples != nil {
			for i, n := range r.Samples.Counts {
				counts[i] += n
			}
		}
	}
	return results.NewLatencies(counts)
}

func (behaviour) Recompute(options map[string]any, files [][]byte) (map[string]float64, error) {
	o, err := optionsOf(options)
	if err != nil {
		return nil, err
	}
	samples, err := read(files)
	if err != nil {
		return nil, err
	}
	return FromSamples(o, samples)
}

func (behaviour) Rounded(files [][]byte) (map[string]float64, error) {
	samples, err := read(files)
	if err != nil {
		return nil, err
	}
	return RoundedQuantiles(samples), nil
}

func read(files [][]byte) ([]*results.Samples, error) {
	var all []*results.Samples
	for _, content := range files {
		s, err := results.ReadSamples(bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// optionsOf reads the options of a case that metrics from samples depend on.
func optionsOf(options map[string]any) (move.Spec, error) {
	o := move.Spec{Batch: 1, Threads: 1}
	for name, to := range map[string]*int64{"batch": &o.Batch, "threads": &o.Threads} {
		if v, ok := option.Number(options[name]); ok {
			*to = int64(v)
		}
	}
	o.Mode, _ = options["mode"].(string)
	size, err := quantity.ParseSize(quantity.Text(options["block_size"]))
	if err != nil {
		return o, fmt.Errorf("its block size: %w", err)
	}
	o.BlockSize = size
	return o, nil
}
