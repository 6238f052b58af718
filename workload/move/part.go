package move

import (
	"bytes"
	"encoding/json"
	"fmt"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// Part is the measurement of one rank in one case: the facts of a workload.Part, and its samples.
type Part struct {
	Rank      int    `json:"-"`
	Initiator bool   `json:"initiator"` // false: a target, without Samples
	Verified  bool   `json:"verified"`
	Transport string `json:"transport"` // as the fabric reports it
	// Transports of an initiator; one without a name if the fabric does not report what carried the data.
	Transports []results.Transport `json:"transports,omitempty"`
	// Provider are the provider's properties that an initiator read back from its fabric.
	Provider []results.ProviderFact `json:"provider,omitempty"`
	// Libraries of the fabric that the rank has loaded, the fabric's own first.
	Libraries []results.Library `json:"libraries,omitempty"`
	// MemoryNodes are the NUMA nodes that the buffers of its threads were bound to and are on, ascending; nil: they
	// were not bound.
	MemoryNodes []int `json:"memory_nodes,omitempty"`
	// GPU is the PCI address of the GPU with its buffers; "": there is none.
	GPU string `json:"gpu,omitempty"`
	// GPUCounters are counters of disturbances on that GPU: reduced clocks, memory errors.
	GPUCounters []results.Counter `json:"gpu_counters,omitempty"`
	// Walk is the memory that its requests and those to it cover; nil: unknown.
	Walk    *Walk   `json:"walk,omitempty"`
	Prep    Prep    `json:"prep"`
	Memcpy  float64 `json:"memcpy"`  // bytes/s, 0 if not probed
	Ceiling float64 `json:"ceiling"` // bytes/s of the path, 0 if not probed
	// CeilingBest is the fastest of the probed spans of which Ceiling is the median.
	CeilingBest float64 `json:"ceiling_best"`
	Usage       Usage   `json:"usage"`
	Clock       Clock   `json:"clock"`
	Stages      Stages  `json:"stages"` // of an initiator
	// Threads of a rank with several; nil: it has one.
	Threads *Threads `json:"threads,omitempty"`
	// Iterations of an initiator in workload traffic, and of a rank that copies only its own cell, in order; of more
	// than 4096 the first 2048 and the last 2048.
	Iterations []Span `json:"iterations,omitempty"`
	// Delivered are the delivery times of an initiator's cells in workload traffic, by target.
	Delivered []Delivery `json:"delivered,omitempty"`
	// Steps are the iterations of workload traffic_sequence in which this case's pattern ran with the others, and Began
	// their start times on the clock of Span.
	Steps []Played `json:"steps,omitempty"`
	Began []int64  `json:"began,omitempty"`
	// Samples of an initiator.
	Samples *results.Samples `json:"-"`
}

// Prep are the preparation times of a rank before its first case, in seconds.
type Prep struct {
	Alloc    float64 `json:"alloc"`
	Register float64 `json:"register"`
	Connect  float64 `json:"connect"`
}

// Span is an iteration of one rank, in nanoseconds of a clock common to all ranks of the launch: CLOCK_MONOTONIC of the
// first rank's host.
type Span struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

// Delivery is the delivery time of a cell of a matrix for one peer: the mean in seconds over a number of iterations,
// from the agreed start until the initiator knew that all of the cell had arrived.
type Delivery struct {
	Peer       int     `json:"peer"`
	Iterations uint64  `json:"iterations"`
	Mean       float64 `json:"mean"`
}

// Played is one iteration of a pattern of a sequence at one rank, on the clock of Span. All are 0 at a rank that takes
// no part, and Start and End at one that initiates nothing.
type Played struct {
	Agreed int64 `json:"agreed"` // the agreed start of its ranks
	Start  int64 `json:"start"`
	End    int64 `json:"end"`
}

// Usage is the CPU use of a rank's process from the common start until all ranks had ended their timed parts.
type Usage struct {
	CPU      float64 `json:"cpu"` // user and system seconds
	Switches uint64  `json:"switches"`
	// Timed and Probed are the rank's thread in the timed part and while the path was probed; nil: not observed.
	Timed  *Processor `json:"timed,omitempty"`
	Probed *Processor `json:"probed,omitempty"`
	Sleeps bool       `json:"sleeps,omitempty"` // while it waits for others, as option wait says
}

// Processor is a thread's use of its processor, in seconds.
type Processor struct {
	Wall   float64 `json:"wall"`
	Ran    float64 `json:"ran"`
	Waited float64 `json:"waited"` // runnable, while another thread had the processor
}

// longer returns the thread that waited longer.
func longer(a, b *Processor) *Processor {
	if a == nil || b != nil && b.Waited > a.Waited {
		return b
	}
	return a
}

// processorsOf lists the processor use of ranks; none if it was not observed.
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

// Clock describes the clock of a rank's timestamps, in seconds.
type Clock struct {
	Resolution float64 `json:"resolution"`
	Cost       float64 `json:"cost"` // of one reading
	// Bound is the largest error of the difference to the clock of rank 0, which is subtracted from all timestamps; 0
	// if it is the same clock.
	Bound float64 `json:"bound,omitempty"`
}

// Stages are the parts of a request's time.
type Stages struct {
	Prepare    float64 `json:"prepare"`             // seconds for one request; 0: none was made
	Made       Stage   `json:"made,omitzero"`       // of requests that the fabric itself made; part of Prepare
	Listed     Stage   `json:"listed,omitzero"`     // of block lists that the fabric prepared for requests
	Registered Stage   `json:"registered,omitzero"` // of registering a request's memory anew
	Post       Stage   `json:"post"`
	Transfer   Stage   `json:"transfer"`
}

// Stage is the time of a part of stamped requests, in seconds.
type Stage struct {
	Stamps uint64  `json:"stamps"`
	Mean   float64 `json:"mean"`
	P99    float64 `json:"p99"`
}

// Threads are results of a rank with several threads that its samples lack.
type Threads struct {
	// From and To (CLOCK_MONOTONIC, ns) bound the time in which all of its threads were in their timed parts; there was
	// none if To is not after From.
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// Took is the sum of their timed parts in seconds.
	Took float64 `json:"took"`
}

// Encode encodes a part for transport and storage.
func (r *Part) Encode(key string) (*workload.Part, error) {
	facts, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding a rank's measurement: %w", err)
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

// Decode decodes what Encode encoded.
func Decode(p *workload.Part) (*Part, error) {
	out := &Part{}
	if err := json.Unmarshal(p.Facts, out); err != nil {
		return nil, fmt.Errorf("facts of rank %d: %w", p.Rank, err)
	}
	out.Rank = p.Rank
	if out.Initiator != (p.Samples != nil) {
		return nil, fmt.Errorf("rank %d: exactly the initiators must have samples, but initiator is %v and samples have %d bytes",
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
