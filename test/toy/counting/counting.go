// Package counting is a workload that moves nothing: its ranks count and sleep. It shows
// what a workload is made of, and a test adds it to weir.
package counting

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

//go:embed docs.md
var docs string

// Kind is workload counting.
var Kind = &workload.Kind{
	Name: "counting",
	Doc:  "ranks that count and sleep, each for itself",
	Options: []option.Option{
		{Name: "amount", Type: option.Count, Required: true, Min: 1, Max: 1 << 40},
		{Name: "pause", Type: option.Time, Default: quantity.Time(0), Max: 1e9},
		{Name: "operations", Type: option.Count, Default: int64(10), Min: 1, Max: 1 << 20},
		{Name: "ranks", Type: option.Count, Default: int64(1), Min: 1, Max: 64, Process: true},
	},
	Metrics: []workload.Metric{
		{Name: "rate", Unit: "1/s", Better: workload.Higher},
		{Name: "pause.excess", Unit: "s", Better: workload.Lower, MayBeZero: true},
	},
	Checked: []string{"amount", "operations"},
}

// runner is the name of what executes the ranks.
const runner = "counting"

func init() {
	Kind.Document(docs)
	Kind.Behaviour = behaviour{}
	workload.Register(Kind)
	engine.Register(runner, counter{})
}

// behaviour is what the workload does with its cases.
type behaviour struct{}

// Spec decodes and checks the options of a case.
func (behaviour) Spec(v option.Values) (workload.Spec, error) { return decode(v) }

// spec are the options of a case.
type spec struct {
	Amount, Operations, Ranks int64
	Pause                     quantity.Time
}

// most bounds what a rank counts in a case.
const most = int64(1) << 45

func decode(v option.Values) (workload.Spec, error) {
	var s spec
	get := Kind.Get(v)
	err := get.Read(nil, map[string]*int64{"amount": &s.Amount, "operations": &s.Operations, "ranks": &s.Ranks})
	if err != nil {
		return nil, err
	}
	var ok bool
	if s.Pause, ok = get("pause").(quantity.Time); !ok {
		return nil, fmt.Errorf("option pause is %T, not a time", get("pause"))
	}
	if s.Amount > most/s.Operations {
		return nil, fmt.Errorf("%d operations of %d numbers are more than %d", s.Operations, s.Amount, most)
	}
	return &s, nil
}

func (s *spec) Demand() workload.Demand {
	return workload.Demand{Runner: runner, Ranks: int(s.Ranks), Threads: 1, NUMA: option.Default}
}

// counter makes ranks.
type counter struct{}

func (counter) Open(_ engine.Launch, self engine.Identity, c *engine.Control) (engine.Rank, error) {
	return &rank{self.Rank, c}, nil
}

type rank struct {
	number  int
	control *engine.Control
}

// Run counts. Its samples are the times of each operation and pause in ns.
func (r *rank) Run(c engine.Case) (*workload.Part, error) {
	var s spec
	if err := json.Unmarshal(c.Spec, &s); err != nil {
		return nil, err
	}
	r.control.Phase.Store(engine.PhaseRun)
	r.control.Total.Store(uint64(s.Operations))
	samples := results.NewRecords("counted_ns", "paused_ns")
	samples.Case, samples.Rank = c.Key, r.number
	sum := int64(0)
	for i := range s.Operations {
		if r.control.Abort.Load() != 0 {
			return nil, &engine.Error{Op: "count", Phase: "run", Peer: -1, Text: "told to stop"}
		}
		began := time.Now()
		for n := range s.Amount {
			sum += n ^ i
		}
		counted := time.Now()
		time.Sleep(time.Duration(s.Pause))
		samples.Add(counted.Sub(began).Nanoseconds(), time.Since(counted).Nanoseconds())
		r.control.Done.Add(1)
		r.control.Heartbeat.Add(1)
	}
	facts, err := json.Marshal(facts{Sum: sum})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := samples.Write(&b); err != nil {
		return nil, err
	}
	return &workload.Part{Facts: facts, Samples: b.Bytes()}, nil
}

func (r *rank) Close() error { return nil }

// facts are what a rank says besides its samples.
type facts struct {
	Sum int64 `json:"sum"`
}

func (behaviour) Reduce(m *workload.Measured, l *results.Launch) (map[string]float64, error) {
	s := m.Spec.(*spec)
	want := int64(0)
	for i := range s.Operations {
		for n := range s.Amount {
			want += n ^ i
		}
	}
	var files [][]byte
	for _, p := range m.Parts {
		var f facts
		if err := json.Unmarshal(p.Facts, &f); err != nil {
			return nil, fmt.Errorf("rank %d: %w", p.Rank, err)
		}
		if f.Sum != want {
			return nil, fmt.Errorf("rank %d counted to %d, and the sum is %d", p.Rank, f.Sum, want)
		}
		files = append(files, p.Samples)
	}
	l.Verified = true
	return metrics(*s, files)
}

func (behaviour) Recompute(options map[string]any, files [][]byte) (map[string]float64, error) {
	values, err := Kind.Normalize(options)
	if err != nil {
		return nil, err
	}
	s, err := decode(values)
	if err != nil {
		return nil, err
	}
	return metrics(*s.(*spec), files)
}

// metrics are those of a case, which follow from the samples of its ranks.
func metrics(s spec, files [][]byte) (map[string]float64, error) {
	rate, excess, pauses := 0., 0., 0.
	for _, content := range files {
		r, err := results.ReadRecords(bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		counted, paused := r.Column("counted_ns"), r.Column("paused_ns")
		if counted == nil || paused == nil || counted.Len() == 0 || paused.Len() != counted.Len() {
			return nil, fmt.Errorf("rank %d has no times of its operations", r.Rank)
		}
		took := int64(0)
		for i, ns := range counted.Values {
			took += ns
			excess += float64(paused.Values[i] - int64(s.Pause))
			pauses++
		}
		rate += float64(s.Amount) * float64(counted.Len()) / float64(max(1, took)) * 1e9
	}
	return map[string]float64{"rate": rate, "pause.excess": excess / pauses / 1e9}, nil
}
