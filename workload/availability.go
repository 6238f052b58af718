package workload

// Availability is the metric of all launches of a case together, for every workload. A single launch has no value of
// it, so no Kind has it in Metrics, expressions cannot use it, and assertions compare it with numbers only.
var Availability = Metric{
	Name: "availability", Better: Higher, MayBeZero: true,
	Doc: "successful launches divided by all launches, repeated ones included; a launch fails for whatever reason it ends early. The interval is the exact one of a share (Clopper and Pearson, Biometrika 26, 1934), which is wide: without any failure 38 launches show 0.9, 77 show 0.95 and 390 show 0.99",
}

// OfCase reports whether a metric is one of all launches of a case together.
func OfCase(metric string) bool { return metric == Availability.Name }
