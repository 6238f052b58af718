package main

import (
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/weir-bench/weir/results"
)

// outcome is what a session measured and found of a case.
type outcome struct {
	Key      string
	Launches []*results.Launch
	Metrics  results.Named[results.MetricEstimate]
	Verdicts []results.Verdict
}

// sameMeasurements holds two sessions to equal numbers and verdicts, case by case:
// same DIR DIR. Only the time at which launches were made may differ.
func sameMeasurements(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: same DIR DIR")
	}
	var both [2][]outcome
	for i, dir := range args {
		doc, err := results.Read(ts.MkAbs(dir))
		ts.Check(err)
		for _, c := range doc.Cases {
			o := outcome{Key: c.Key, Launches: c.Launches, Metrics: c.Metrics}
			for _, l := range c.Launches {
				l.Started = time.Time{}
			}
			for _, a := range c.Assertions {
				o.Verdicts = append(o.Verdicts, a.Verdict)
			}
			both[i] = append(both[i], o)
		}
	}
	if diff := cmp.Diff(both[0], both[1], cmp.AllowUnexported(results.Named[float64]{},
		results.Named[results.MetricEstimate]{})); diff != "" {
		ts.Fatalf("%s and %s differ: %s", args[0], args[1], diff)
	}
}
