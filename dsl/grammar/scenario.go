package grammar

// VariableTypes are the types that a variable may have.
var VariableTypes = []string{"string", "number", "bool", "list", "size", "rate", "bandwidth", "time", "percent"}

// Scenario are the keys of a scenario.
var Scenario = []Key{
	key("scenario", "the scenario's name, which becomes part of keys and file names", scalar(String)).required(),
	key("description", "what the scenario is for, in a sentence", scalar(String)),
	key("include", "other scenario files whose runs this one takes in", scalar(File), section(Include...),
		list(scalar(File), section(Include...))),
	key("variables", "values that may be set from outside, used as ${var.NAME}",
		Form{Shape: Named, Keys: Variable}).named("variable"),
	key("cluster", "what the scenario needs to run on", section(Cluster...)),
	key("defaults", "what every run has unless it says otherwise", section(Defaults...)),
	key(
		"references",
		"tables of expected values, indexed by axes, used as reference.METRIC; noise: {launch: 2%, session: 1%} in a row says how its metrics vary; a file with environment: FINGERPRINT promises nothing elsewhere",
		scalar(
			File,
		),
		mapOf(
			"runs",
			list(mapOf("axes and metrics", scalar(Any), mapOf("noise", scalar(Any), mapOf("of metrics", scalar(Any))))),
		),
	).written("file, or RUN: [{AXIS: VALUE, METRIC: VALUE, noise: {launch: 2%}}]"),
	key("baseline", "result document that baseline.METRIC is taken from; --baseline wins", scalar(File),
		section(Baseline...)),
	key("inconclusive", "what a gate counts as that the launches of a session leave open, unless it says so itself; --inconclusive and --inconclusive-streak win; without it such a session ends with exit code 3",
		scalar(String, "fail", "warn", "pass"), section(Inconclusive...)).
		written("fail, warn or pass, or {as: VERDICT, streak: COUNT}"),
	key("checks", "commands that must succeed on every node before anything runs",
		Form{Shape: Named, Keys: Check}).named("check"),
	key("artifacts", "files and outputs of commands that are kept of every node, whatever becomes of the session",
		Form{Shape: Named, Keys: Artifact}).named("artifact"),
	key(
		"variants",
		"rows of a table that axis variant goes through, by name: values for ${variant.NAME}; vars, values of declared variables, for ${var.NAME} in options, env and services of the runs that sweep it; env and options of these runs, services with settings that take the place of theirs, a note; and baseline, the name of the one that gain() compares with",
		mapOf("variants", scalar(String), variantRow),
	).written("NAME: {VALUE: any, env: {…}, options: {…}, services: {…}, note: string}, and baseline: NAME"),
	key("services", "programs that must run while runs measure: started when they are needed, ended with the session",
		Form{Shape: Named, Keys: Service}).named("service"),
	key("setup", "commands before everything, or before each run or launch", commands...),
	key("teardown", "commands after everything, or after each run or launch; they always run", commands...),
	key("runs", "what is measured: a workload over a sweep each; a file that includes others may have none",
		Form{Shape: Named, Keys: Run}).named("run"),
}

// Baseline are the keys of a baseline.
var Baseline = []Key{
	key("file", "the result document, or its session's directory", scalar(File)).required(),
	key(
		"missing",
		"what becomes of an assertion whose baseline is not there, neither the file nor the case in it: an error, or it is skipped with the reason",
		scalar(String, "error", "skip"),
	).or("error"),
}

// Inconclusive are the keys of what becomes of open gates.
var Inconclusive = []Key{
	key("as", "the verdict that stands in for inconclusive", scalar(String, "fail", "warn", "pass")),
	key("streak", "the number of inconclusive sessions in a row with which a gate fails; weir run looks for them in the history and beside its session",
		scalar(Count)).or("0: never"),
}

// Include are the keys of an included file.
var Include = []Key{
	key("file", "the scenario file to take in", scalar(File)).required(),
	key("as", "prefix of its runs' names, as PREFIX.RUN", scalar(String)),
	key("runs", "the runs to take, with what they need; without it all", list(scalar(String))),
	key("variables", "values for its variables", mapOf("variables", scalar(Any), list(scalar(Any)))),
}

// Variable are the keys of a variable.
var Variable = []Key{
	key("type", "how its value is read", scalar(String, VariableTypes...)).or("string"),
	key("default", "its value unless one is given from outside; without it one must be given", scalar(Any),
		list(scalar(Any))),
	key("description", "what it means", scalar(String)),
	key("validation", "what must hold of its value", section(Validation...), list(section(Validation...))),
}

