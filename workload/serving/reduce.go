package serving

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/serving/load"
	"github.com/weir-bench/weir/workload/serving/summary"
)

func (behaviour) RequestsFailed(p *workload.Part) bool {
	var facts Facts
	return json.Unmarshal(p.Facts, &facts) == nil && len(facts.Errors) > 0
}

func (behaviour) Reduce(m *workload.Measured, l *results.Launch) (map[string]float64, error) {
	s := m.Spec.(*Spec)
	var samples [][]byte
	clients := make([]Facts, len(m.Parts))
	for i, p := range m.Parts {
		if err := json.Unmarshal(p.Facts, &clients[i]); err != nil {
			return nil, fmt.Errorf("facts of rank %d: %w", p.Rank, err)
		}
		samples = append(samples, p.Samples)
	}
	records, err := Records(samples)
	if err != nil {
		return nil, err
	}
	sum, err := s.summarized(records)
	if err != nil {
		return nil, err
	}
	if s.alike() {
		l.Pieces = summary.Pieces(records, int(s.Concurrency))
	}
	values := sum.Values
	l.Distributions, l.RateWindow = sum.Distributions, rateWindow(sum.Window)
	ofClients(s, clients, values)
	values["ready.time"] = m.Starting + clients[0].Ready
	l.Errors = merged(clients, func(c Facts) []results.Cause { return c.Errors })
	l.Notes = merged(clients, func(c Facts) []results.Cause { return c.Notes })
	if err := s.services.Observe(m.Observed, values); err != nil {
		return nil, err
	}
	l.Verified = true // answers are not verified
	return values, nil
}

// ofClients adds the metrics of the clients themselves: the worst of each.
func ofClients(s *Spec, clients []Facts, values map[string]float64) {
	for _, c := range clients {
		values["client.cpu"] = max(values["client.cpu"], c.CPU)
		if len(c.Lateness) == 2 {
			values["client.lateness.p50"] = max(values["client.lateness.p50"], c.Lateness[0])
			values["client.lateness.p99"] = max(values["client.lateness.p99"], c.Lateness[1])
		}
		if c.Floor > 0 {
			values["client.floor.ttft"] = max(values["client.floor.ttft"], c.Floor)
		}
	}
	if found, search := clients[0].Found, s.Search; found != nil && search != nil {
		values["found."+search.Axis] = *found
	}
}

// merged returns the causes of all clients together, the most frequent first.
func merged(clients []Facts, of func(Facts) []results.Cause) []results.Cause {
	count := map[string]int{}
	for _, c := range clients {
		for _, f := range of(c) {
			count[f.Text] += f.Count
		}
	}
	return MostFrequent(count)
}

// maxCauses limits the causes of errors.
const maxCauses = 5

// MostFrequent returns the most frequent causes.
func MostFrequent(count map[string]int) (all []results.Cause) {
	for text, n := range count {
		all = append(all, results.Cause{Text: text, Count: n})
	}
	slices.SortFunc(all, func(a, b results.Cause) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Text, b.Text)) })
	return all[:min(len(all), maxCauses)]
}

// alike reports whether the requests of all parts of a load are of one kind: its rate is constant, and its prompts do
// not grow from turn to turn.
func (s *Spec) alike() bool { return s.Search == nil && s.Ramp == "" && s.trace == "" && s.Turns == 1 }

// summarized summarizes the records of all clients.
func (s *Spec) summarized(records []load.Record) (*summary.Summary, error) {
	sum := summarize(s, records)
	if sum.Values["requests"] == 0 {
		return nil, errors.New("no request was measured: all were cancelled, or the load ended before the first")
	}
	return sum, nil
}

// Summarize computes the metrics of records.
func Summarize(s *Spec, records []load.Record) map[string]float64 {
	return summarize(s, records).Values
}

func summarize(s *Spec, records []load.Record) *summary.Summary {
	concurrency := int(s.Concurrency)
	if search := s.Search; search != nil && search.Axis == ByConcurrency {
		concurrency = 1 // the level that was found
	}
	sum := summary.Of(records, s.Settings(concurrency))
	for name, v := range sum.Values {
		if math.IsInf(v, 1) {
			sum.Values[name] = results.Unbounded
		}
	}
	sum.Values["tokens.counted_by"] = float64(sum.Source)
	return &sum
}

// Recompute computes the metrics that follow from options and samples alone.
func (behaviour) Recompute(options map[string]any, samples [][]byte) (map[string]float64, error) {
	s, err := workload.Decoded(Kind, options, Decode)
	if err != nil {
		return nil, err
	}
	records, err := Records(samples)
	if err != nil {
		return nil, err
	}
	sum, err := s.summarized(records)
	if err != nil {
		return nil, err
	}
	return sum.Values, nil
}
