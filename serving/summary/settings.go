// Package summary computes the metrics of a load from what became of its requests. It keeps to
// these rules:
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

	"weir/results"
	"weir/serving"
)

// Window is the span of time that rates are of.
type Window string

// The windows.
const (
	// Steady is, of a closed load, from when all its slots are taken for the first time until one
	// is free for good; of an open load from the first to the last time that a request was due. A load of fewer
	// than EnoughWaves waves has none.
	Steady Window = "steady"
	// Whole is from the first request to the last token.
	Whole Window = "whole"
)

// Settings are what a summary depends on besides the records.
type Settings struct {
	Window      Window
	Concurrency int // slots of a closed load, over all clients; 0: the load is open
	GPUs        int // 0: nobody said
	SLO         SLO
}

// SLO are promises about each request, in ns; 0: none. Of a request that was due at a time,
// TTFT and Latency count from then.
type SLO struct{ TTFT, ITL, Latency int64 }

func (s SLO) any() bool { return s != SLO{} }

// Summary is what follows from the records of a load.
type Summary struct {
	Values map[string]float64 // by metric, in s, 1/s or as plain numbers
	// From and To are the window that rates are of, and Window its kind: Whole where the load
	// had no steady part, or too few waves.
	From, To int64
	Window   Window
	// Source is the least trusted count of tokens of all requests that succeeded.
	Source serving.TokenSource
	// Distributions are those of times that quantiles are of; failed requests have no end in them.
	Distributions results.Distributions
}

const ns = 1e-9 // seconds

// unbounded is a time that has no end.
var unbounded = math.Inf(1)
