package workload

// Availability is the metric that every workload has of the launches of a case
// together. No single launch has a value of it, so it stands in no Kind's Metrics:
// nothing can be computed with it, and it is compared with numbers only.
var Availability = Metric{
	Name: "availability", Better: Higher, MayBeZero: true,
	Doc: "launches that succeeded, divided by launches that were made, those that were made again included: a launch counts as failed whatever ended it. The interval is the exact one of a share (Clopper and Pearson, Biometrika 26, 1934), which is wide: without any failure 38 launches show 0.9, 77 show 0.95 and 390 show 0.99",
}

// OfCase says whether a metric is one of all launches of a case together.
func OfCase(metric string) bool { return metric == Availability.Name }
