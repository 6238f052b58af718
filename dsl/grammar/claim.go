package grammar

// Claim are the keys of what a document says.
var Claim = []Key{
	key("run", "the run that it is about", scalar(String)).required(),
	key("metric", "the metric that it is about", scalar(String)).required(),
	key("value", "the published value, with its unit", scalar(Any)),
	key("gain", "the published gain instead of a value: positive if the variant is better", scalar(Percent)).
		within(-1, 100),
	key("variant", "of its cases, those of this variant; required with gain", scalar(String)),
	key("against", "of a gain: the variant that it is over", scalar(String)).or("baseline of variants"),
	key("where", "condition on options and axes that its cases satisfy", scalar(Condition)).or("all cases"),
	key("requires", "conditions on options, axes, nodes and env.NAME that the document measured under. "+
		"A case that does not meet them is marked not comparable, with what differs",
		list(scalar(Condition))),
	key("tolerance", "how far a measured value may be from the published one and agree with it; of a gain, in points",
		scalar(Percent)).or("10%").within(0, 1),
	key("source", "the document that says so", scalar(String)).required(),
	key("date", "the day of the document", scalar(Date)),
	key("configuration", "what it was measured on: hosts, versions, settings", scalar(String)),
	key("status", "what the document says of the value, as recommended or known limitation", scalar(String)),
	key("plausible",
		"the most that the path can carry. A larger value is marked implausible; without it, that of the site's links",
		scalar(Any)),
}
