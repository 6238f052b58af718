// Package metrics has tests only: they follow the metrics that a scenario declares from its
// text to the reports.
package metrics
