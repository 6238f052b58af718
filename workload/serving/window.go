package serving

import (
	"fmt"
	"slices"

	"weir/results"
	"weir/serving/summary"
	"weir/workload"
)

// rates are the metrics that are of a window.
var rates = []string{
	"concurrency.effective", "request_rate", "output_throughput", "output_throughput.per_gpu", "total_throughput",
	"goodput", "goodput.tokens",
}

// redefined are the rates of launches of versions that took the steady part of few waves.
func redefined(l *results.Launch) []string {
	if l.RateWindow == "" {
		return rates
	}
	return nil
}

// doubtful says of a rate of a closed load that it has too few waves for a steady part.
func doubtful(v workload.Values, metric string) string {
	s, err := Decode(v)
	if err != nil || !slices.Contains(rates, metric) || s.Window != string(summary.Steady) || s.Concurrency == 0 ||
		s.Requests == 0 ||
		s.Searching() != nil ||
		s.Requests >= summary.EnoughWaves*s.Concurrency {
		return ""
	}
	return fmt.Sprintf(
		"it is of the whole load, from the first request to the last token, with its start and its end: "+
			"%d requests with concurrency %d are fewer than %d waves, too few for a steady part (requests: %d has one, "+
			"window: whole says that the whole is meant)",
		s.Requests,
		s.Concurrency,
		summary.EnoughWaves,
		summary.EnoughWaves*s.Concurrency,
	)
}
