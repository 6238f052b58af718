package epelastic

import (
	"bytes"
	"encoding/json"
	"fmt"

	"weir/results"
	"weir/workload"
	"weir/workload/move"
)

// Step is one complete dispatch and combine of a rank. Times are on the rank's own clock, in ns.
type Step struct {
	Group            int64 // the number of the group in the case: see Change
	Start, Turn, End int64
}

var columns = []string{"group", "start", "turn", "end"}

// Mask is a rank that is not sent to any more, and when that began.
type Mask struct {
	Rank int   `json:"rank"`
	At   int64 `json:"at"`
}

// Part is what a rank measured in a phase. Instants are CLOCK_MONOTONIC of its host, in ns.
type Part struct {
	*move.Part
	Steps   []Step `json:"-"` // its samples
	Wrong   int64  `json:"wrong"`
	WrongAt string `json:"wrong_at,omitempty"`
	Lost    int64  `json:"lost"` // tokens of steps that broke off
	// Stopped is how long its kernels took to end when they were told to, in ns; 0: there were none.
	Stopped int64  `json:"stopped,omitempty"`
	Masks   []Mask `json:"masks,omitempty"`
	// Muted is when the rank fell silent, as its phase says; 0: it did not.
	Muted int64 `json:"muted,omitempty"`
	// Led is what rank 0 knows of the whole group; nil: it is another rank.
	Led *Led `json:"led,omitempty"`
}

// Led is what the leader of the group did and saw. Instants are of its clock.
type Led struct {
	Began   int64    `json:"began"`
	Changes []Change `json:"changes"` // groups by number: the first is that of the phase before
	// Prepared are the times in which ranks made the rows of their next steps, which a program that
	// has tokens of its own need not do.
	Prepared [][2]int64 `json:"prepared"`
	// Ahead is by how much each rank's clock is ahead of the leader's, and Bound by how much that may
	// be wrong; 0 on the leader's host.
	Ahead []int64 `json:"ahead"`
	Bound int64   `json:"bound"`
	// GPUs of all ranks that were in the group at any time of the phase, as move.Part has a rank's own: one
	// that was killed says nothing of itself.
	GPUs []string `json:"gpus,omitempty"`
	// GPUCounters are what spoils a measurement on any of them, also on that of a rank that was killed.
	GPUCounters []results.Counter `json:"gpu_counters,omitempty"`
}

// Change is how a group came to be.
type Change struct {
	Ranks     []int `json:"ranks"`
	Order     int64 `json:"order"`               // when it was wanted; 0: it was there before
	Opened    int64 `json:"opened,omitempty"`    // when ranks that join had their memory
	Connected int64 `json:"connected,omitempty"` // when all its ranks were connected
}

// Encode writes a part as it travels and is stored.
func (p *Part) Encode(key string, launch int) (*workload.Part, error) {
	r := results.NewRecords(columns...)
	r.Case, r.Launch, r.Rank = key, launch, p.Rank
	for _, s := range p.Steps {
		r.Add(s.Group, s.Start, s.Turn, s.End)
	}
	var samples bytes.Buffer
	if err := r.Write(&samples); err != nil {
		return nil, err
	}
	facts, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encoding what a rank measured: %w", err)
	}
	return &workload.Part{Key: key, Rank: p.Rank, Facts: facts, Samples: samples.Bytes()}, nil
}

// decode reads what Encode wrote.
func decode(p *workload.Part) (*Part, error) {
	out := &Part{Part: &move.Part{}}
	if err := json.Unmarshal(p.Facts, out); err != nil {
		return nil, fmt.Errorf("what rank %d says of itself: %w", p.Rank, err)
	}
	out.Rank = p.Rank
	var err error
	out.Steps, err = steps(p.Samples)
	return out, err
}

// steps reads a samples file.
func steps(content []byte) ([]Step, error) {
	r, err := results.ReadRecords(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	var list []Step
	for k, name := range columns {
		c := r.Column(name)
		if c == nil || c.Ends != nil || k > 0 && len(c.Values) != len(list) {
			return nil, fmt.Errorf("samples of rank %d have no %s of each step", r.Rank, name)
		}
		if k == 0 {
			list = make([]Step, len(c.Values))
		}
		for i, v := range c.Values {
			*[]*int64{&list[i].Group, &list[i].Start, &list[i].Turn, &list[i].End}[k] = v
		}
	}
	for i, s := range list {
		if s.Turn < s.Start || s.End < s.Turn || s.Group < 0 || i > 0 && s.Start < list[i-1].End {
			return nil, fmt.Errorf("samples of rank %d have a step %d of group %d from %d to %d", r.Rank, i, s.Group,
				s.Start, s.End)
		}
	}
	return list, nil
}