// Validation are the keys of a condition on a variable.
var Validation = []Key{
	key("condition", "an expression over var.NAME that must be true", scalar(Expression)).required(),
	key("message", "what to tell who gave a value that does not fit", scalar(String)),
}

// Cluster are the keys of the requirements.
var Cluster = []Key{
	key("nodes", "how many nodes", scalar(Count)).or("1"),
	key("distinct_hosts", "whether they must be different hosts", scalar(Bool)).or("false"),
	key("gpus_per_node", "how many GPUs each must have; where a run needs more of a node, that many",
		scalar(Count)).or("0"),
	key("labels", "what each must carry, as its agent was told by --label NAME=VALUE", labels...),
	key("exclusive", "whether no other session may use the nodes at the same time", scalar(Bool)).or("false"),
}

// Place are the keys of where the ranks of a run go.
var Place = []Key{
	key(
		"nodes",
		"over how many nodes its ranks are spread, as many on each; at most those of the cluster, if that says how many",
		scalar(Count),
	).or("those of the cluster"),
	key("ranks_per_node", "how many of its ranks each node has; their number must be a multiple of it", scalar(Count)),
	key("distinct_hosts", "whether the nodes must be different hosts", scalar(Bool)).or("that of the cluster"),
	key("labels", "what each node must carry besides the labels of the cluster", labels...),
	key("gpus_per_rank", "GPUs that each rank has to itself, near its processors", scalar(Count)).or("0: it sees all"),
	key("nics_per_rank", "network devices that each rank has to itself, near its GPUs",
		scalar(Count)).or("0: it sees all"),
	key("cpus_per_rank", "processors that each rank is kept on, near its GPUs; at least one for each of its threads",
		scalar(Count)).or("0: no bound"),
}

// OwnPlace are the keys of what a service has to itself.
var OwnPlace = []Key{
	key("gpus_per_rank", "GPUs that it has to itself", scalar(Count)).or("0: it sees all"),
	key("nics_per_rank", "network devices that it has to itself", scalar(Count)).or("0: it sees all"),
	key("cpus_per_rank", "processors that it is kept on, and nothing else of the session is",
		scalar(Count)).or("0: no bound"),
	key("numa", "number of the NUMA node whose processors it is kept on", scalar(Count)).or("any"),
}

// optionValue is how an option may be written: a matrix is a list of rows, a sequence
// a list of patterns, and a model with its requests is a mapping, as are roles of programs.
var optionValue = []Form{
	scalar(Any),
	list(list(scalar(Any)), mapOf("keys of a pattern", scalar(Any), list(scalar(Any), list(scalar(Any))),
		mapOf("names", scalar(Any)))),
	mapOf("keys", scalar(Any), list(scalar(Any)),
		mapOf("keys of a part", scalar(Any), list(scalar(Any)), mapOf("names", scalar(Any), list(scalar(Any))))),
}

// variantRow is how a variant is written: its own values, and vars, env, options, settings of services
// and note.
var variantRow = mapOf("names", scalar(Any), list(scalar(Any)),
	mapOf("names", scalar(Any), mapOf("names", scalar(Any), list(scalar(Any)),
		mapOf("names", scalar(Any), list(scalar(Any)), mapOf("names", scalar(Any), list(scalar(Any)))))))

// Service are the keys of a service: a role of workload command, with further keys.
var Service = []Key{
	key("command", "the program and its arguments; no shell reads it", list(scalar(String))),
	key("kubernetes", "objects of a Kubernetes cluster that are the service, by the user's kubectl",
		section(InCluster...)),
	key("helm", "a release of a chart that is the service, by the user's helm", section(Helm...)),
	key("tunnel", "the same as in kubernetes", section(Tunnel...)),
	key("node", "the node of the session that it is on, counted from 0", scalar(Count)).or("0"),
	key("env", "environment variables of its processes", mapOf("env", scalar(Any))),
	key("place", "what of its node it has to itself", section(OwnPlace...)),
	key("after", "services that must be ready before it starts; those that its texts name are anyway", scalar(String),
		list(scalar(String))),
	key("ready", "when it is ready; without it, when it has started", section(Ready...)),
	key("url", "where it answers, for ${service.NAME.url}", scalar(String)),
	key(
		"fresh",
		"how often it is started anew: never, for each run, for each value of axis variant, or for each launch",
		scalar(String, "session", "run", "variant", "launch"),
	).or("session"),
	key("stop", "how it is told to end", section(Stop...)),
	key("metrics", "what is read of it in each launch that uses it, as metrics of the run",
		mapOf("metrics", section(Observe...))),
	key("proof", "what must be true of it in each launch, or the launch is an error", section(Proof...)),
}

