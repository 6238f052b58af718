package epelastic

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

// Step is a complete dispatch and combine of a rank. Times are on the rank's own clock, in ns.
type Step struct {
	Group            int64 // the number of the group in the case: see Change
	Start, Turn, End int64
}

var columns = []string{"group", "start", "turn", "end"}

// Mask is a masked rank, with the time from which nothing is sent to it.
type Mask struct {
	Rank int   `json:"rank"`
	At   int64 `json:"at"`
}

// Part is the measurement of a rank in a phase. Times are CLOCK_MONOTONIC of its host, in ns.
type Part struct {
	*move.Part
	Steps   []Step `json:"-"` // its samples
	Wrong   int64  `json:"wrong"`
	WrongAt string `json:"wrong_at,omitempty"`
	Lost    int64  `json:"lost"` // tokens of aborted steps
	// Stopped is the time that its kernels took to end after they were stopped, in ns; 0: there were none.
	Stopped int64  `json:"stopped,omitempty"`
	Masks   []Mask `json:"masks,omitempty"`
	// Muted is when the rank stopped responding, as its phase specifies; 0: it did not.
	Muted int64 `json:"muted,omitempty"`
	// Led is the leader's record of the whole group; nil: this is another rank.
	Led *Led `json:"led,omitempty"`
}

// Led is the leader's record of the group. Times are of its clock.
type Led struct {
	Began   int64    `json:"began"`
	Changes []Change `json:"changes"` // groups by number: the first is that of the phase before
	// Prepared are the times in which ranks made the rows of their next steps, which a program with its own tokens does
	// not need.
	Prepared [][2]int64 `json:"prepared"`
	// Ahead is the offset of each rank's clock to the leader's, and Bound its largest error; 0 on the leader's host.
	Ahead []int64 `json:"ahead"`
	Bound int64   `json:"bound"`
	// GPUs are those of all ranks that were in the group in the phase, as in move.Part; killed ranks report none
	// themselves.
	GPUs []string `json:"gpus,omitempty"`
	// GPUCounters are counters of disturbances on these GPUs.
	GPUCounters []results.Counter `json:"gpu_counters,omitempty"`
}

// Change is the formation of a group.
type Change struct {
	Ranks     []int `json:"ranks"`
	Order     int64 `json:"order"`               // when it was ordered; 0: the group existed before
	Opened    int64 `json:"opened,omitempty"`    // when joining ranks had allocated their memory
	Connected int64 `json:"connected,omitempty"` // when all its ranks were connected
}

// Encode encodes a part for transport and storage.
func (p *Part) Encode(key string, launch int) (*workload.Part, error) {
	r := results.NewRecords(columns...)
	r.Case, r.Launch, r.Rank = key, launch, p.Rank
	for _, s := range p.Steps {
		r.Add(s.Group, s.Start, s.Turn, s.End)
	}
	return workload.Encode(r, p)
}

// decode decodes what Encode encoded.
func decode(p *workload.Part) (*Part, error) {
	out := &Part{Part: &move.Part{}}
	if err := json.Unmarshal(p.Facts, out); err != nil {
		return nil, fmt.Errorf("facts of rank %d: %w", p.Rank, err)
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
