package ep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

// Part is the measurement of one rank: the part common to all workloads, its iterations, and its waits for each source.
type Part struct {
	*move.Part
	Iterations []Iteration // its samples
	loops
}

// loops are the results of a rank besides its samples.
type loops struct {
	Waits [2][]Wait `json:"waits"` // of dispatch and combine, by source
	// Events and Wall are the seconds of all timed iterations between two events of the GPU, and by the host's clock;
	// 0: no kernels ran.
	Events float64 `json:"events,omitempty"`
	Wall   float64 `json:"wall,omitempty"`
	Spent  Spent   `json:"spent,omitzero"`
}

// Spent is what moving GPU memory by puts of the host took in all timed iterations, in seconds.
type Spent struct {
	Post   float64 `json:"post"`
	Kernel float64 `json:"kernel"`
	Launch float64 `json:"launch"`
}

// Iteration is an iteration of a rank, in nanoseconds. Start, Turn and End are on the common clock (see move.Span):
// Turn is the end of the dispatch. The others are spans.
type Iteration struct {
	Start, Turn, End                       int64
	Quantise, DispatchSend, DispatchWait   int64
	Partial, CombineSend, CombineWait, Sum int64
}

var columns = []string{
	"start", "turn", "end", "quantise", "dispatch_send", "dispatch_wait", "partial", "combine_send", "combine_wait",
	"sum",
}

func (i *Iteration) fields() []*int64 {
	return []*int64{
		&i.Start, &i.Turn, &i.End, &i.Quantise, &i.DispatchSend, &i.DispatchWait, &i.Partial, &i.CombineSend,
		&i.CombineWait, &i.Sum,
	}
}

// Wait is the time from the start of an operation at a rank until everything from a source has arrived, in seconds,
// over all iterations.
type Wait struct {
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
}

// Encode encodes a part for transport and storage.
func (p *Part) Encode(key string, launch int) (*workload.Part, error) {
	r := results.NewRecords(columns...)
	r.Case, r.Launch, r.Rank = key, launch, p.Rank
	for _, it := range p.Iterations {
		var values []int64
		for _, v := range it.fields() {
			values = append(values, *v)
		}
		r.Add(values...)
	}
	return workload.Encode(r, struct {
		*move.Part
		loops
	}{p.Part, p.loops})
}

// decode decodes what Encode encoded.
func decode(p *workload.Part) (*Part, error) {
	out := &Part{Part: &move.Part{}}
	facts := struct {
		*move.Part
		loops
	}{Part: out.Part}
	if err := json.Unmarshal(p.Facts, &facts); err != nil {
		return nil, fmt.Errorf("facts of rank %d: %w", p.Rank, err)
	}
	out.Rank, out.loops = p.Rank, facts.loops
	var err error
	_, out.Iterations, err = iterations(p.Samples)
	return out, err
}

// iterations reads a samples file.
func iterations(content []byte) (rank int, list []Iteration, err error) {
	r, err := results.ReadRecords(bytes.NewReader(content))
	if err != nil {
		return 0, nil, err
	}
	for k, name := range columns {
		c := r.Column(name)
		if c == nil || c.Ends != nil {
			return 0, nil, fmt.Errorf("samples of rank %d have no %s", r.Rank, name)
		}
		if list == nil {
			list = make([]Iteration, len(c.Values))
		}
		if len(c.Values) != len(list) {
			return 0, nil, fmt.Errorf("samples of rank %d have %d of %s for %d iterations", r.Rank, len(c.Values), name,
				len(list))
		}
		for i, v := range c.Values {
			*list[i].fields()[k] = v
		}
	}
	return r.Rank, list, nil
}

func (behaviour) Reduce(m *workload.Measured, l *results.Launch) (map[string]float64, error) {
	s := m.Spec.(*Spec)
	t, err := s.Table()
	if err != nil {
		return nil, err
	}
	parts, moved := make([]*Part, len(m.Parts)), make([]*move.Part, len(m.Parts))
	for i, p := range m.Parts {
		if parts[i], err = decode(p); err != nil {
			return nil, err
		}
		moved[i] = parts[i].Part
	}
	move.DescribeParts(m, l, moved)
	z := s.sizes(t)
	d := results.Distributions{}
	metrics, err := fromIterations(s, t.Amounts(), z, parts, d)
	if err != nil {
		return nil, err
	}
	if l.Pieces, err = pieces(s, z, parts); err != nil {
		return nil, err
	}
	l.Distributions = d
	l.Ranks, l.Initiators = shares(z, parts)
	addWaits(metrics, parts)
	l.Waits = waitsOf(s, parts)
	addHost(metrics, z, parts)
	kernelMetrics(metrics, s, parts)
	return metrics, nil
}

// pieces returns the bandwidths of a rank in equal parts of the iterations, in order.
func pieces(s *Spec, z sizes, parts []*Part) ([]float64, error) {
	ranks, err := counted(s, parts)
	if err != nil {
		return nil, err
	}
	all := spansOf(ranks, func(it Iteration) (from, to int64) { return it.Start, it.End })
	logical := 0.
	for _, b := range z.logical {
		logical += float64(b) / float64(len(z.logical))
	}
	return move.PiecesOfIterations(all.together, logical), nil
}

// Recompute computes the metrics that follow from options and samples alone.
func (behaviour) Recompute(options map[string]any, files [][]byte) (map[string]float64, error) {
	s, err := workload.Decoded(Kind, options, Decode)
	if err != nil {
		return nil, err
	}
	t, err := s.Table()
	if err != nil {
		return nil, err
	}
	var parts []*Part
	for _, content := range files {
		rank, list, err := iterations(content)
		if err != nil {
			return nil, err
		}
		parts = append(parts, &Part{Part: &move.Part{Rank: rank}, Iterations: list})
	}
	return fromIterations(s, t.Amounts(), s.sizes(t), parts, nil)
}

// shares returns the bytes that each rank sent to others, by rank; of many ranks only the slowest.
func shares(z sizes, parts []*Part) (list []results.RankShare, initiators int) {
	for _, p := range parts {
		bytes, took := int64(0), int64(0)
		for to, n := range z.sent[p.Rank] {
			if to != p.Rank {
				bytes += n
			}
		}
		for _, it := range p.Iterations {
			took += max(1, it.End-it.Start)
		}
		s := results.RankShare{
			Rank: p.Rank, Bytes: uint64(bytes) * uint64(len(p.Iterations)), Seconds: float64(took) * 1e-9,
		}
		if s.Bytes > 0 {
			s.Bandwidth = float64(s.Bytes) / float64(took)
			list = append(list, s)
		}
	}
	initiators = len(list)
	if initiators > results.MostRanks {
		slices.SortStableFunc(list, func(a, b results.RankShare) int {
			return int(min(max(a.Bandwidth-b.Bandwidth, -1), 1) * 2)
		})
		list = list[:results.SlowestRanks]
		slices.SortFunc(list, func(a, b results.RankShare) int { return a.Rank - b.Rank })
	}
	return list, initiators
}