// Observe are the keys of a metric that is read of a service.
var Observe = []Key{
	key(
		"log",
		"a regular expression of lines that it prints while the launch runs; the group value, or the first, is the number of the last such line",
		scalar(String),
	),
	key("count", "whether the metric is how many lines match", scalar(Bool)).or("false"),
	key("first", "whether the metric is when the first line came that matches, in seconds since the launch began",
		scalar(Bool)).or("false"),
	key("last", "the same of the last line", scalar(Bool)).or("false"),
	key(
		"prometheus",
		"a metric at /metrics below its url, as a_total, a_seconds_sum or 'a_total{path=\"/x\"}': by how much a counter grew while the launch ran, or a gauge at its end; series that have the labels are added up",
		scalar(String),
	),
	key("difference", "whether a metric of prometheus without a type is a counter, whatever its name",
		scalar(Bool)).or("false"),
	key("unit", "its unit, as s, MiB or 1/s", scalar(String)).or("none: it is a count or a ratio"),
	key("better", "which way it is better", scalar(String, "higher", "lower", "none")).required(),
	key("doc", "what exactly is counted", scalar(String)),
}

// Proof are the keys of what must be true of a service.
var Proof = []Key{
	key("log", "a regular expression that a line of its log matches", scalar(String)),
	key("file", "the path of a file on its node that is there after the launch, and was written since the service started",
		scalar(String)),
	key("pod", "a regular expression that the name of the line's pod matches, of a service in a cluster",
		scalar(String)),
}

// InCluster are the keys of a service in a Kubernetes cluster.
var InCluster = []Key{
	key("apply", "manifests: files, or their text behind |", scalar(File), list(scalar(File))),
	key(
		"patch",
		"changes before they are applied: image, env and args of containers, or strategic merge patches with kind and name as files or text",
		section(ContainerChange...),
		scalar(File),
		list(scalar(File)),
	),
	key(
		"wait",
		"what objects must come to, as Deployment/NAME: Available or StatefulSet/NAME: status.readyReplicas=2, and within: most time for all of them, 10m",
		mapOf("objects", scalar(String)),
	),
	key("tunnel", "a port-forward that weir keeps up, for ${service.NAME.url}", section(Tunnel...)),
	key("keep", "whether the objects stay when the service ends", scalar(Bool)).or("false"),
	key("context", "the context of kubectl's configuration", scalar(String)).or("the current one"),
	key("namespace", "the namespace of objects that name none", scalar(String)).or("that of the context"),
}

// ContainerChange are the keys of a change to containers of manifests.
var ContainerChange = []Key{
	key("image", "the image of the container", scalar(String)),
	key("env", "environment variables, beside or instead of those that it has", mapOf("env", scalar(Any))),
	key("args", "its arguments, instead of those that it has", list(scalar(Any))),
	key("containers", "the names of the containers; needed for image and args where a pod has several",
		list(scalar(String))).or("all"),
}

// Tunnel are the keys of a port-forward.
var Tunnel = []Key{
	key("service", "the Service, or KIND/NAME", scalar(String)).required(),
	key("port", "its port, by number or name", scalar(String)).required(),
}

// Helm are the keys of a release.
var Helm = []Key{
	key("chart", "a directory, an archive, or the name of a chart in a repository", scalar(File)).required(),
	key("version", "the version of the chart", scalar(String)).or("the newest"),
	key("release", "the name of the release", scalar(String)).or("that of the session with that of the service"),
	key("values", "values: files, or their text behind |; later ones win", scalar(File), list(scalar(File))),
}

// Ready are the keys of when a service is ready. All that are given must hold.
var Ready = []Key{
	key("listens", "a port, ADDRESS:PORT or the path of a Unix socket that it listens on", scalar(String)),
	key("http", "a URL, or a path below url, that answers GET with a status from 200 to 299", scalar(String)),
	key("contains", "a part of that answer", scalar(String)),
	key("log", "a regular expression that a line of its output matches", scalar(String)),
	key("file", "a path that exists", scalar(String)),
	key("etcd", "a key that exists in etcd", scalar(String)),
	key("command", "a command that succeeds", list(scalar(String))),
	key("within", "how long that may take", scalar(Time)).or("10m"),
}

// Stop are the keys of how a service is told to end.
var Stop = []Key{
	key("signal", "the signal", scalar(String, "TERM", "INT", "QUIT", "HUP")).or("TERM"),
	key("within", "until it is killed", scalar(Time)).or("5s"),
}

