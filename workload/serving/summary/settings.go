// Package summary computes the metrics of a load from the records of its requests, by these rules:
//
//   - Metrics are of phase Measured; cold.ttft is of phase Ready.
//   - Attempted requests are those that were not cancelled on purpose. One of them has failed if
//     its outcome is not OK.
//   - Quantiles are those of results.NearestRank over attempted requests, with failed ones as
//     infinitely slow: a quantile that lands on one is +Inf. An average is of the others only.
//   - A request that has no value of a metric, as an inter-token latency of one token, is left
//     out of its quantiles, and does not keep a promise about it.
//   - A metric of which nothing was measured is absent, and never 0.
package summary

import (
	"math"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/serving/load"
)

// Window is the time over which rates are taken.
type Window string

// The windows.
const (
	// Steady is, for a closed load, from the first time that all slots are taken until one is free for good; for an
	// open load from the first to the last scheduled time. It is cut to the first and the last end of a request in it.
	// A load of fewer than EnoughWaves waves has none.
	Steady Window = "steady"
	// Whole is from the first request to the last token.
	Whole Window = "whole"
)

// Settings are the inputs of a summary besides the records.
type Settings struct {
	Window      Window
	Concurrency int // slots of a closed load, over all clients; 0: the load is open
	GPUs        int // 0: unknown
	SLO         SLO
	Several     bool // answers have several choices: times between their events have no meaning
}

// SLO are the objectives of each request, in ns; 0: none. For a request with a scheduled time, TTFT and Latency count
// from then.
type SLO struct{ TTFT, ITL, Latency int64 }

func (s SLO) any() bool { return s != SLO{} }

// Summary are the metrics of a load.
type Summary struct {
	Values map[string]float64 // by metric, in s, 1/s or as plain numbers
	// From and To are the bounds of the window of rates, and Window its kind: Whole if the load had no steady part, or
	// too few waves.
	From, To int64
	Window   Window
	// Source is the least trusted token count over all successful requests.
	Source load.TokenSource
	// Distributions are the times of quantiles; failed requests are infinite.
	Distributions results.Distributions
}

const ns = 1e-9 // seconds

// unbounded is an infinite time.
var unbounded = math.Inf(1)
