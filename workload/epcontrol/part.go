package epcontrol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

// Round is one round of a rank: the time of each step of each operation in nanoseconds, in the order of Columns; 0 for
// steps of untimed operations.
type Round []int64

// Columns are the steps of all operations, as init.open.
func Columns() (list []string) {
	for _, o := range operations {
		for _, step := range o.steps {
			list = append(list, o.name+"."+step)
		}
	}
	return list
}

// Encode encodes a rank's measurement for transport and storage.
func Encode(key string, launch, rank int, facts *move.Part, rounds []Round) (*workload.Part, error) {
	r := results.NewRecords(Columns()...)
	r.Case, r.Launch, r.Rank = key, launch, rank
	for _, round := range rounds {
		r.Add(round...)
	}
	return workload.Encode(r, facts)
}

// rounds reads a samples file.
func rounds(content []byte) (list []Round, err error) {
	r, err := results.ReadRecords(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	for k, name := range Columns() {
		c := r.Column(name)
		if c == nil || c.Ends != nil || list != nil && len(c.Values) != len(list) {
			return nil, fmt.Errorf("samples of rank %d have no %s of each round", r.Rank, name)
		}
		if list == nil {
			list = make([]Round, len(c.Values))
		}
		for i, v := range c.Values {
			if v < 0 {
				return nil, fmt.Errorf("%s of rank %d took %d ns", name, r.Rank, v)
			}
			if k == 0 {
				list[i] = make(Round, len(Columns()))
			}
			list[i][k] = v
		}
	}
	return list, nil
}

func (behaviour) Reduce(m *workload.Measured, l *results.Launch) (map[string]float64, error) {
	s := m.Spec.(*Spec)
	moved, files := make([]*move.Part, len(m.Parts)), make([][]byte, len(m.Parts))
	passed := 0.
	for i, p := range m.Parts {
		moved[i], files[i] = &move.Part{}, p.Samples
		if err := json.Unmarshal(p.Facts, moved[i]); err != nil {
			return nil, fmt.Errorf("facts of rank %d: %w", p.Rank, err)
		}
		moved[i].Rank = p.Rank
		if moved[i].Verified {
			passed++
		}
	}
	move.DescribeParts(m, l, moved)
	all, err := s.fromRounds(files)
	if err != nil {
		return nil, err
	}
	source, sink := s.Buffers()
	all["buffer.bytes"], all["ranks_passed"] = float64(source+sink), passed
	return all, nil
}

// Recompute computes the metrics that follow from options and samples alone.
func (behaviour) Recompute(options map[string]any, files [][]byte) (map[string]float64, error) {
	s, err := workload.Decoded(Kind, options, Decode)
	if err != nil {
		return nil, err
	}
	return s.fromRounds(files)
}

// fromRounds computes the metrics that follow from the samples of all ranks.
func (s *Spec) fromRounds(files [][]byte) (map[string]float64, error) {
	var all []Round
	for _, content := range files {
		list, err := rounds(content)
		if err != nil {
			return nil, err
		}
		if len(list) != int(s.Rounds) {
			return nil, fmt.Errorf("a rank has %d rounds, expected %d", len(list), s.Rounds)
		}
		all = append(all, list...)
	}
	m := map[string]float64{}
	at := 0
	for _, o := range operations {
		if slices.Contains(s.Turns(), Turn{o.name, true}) {
			statistics(m, o, at, all)
		}
		at += len(o.steps)
	}
	if s.Operation == Cycle {
		for _, o := range operations {
			m["total"] += m[o.name+".avg"]
		}
	}
	return m, nil
}

// statistics adds the metrics of an operation; column at has its first step.
func statistics(m map[string]float64, o operation, at int, all []Round) {
	const ns = 1e-9
	var times []float64
	for _, r := range all {
		sum := int64(0)
		for k, step := range o.steps {
			sum += r[at+k]
			m[o.name+"."+step] += float64(r[at+k]) * ns / float64(len(all))
		}
		times = append(times, float64(sum)*ns)
		m[o.name+".avg"] += float64(sum) * ns / float64(len(all))
	}
	slices.Sort(times)
	m[o.name+".min"], m[o.name+".max"] = times[0], times[len(times)-1]
	m[o.name+".p50"] = times[results.NearestRank(int64(len(times)), results.P50)-1]
}