// Defaults are the keys of the defaults. All but options may also stand in a run.
var Defaults = []Key{
	launches, timeout, retry, env,
	key("options", "option defaults by workload", mapOf("workloads", mapOf("options", optionValue...))).
		written("WORKLOAD: {OPTION: VALUE}, values as in runs.options"),
}

// Check are the keys of a check.
var Check = []Key{
	key("on", "where it runs", scalar(String, "every node")).or("every node"),
	argv,
	key("severity", "what it means that it fails: the session ends with an error, all cases are skipped, or it is only told",
		scalar(String, "error", "skip", "warn")).or("error"),
	key("remedy", "what to do about it, told to who sees it fail", scalar(String)),
}

// Artifact are the keys of something that is kept of nodes. It has either command or file.
var Artifact = []Key{
	key("on", "of which nodes", scalar(String, "every node", "first node")).or("every node"),
	key("command", "the program, and its arguments, whose output is kept; no shell reads it", list(scalar(String))),
	key("file", "the file on the node that is kept; * ? and [ ] stand for several, each of which is", scalar(String)),
	key("at", "before anything runs, or after all launches and before teardown",
		scalar(String, "start", "end")).or("end"),
	key("required", "whether the session is an error without it", scalar(Bool)).or("false"),
	key("timeout", "how long a node may take", scalar(Time)).or("30s"),
}

// Command are the keys of a setup or teardown command.
var Command = []Key{
	key("name", "what to call it; by default its program", scalar(String)),
	argv,
	key("on", "where it runs", scalar(String, "every node", "first node")).or("every node"),
	key(
		"scope",
		"how often: once around the session, around each run, or around each launch; by default that of the place where it stands",
		scalar(String, "session", "run", "launch"),
	),
	env,
	key("timeout", "how long it may take", scalar(Time)).or("1m"),
}

// Run are the keys of a run.
var Run = []Key{
	key("workload", "what it does", scalar(String)).required(),
	key(
		"stage",
		"heading under which plan and reports show the run, in the order of first mention; ids and digests do not know it",
		scalar(String),
	),
	key("options", "settings of the workload", mapOf("options", optionValue...)).
		written("OPTION: VALUE; VALUE is a text, number, list or mapping, as weir docs workloads has it"),
	env,
	key("place", "where its ranks go", section(Place...)),
	key("metrics", "what the run measures beside its workload, of those that run other programs; it may stand in options too",
		mapOf("metrics", section(Metric...))),
	key("sweep", "the axes over which it is repeated", Form{Shape: Sweep, Keys: SweepKeys}),
	key("needs", "runs that must come first; axes of the same name are matched value by value", scalar(String),
		section(Need...), list(scalar(String), section(Need...))),
	key("services", "services that must be ready before its launches",
		list(scalar(String))).or("all, if its options name one by ${service.NAME…}"),
	key("while", "the run as whose background load this one runs", scalar(String)),
	key(
		"when",
		"condition without which a case is skipped; it may ask for host.fabrics, host.nodes, host.gpus and host.cpus",
		scalar(Condition),
	),
	launches, timeout, retry,
	key(
		"may_fail",
		"that errors of its cases and assertions that do not hold are known: they count as expected failures (xfail); what keeps its programs from starting is excused by match alone",
		section(MayFail...),
	),
	key("setup", "commands before the run, or before each of its launches", commands...),
	key("teardown", "commands after the run, or after each of its launches; they always run", commands...),
	key("assert", "what must hold", list(scalar(Assertion), section(Assert...))),
}

// MayFail are the keys of why a run may end in errors.
var MayFail = []Key{
	key("reason", "why it fails", scalar(String)).required(),
	key("until", "the last day on which that excuses it", scalar(Date)).required(),
	key("match", "regular expression of the errors that are excused, of their text and of the last lines of the log",
		scalar(String)).or("any error after its programs started"),
	key("strict", "whether a case without an error of which everything holds is an unexpected success (xpass)",
		scalar(Bool)).or("false: it passes"),
}

// Metric are the keys of a metric that a run declares.
var Metric = []Key{
	key("unit", "its unit, as s, MiB or 1/s", scalar(String)).or("none: it is a count or a ratio"),
	key("better", "which way it is better", scalar(String, "higher", "lower", "none")).required(),
	key("may_be_zero", "whether 0 is a measurement, so that differences are judged and no ratios",
		scalar(Bool)).or("false"),
	key("doc", "what exactly is counted, between which instants", scalar(String)),
}

// Need are the keys of the long form of a need.
var Need = []Key{
	key("run", "the run that comes first", scalar(String)).required(),
	key("on", "the outcome that lets this one run", scalar(String, "success", "failed", "always")).or("success"),
}

