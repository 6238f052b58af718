package move

import (
	"bytes"
	"encoding/json"
	"fmt"
	"weir/results"
	"weir/workload"
)

// Part is what one rank measured in one case: the facts of a workload.Part, and its samples.
type Part struct {
	Rank      int    `json:"-"`
	Initiator bool   `json:"initiator"` // false: it only served, and Samples is nil
	Verified  bool   `json:"verified"`
	Transport string `json:"transport"` // what the fabric says that it used
	// Transports of an initiator, name by name; one without a name where the fabric
	// does not say what carried the data.
	Transports []results.Transport `json:"transports,omitempty"`
	// Provider are the facts that an initiator read back of the provider of its fabric.
	Provider []results.ProviderFact `json:"provider,omitempty"`
	// MemoryNodes are the NUMA nodes that the buffers of its threads were bound to and are
	// on, ascending; nil: they were not bound.
	MemoryNodes []int `json:"memory_nodes,omitempty"`
	// GPU is the address on the bus of the one that its buffers are on; "": they are on none.
	GPU string `json:"gpu,omitempty"`
	// GPUCounters are what spoils a measurement on it: clocks that were held down, errors of its memory.
	GPUCounters []results.Counter `json:"gpu_counters,omitempty"`
	// Walk is what its requests and those to it go over; nil: a cache cannot be told from it.
	Walk    *Walk   `json:"walk,omitempty"`
	Prep    Prep    `json:"prep"`
	Memcpy  float64 `json:"memcpy"`  // bytes/s, 0 where not probed
	Ceiling float64 `json:"ceiling"` // bytes/s of the path, 0 where not probed
	// CeilingBest is the best of the spans of which Ceiling is the median: the path
	// has carried that once.
	CeilingBest float64 `json:"ceiling_best"`
	Usage       Usage   `json:"usage"`
	Clock       Clock   `json:"clock"`
	Stages      Stages  `json:"stages"` // of an initiator
	// Threads of a rank that has several; nil: it has one.
	Threads *Threads `json:"threads,omitempty"`
	// Iterations of an initiator in workload traffic, and of a rank that copies only its
	// own cell, in their order; of more than 4096
	// the first 2048 and the last 2048.
	Iterations []Span `json:"iterations,omitempty"`
	// Delivered are the cells of an initiator in workload traffic, by target.
	Delivered []Delivery `json:"delivered,omitempty"`
	// Steps are the iterations of workload traffic_sequence in which this case's pattern
	// was played with the others, and Began the instants at which they began, on the
	// clock of Span.
	Steps []Played `json:"steps,omitempty"`
	Began []int64  `json:"began,omitempty"`
	// Samples of an initiator.
	Samples *results.Samples `json:"-"`
}

// Prep are the times in seconds that a rank needed before its first case.
type Prep struct {
	Alloc    float64 `json:"alloc"`
	Register float64 `json:"register"`
	Connect  float64 `json:"connect"`
}

// Span is an iteration of one rank, in nanoseconds of a clock that all ranks of the
// launch have in common: CLOCK_MONOTONIC of the first one's host.
type Span struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

// Delivery is the cell of a matrix for one peer: the mean time in seconds, over so many
// iterations, from the instant that all ranks agreed on until the initiator knew that
// all of it had arrived.
type Delivery struct {
	Peer       int     `json:"peer"`
	Iterations uint64  `json:"iterations"`
	Mean       float64 `json:"mean"`
}

// Played is a pattern of a sequence at one rank, in one iteration, on the clock of
// Span. All are 0 at a rank that takes no part, and Start and End at one that begins
// nothing.
type Played struct {
	Agreed int64 `json:"agreed"` // the instant at which its ranks had agreed to start
	Start  int64 `json:"start"`
	End    int64 `json:"end"`
}

// Usage is what a rank's process used from the common start until all ranks had
// ended their timed parts.
type Usage struct {
	CPU      float64 `json:"cpu"` // user and system seconds
	Switches uint64  `json:"switches"`
	// Timed and Probed are of the rank's thread, while it moved or served, and while the path
	// was probed; nil: nobody looked.
	Timed  *Processor `json:"timed,omitempty"`
	Probed *Processor `json:"probed,omitempty"`
	Sleeps bool       `json:"sleeps,omitempty"` // while it waits for others, as it was told
}

