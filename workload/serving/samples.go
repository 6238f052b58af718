package serving

import (
	"bytes"
	"fmt"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/serving/load"
)

// Facts are the measurements of a client about itself.
type Facts struct {
	CPU        float64         `json:"cpu"`      // share of its processors, in the measured part
	Lateness   []float64       `json:"lateness"` // p50 and p99 of its timers, in s
	Floor      float64         `json:"floor"`    // ttft of a server that answers at once, in s; 0: unknown
	Ready      float64         `json:"ready"`    // s until the endpoint answered; of rank 0
	InFlight   int             `json:"in_flight"`
	Found      *float64        `json:"found,omitempty"` // the load that a search found; 0: none met the condition
	Load       float64         `json:"load,omitempty"`  // the last level of a search, which the records are of
	Errors     []results.Cause `json:"errors,omitempty"`
	Notes      []results.Cause `json:"notes,omitempty"`    // of requests that succeeded
	PerWord    float64         `json:"per_word,omitempty"` // tokens, as the server counted them
	Endpoint   string          `json:"endpoint"`
	Calibrated bool            `json:"calibrated"`
}

// absent is a time that did not occur, in samples; times are never below 0.
const absent = -1

func stored(at int64) int64 {
	if at == load.Never {
		return absent
	}
	return at
}

func restored(v int64) int64 {
	if v == absent {
		return load.Never
	}
	return v
}

// field is a column of samples with one number per request.
type field struct {
	name string
	get  func(*load.Record) int64
	set  func(*load.Record, int64)
}

func instant(name string, of func(*load.Record) *int64) field {
	return field{
		name, func(r *load.Record) int64 { return stored(*of(r)) },
		func(r *load.Record, v int64) { *of(r) = restored(v) },
	}
}

func number(name string, of func(*load.Record) *int) field {
	return field{
		name, func(r *load.Record) int64 { return int64(*of(r)) },
		func(r *load.Record, v int64) { *of(r) = int(v) },
	}
}

var fields = []field{
	number("index", func(r *load.Record) *int { return &r.Index }),
	{
		"phase", func(r *load.Record) int64 { return int64(r.Phase) },
		func(r *load.Record, v int64) { r.Phase = load.Phase(v) },
	},
	number("session", func(r *load.Record) *int { return &r.Session }),
	number("turn", func(r *load.Record) *int { return &r.Turn }),
	{
		"outcome", func(r *load.Record) int64 { return int64(r.Outcome) },
		func(r *load.Record, v int64) { r.Outcome = load.Outcome(v) },
	},
	number("status", func(r *load.Record) *int { return &r.Status }),
	{
		"reused", func(r *load.Record) int64 { return one(r.Reused) },
		func(r *load.Record, v int64) { r.Reused = v == 1 },
	},
	instant("due", func(r *load.Record) *int64 { return &r.Due }),
	instant("slot", func(r *load.Record) *int64 { return &r.Slot }),
	instant("start", func(r *load.Record) *int64 { return &r.Start }),
	instant("connected", func(r *load.Record) *int64 { return &r.Connected }),
	instant("sent", func(r *load.Record) *int64 { return &r.Sent }),
	instant("headers", func(r *load.Record) *int64 { return &r.Headers }),
	instant("first", func(r *load.Record) *int64 { return &r.First }),
	instant("first_content", func(r *load.Record) *int64 { return &r.FirstContent }),
	instant("last", func(r *load.Record) *int64 { return &r.Last }),
	instant("done", func(r *load.Record) *int64 { return &r.Done }),
	number("asked_input", func(r *load.Record) *int { return &r.AskedInput }),
	number("asked_output", func(r *load.Record) *int { return &r.AskedOutput }),
	number("input", func(r *load.Record) *int { return &r.Input }),
	number("output", func(r *load.Record) *int { return &r.Output }),
	number("cached", func(r *load.Record) *int { return &r.Cached }),
	{
		"source", func(r *load.Record) int64 { return int64(r.Source) },
		func(r *load.Record, v int64) { r.Source = load.TokenSource(v) },
	},
}

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// lists are columns of samples with a list per request: for each event its arrival time, the tokens generated so far
// (-1: unknown), and whether its read also brought the event before.
var lists = []struct {
	name string
	get  func(load.Event) int64
	set  func(*load.Event, int64)
}{
	{"event", func(e load.Event) int64 { return e.At }, func(e *load.Event, v int64) { e.At = v }},
	{
		"event_tokens", func(e load.Event) int64 { return int64(e.Tokens) },
		func(e *load.Event, v int64) { e.Tokens = int32(v) },
	},
	{
		"event_coalesced", func(e load.Event) int64 { return one(e.Coalesced) },
		func(e *load.Event, v int64) { e.Coalesced = v == 1 },
	},
}

// Encode encodes a client's measurement for transport and storage.
func Encode(key string, launch, rank int, facts *Facts, records []load.Record) (*workload.Part, error) {
	r := &results.Records{Case: key, Launch: launch, Rank: rank}
	for _, f := range fields {
		c := results.Column{Name: f.name, Values: make([]int64, 0, len(records))}
		for i := range records {
			c.Values = append(c.Values, f.get(&records[i]))
		}
		r.Columns = append(r.Columns, c)
	}
	for _, l := range lists {
		c := results.Column{Name: l.name, Ends: []int{}}
		for i := range records {
			for _, e := range records[i].Events {
				c.Values = append(c.Values, l.get(e))
			}
			c.Ends = append(c.Ends, len(c.Values))
		}
		r.Columns = append(r.Columns, c)
	}
	r.Columns = append(r.Columns, timesPerToken(records))
	return workload.Encode(r, facts)
}

// Records reads the samples files of all clients of a launch.
func Records(files [][]byte) (all []load.Record, err error) {
	for _, content := range files {
		r, err := results.ReadRecords(bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		first := len(all)
		for i, f := range fields {
			c := r.Column(f.name)
			if c == nil || c.Ends != nil || i > 0 && len(c.Values) != len(all)-first {
				return nil, fmt.Errorf("samples of rank %d have no %s of each request", r.Rank, f.name)
			}
			if i == 0 {
				all = append(all, make([]load.Record, len(c.Values))...)
			}
			for k, v := range c.Values {
				f.set(&all[first+k], v)
			}
		}
		if err := readLists(r, all[first:]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func readLists(r *results.Records, records []load.Record) error {
	for i, l := range lists {
		c := r.Column(l.name)
		if c == nil || c.Ends == nil || c.Len() != len(records) {
			return fmt.Errorf("samples of rank %d have no %s of each request", r.Rank, l.name)
		}
		for k := range records {
			values := c.List(k)
			if i == 0 {
				records[k].Events = make([]load.Event, len(values))
			}
			if len(values) != len(records[k].Events) {
				return fmt.Errorf(
					"samples of rank %d have %d %s of a request with %d events",
					r.Rank,
					len(values),
					l.name,
					len(records[k].Events),
				)
			}
			for n, v := range values {
				l.set(&records[k].Events[n], v)
			}
		}
	}
	return nil
}
