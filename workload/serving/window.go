package serving

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/serving/summary"
)

// rates are the metrics over a window.
var rates = []string{
	"concurrency.effective", "request_rate", "output_throughput", "output_throughput.per_gpu", "total_throughput",
	"goodput", "goodput.tokens",
}

// OnceFullSlots returns the rates, which had another steady part.
func (behaviour) OnceFullSlots() []string { return rates }

// Redefined returns the rates of launches of versions that used a steady part of few waves, or results.FullSlotsRule,
// and total_throughput of answers without a stream, which lacked the input tokens.
func (behaviour) Redefined(l *results.Launch) []string {
	if l.RateWindow == "" || l.RateWindow == results.FullSlotsRule {
		return rates
	}
	if _, streamed := l.Metrics.Get("ttft.p50"); !streamed {
		return []string{"total_throughput"}
	}
	return nil
}

// rateWindow returns the window of a summary as a document names it.
func rateWindow(w summary.Window) string {
	if w == summary.Steady {
		return results.BetweenEndsRule
	}
	return string(w)
}

// Doubtful reports rates of a closed load with too few waves for a steady part.
func (behaviour) Doubtful(v option.Values, metric string) string {
	s, err := Decode(v)
	if err != nil || !slices.Contains(rates, metric) || s.Window != string(summary.Steady) || s.Concurrency == 0 ||
		s.Requests == 0 ||
		s.Search != nil ||
		s.Requests >= summary.EnoughWaves*s.Concurrency {
		return ""
	}
	return fmt.Sprintf(
		"it is over the whole load, including its start and end: "+
			"%d requests with concurrency %d are fewer than %d waves, too few for a steady part (use requests: %d, "+
			"or set window: whole)",
		s.Requests,
		s.Concurrency,
		summary.EnoughWaves,
		summary.EnoughWaves*s.Concurrency,
	)
}