// Processor is how a thread had its processor, in seconds.
type Processor struct {
	Wall   float64 `json:"wall"`
	Ran    float64 `json:"ran"`
	Waited float64 `json:"waited"` // ready to run, while another one had it
}

// longer is the one of two threads that waited longer.
func longer(a, b *Processor) *Processor {
	if a == nil || b != nil && b.Waited > a.Waited {
		return b
	}
	return a
}

// processorsOf lists what ranks had of their processors; none where nobody looked.
func processorsOf(parts []*Part) (all []results.RankProcessor) {
	for rank, p := range parts {
		u := p.Usage
		if u.Timed == nil {
			continue
		}
		one := results.RankProcessor{Rank: rank, Wall: u.Timed.Wall, Ran: u.Timed.Ran, Waited: u.Timed.Waited,
			Sleeps: u.Sleeps}
		if u.Probed != nil {
			one.ProbeRan, one.ProbeWaited = u.Probed.Ran, u.Probed.Waited
		}
		all = append(all, one)
	}
	return all
}

// Clock is the clock of a rank's stamps, in seconds.
type Clock struct {
	Resolution float64 `json:"resolution"`
	Cost       float64 `json:"cost"` // of reading it once
	// Bound is by how much the difference to the clock of rank 0, which is taken off all
	// instants, may be wrong; 0 where it is the same clock.
	Bound float64 `json:"bound,omitempty"`
}

// Stages are the parts of the time of a request.
type Stages struct {
	Prepare    float64 `json:"prepare"`             // seconds for one request; 0: none was made
	Made       Stage   `json:"made,omitzero"`       // of requests that the fabric itself made, a part of Prepare
	Listed     Stage   `json:"listed,omitzero"`     // of lists of blocks that it prepared, of which it made them
	Registered Stage   `json:"registered,omitzero"` // of registering anew what a request moves
	Post       Stage   `json:"post"`
	Transfer   Stage   `json:"transfer"`
}

// Stage is how long a part of so many stamped requests took, in seconds.
type Stage struct {
	Stamps uint64  `json:"stamps"`
	Mean   float64 `json:"mean"`
	P99    float64 `json:"p99"`
}

// Threads is what the samples of a rank with several threads do not say of them.
type Threads struct {
	// From and To bound the time in which all of them were in their timed parts
	// (CLOCK_MONOTONIC, ns). Where To is not after From there was none.
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// Took are the timed parts of all of them in seconds, added up.
	Took float64 `json:"took"`
}

// Encode writes a part as it travels and is stored.
func (r *Part) Encode(key string) (*workload.Part, error) {
	facts, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding what a rank measured: %w", err)
	}
	out := &workload.Part{Key: key, Rank: r.Rank, Facts: facts}
	if r.Samples != nil {
		var b bytes.Buffer
		if err := r.Samples.Write(&b); err != nil {
			return nil, fmt.Errorf("encoding samples: %w", err)
		}
		out.Samples = b.Bytes()
	}
	return out, nil
}

// Decode reads what Encode wrote.
func Decode(p *workload.Part) (*Part, error) {
	out := &Part{}
	if err := json.Unmarshal(p.Facts, out); err != nil {
		return nil, fmt.Errorf("what rank %d says of itself: %w", p.Rank, err)
	}
	out.Rank = p.Rank
	if out.Initiator != (p.Samples != nil) {
		return nil, fmt.Errorf("rank %d: an initiator has samples and no other rank has, but initiator is %v and samples have %d bytes",
			p.Rank, out.Initiator, len(p.Samples))
	}
	if p.Samples != nil {
		s, err := results.ReadSamples(bytes.NewReader(p.Samples))
		if err != nil {
			return nil, fmt.Errorf("samples of rank %d: %w", p.Rank, err)
		}
		out.Samples = s
	}
	return out, nil
}