// SweepKeys are the keys of a sweep that are no axes.
var SweepKeys = []Key{
	key("product", "axes of which every combination runs, as axes of one mapping do anyway", Form{Shape: Sweep},
		list(Form{Shape: Sweep})),
	key(
		"zip",
		"axes that advance together and are equally long: the columns of a table of variants. An axis may repeat values, but no row of the table may occur twice",
		Form{Shape: Sweep},
		list(Form{Shape: Sweep}),
	),
	key("concat", "sweeps over the same axes, one after the other", list(Form{Shape: Sweep})),
	key("exclude", "points to leave out", list(section(Exclude...))),
	key("include", "points to add", list(mapOf("axes", scalar(Any)))),
	key(
		"order",
		"in which order launches come: as given, shuffled by a seed, or A B B A over an axis; runs that an assertion compares take turns A B B A unless one needs the other",
		scalar(String, "given", "random", "interleave"),
		section(Order...),
	).or("given"),
	key("max_cases", "how many points the sweep may have", scalar(Count)).or("10000"),
}

// Exclude are the keys of an exclusion.
var Exclude = []Key{
	key("when", "condition on a point's options and axes", scalar(Condition)).required(),
	key("reason", "why, for plan and reports", scalar(String)),
}

// Order are the keys of the long form of order.
var Order = []Key{
	key("by", "the kind of order", scalar(String, "given", "random", "interleave")).required(),
	key("axis", "of interleave: the axis whose values alternate", scalar(String)),
	key("seed", "of random: the seed", scalar(Count)).or("1"),
}

// Assert are the keys of the long form of an assertion.
var Assert = []Key{
	key("that", "the assertion", scalar(Assertion)).required(),
	key("name", "what reports call it; by default its text", scalar(String)),
	key("severity", "whether it decides the exit code, warns, or is only shown",
		scalar(String, "gate", "warn", "info")).or("gate"),
	key("halo", "share of the bounds by which the value may lie outside and only warn", scalar(Percent)),
	key("multiple", "holm: the assertions that it makes for several cases share one error budget",
		scalar(String, "none", "holm")).or("none"),
	key("decide", "how it is decided", section(Decide...)),
	key("xfail", "that it is known not to hold", section(XFail...)),
}

// Decide are the keys of how an assertion is decided.
var Decide = []Key{
	key("confidence", "of the interval", scalar(Percent)).or("96%"),
	key("on_inconclusive", "the verdict if the last look leaves it open",
		scalar(String, "inconclusive", "fail", "warn", "pass")).or("inconclusive"),
}

// XFail are the keys of an expected failure.
var XFail = []Key{
	key("reason", "why it does not hold", scalar(String)).required(),
	key("until", "the last day on which that excuses it", scalar(Date)).required(),
}

// Timeouts are the phases that may have a deadline of their own.
var Timeouts = []Key{
	key("launch", "one launch of one case, from its first transfer to its result", scalar(Time)).or("5m"),
	key("ready", "starting ranks, opening the fabric and making memory",
		scalar(Time)).or("30s, and time to fill the memory"),
	key("connect", "exchanging addresses and connecting", scalar(Time)).or("30s"),
	key("run", "warm-up and the timed part of a case", scalar(Time)),
	key("verify", "checking what was moved", scalar(Time)),
	key("teardown", "closing", scalar(Time)).or("5s"),
}

// Retry are the keys of the long form of retry.
var Retry = []Key{
	key("times", "at most so many further attempts for each launch", scalar(Count)).required(),
	key("on", "the kinds of failures that are retried; a missed target never is", list(scalar(String, "setup", "ready",
		"connect", "crash", "timeout", "lost", "fault"))).or("[setup, ready, connect, crash, timeout, lost]"),
	key("wait", "before each attempt", scalar(Time)).or("0s"),
}

var (
	launches = key("launches", "launches after which the gate looks; a plain number means exactly so many",
		scalar(Count), list(scalar(Count))).or("[3, 5, 8, 12]")
	timeout = key("timeout", "how long one launch of one case may take, or its phases", scalar(Time),
		section(Timeouts...)).or("5m")
	retry = key("retry", "how often a launch that failed for reasons of infrastructure is made again", scalar(Count),
		section(Retry...)).or("0")
	env = key("env", "environment variables of its processes; secret(\"NAME\") takes a value from where they start",
		mapOf("env", scalar(Any)))
	argv     = key("command", "the program and its arguments; no shell reads it", list(scalar(String))).required()
	labels   = []Form{mapOf("labels", scalar(String))}
	commands = []Form{list(list(scalar(String)), section(Command...))}
)
