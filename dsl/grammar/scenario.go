package grammar

// The limits of a place, so that no sum of them overflows.
const (
	maxNodes   = 100_000
	maxPerNode = 1024
)

// VariableTypes are the types that a variable may have.
var VariableTypes = []string{"string", "number", "bool", "list", "size", "rate", "bandwidth", "time", "percent"}

var tags = key("tags",
	"names by which --only tag:NAME and --skip tag:NAME select; a run has those of its file, too. Not part of digests",
	list(scalar(String)))

// Scenario are the keys of a scenario.
var Scenario = []Key{
	key("scenario", "the scenario's name; it is part of case keys and file names", scalar(String)).required(),
	key("description", "what the scenario is for, in a sentence", scalar(String)),
	tags,
	key("include", "other scenario files with runs to add to this one", scalar(File), section(Include...),
		list(scalar(File), section(Include...))),
	key("variables", "values that may be set from outside, used as ${var.NAME}",
		Form{Shape: Named, Keys: Variable}).named("variable"),
	key("cluster", "the nodes that the scenario requires", section(Cluster...)),
	key("defaults", "settings of every run that does not set its own", section(Defaults...)),
	key(
		"references",
		"tables of expected values by axes, for reference.METRIC; a row's noise says how its metrics vary. A file with environment: FINGERPRINT holds in that environment only",
		scalar(File),
		mapOf("runs", list(mapOf("axes and metrics", scalar(Any),
			mapOf("noise", scalar(Any), mapOf("of metrics", scalar(Any)))))),
	).written("file, or RUN: [{AXIS: VALUE, METRIC: VALUE, noise: {launch: 2%}}]"),
	key("baseline", "result document for baseline.METRIC; --baseline overrides it", scalar(File),
		section(Baseline...)),
	key("inconclusive",
		"verdict of gates that stay inconclusive and do not set on_inconclusive; without it, exit code 3. --inconclusive and --inconclusive-streak override it",
		scalar(String, "fail", "warn", "pass"), section(Inconclusive...)).
		written("fail, warn or pass, or {as: VERDICT, streak: COUNT}"),
	key("checks", "commands that must succeed on every node, and properties of the cluster and of GPUs, before anything runs",
		Form{Shape: Named, Keys: Check}).named("check"),
	key("artifacts", "files and command outputs to keep from every node, even if the session fails",
		Form{Shape: Named, Keys: Artifact}).named("artifact"),
	key("variants",
		"the values of axis variant, by name: each may set vars, env, options and services of runs that sweep it, and values for ${variant.NAME}. baseline names the variant that gain() compares with; of a list, the first that a run sweeps",
		mapOf("variants", scalar(String), list(scalar(String)), variantRow)).
		written("NAME: {VALUE: any, env: {…}, options: {…}, services: {…}, note: string}, and baseline: NAME"),
	key("services", "programs that run during the measurement; started when needed, stopped with the session",
		Form{Shape: Named, Keys: Service}).named("service"),
	key("claims",
		"what documents say of metrics of the runs; reports set it beside what was found. No verdict rests on it",
		list(section(Claim...))),
	key("setup", "commands before everything, or before each run or launch", commands...),
	key("teardown", "commands after everything, or after each run or launch; they always run", commands...),
	key("runs", "the measurements, each a workload over a sweep; optional in a file that includes others",
		Form{Shape: Named, Keys: Run}).named("run"),
}

// Baseline are the keys of a baseline.
var Baseline = []Key{
	key("file", "the result document, or its session's directory", scalar(File)).required(),
	key("missing",
		"the verdict of an assertion if the baseline file, or the case in it, does not exist; skip also if it is of another environment",
		scalar(String, "error", "skip")).or("error"),
}

// Inconclusive are the keys of the verdict of gates that stay open.
var Inconclusive = []Key{
	key("as", "the verdict to use instead of inconclusive", scalar(String, "fail", "warn", "pass")),
	key("streak",
		"the number of consecutive inconclusive sessions after which a gate fails; weir run finds them in the history and beside its session directory",
		scalar(Count)).or("0: never").
		within(2, 1000),
}

// Include are the keys of an included file.
var Include = []Key{
	key("file", "the scenario file to include", scalar(File)).required(),
	key("as", "prefix of its runs' names, as PREFIX.RUN", scalar(String)),
	key("runs", "the runs to include, with everything they need; by default all", list(scalar(String))),
	key("variables", "values for its variables", mapOf("variables", scalar(Any), list(scalar(Any)))),
}

// Variable are the keys of a variable.
var Variable = []Key{
	key("type", "its type", scalar(String, VariableTypes...)).or("string"),
	key("default", "its value unless --var or --var-file gives one; without a default, one of them must", scalar(Any),
		list(scalar(Any))),
	key("description", "what it means", scalar(String)),
	key("validation", "conditions that its value must satisfy", section(Validation...), list(section(Validation...))),
}

// Validation are the keys of a condition on a variable.
var Validation = []Key{
	key("condition", "an expression over var.NAME that must be true", scalar(Expression)).required(),
	key("message", "the error message if it is false", scalar(String)),
}

// Cluster are the keys of the requirements.
var Cluster = []Key{
	key("nodes", "how many nodes", scalar(Count)).or("1").within(1, maxNodes),
	key("distinct_hosts", "whether they must be different hosts", scalar(Bool)).or("false"),
	key("gpus_per_node", "how many GPUs each must have; more if a run needs more of a node",
		scalar(Count)).or("0").within(0, maxPerNode),
	key("nics_per_node", "how many network devices each must have, or how many of a kernel driver",
		scalar(Count), section(NICsPerNode...)).or("0").within(0, maxPerNode).
		written("NUMBER, or {count: NUMBER, driver: NAME}"),
	key("huge_pages", "free huge pages that each must have in bytes, by the size of a page",
		mapOf("page sizes", scalar(String))).written("{2MiB: 2GiB}"),
	key("locked_memory", "how much memory a process of each must be able to lock, a size or unlimited",
		scalar(String)),
	key("labels", "labels that each must have, as set by --label NAME=VALUE of its agent", labels...),
	key("exclusive", "whether no other session may use the nodes at the same time", scalar(Bool)).or("false"),
}

// NICsPerNode are the keys of the network devices of a node.
var NICsPerNode = []Key{
	key("count", "how many", scalar(Count)).required().within(0, maxPerNode),
	key("driver", "their kernel driver, as efa or mlx5_core", scalar(String)).or("any"),
}

// Place are the keys of the placement of a run's ranks.
var Place = []Key{
	key("nodes",
		"over how many nodes its ranks are spread evenly; at most cluster.nodes, if set",
		scalar(Count)).or("those of the cluster").within(1, maxNodes),
	key("ranks_per_node", "how many of its ranks each node has; their number must be a multiple of it",
		scalar(Count)).within(1, maxNodes),
	key("distinct_hosts", "whether the nodes must be different hosts", scalar(Bool)).or("that of the cluster"),
	key("labels", "labels that each node must have besides those of the cluster", labels...),
	key("gpus_per_rank", "GPUs reserved for each rank, near its processors", scalar(Count)).or("0: it sees all").
		within(0, maxPerNode),
	key("nics_per_rank", "network devices reserved for each rank, near its GPUs",
		scalar(Count)).or("0: it sees all").within(0, maxPerNode),
	key("cpus_per_rank", "processors to which each rank is bound, near its GPUs; at least one for each thread",
		scalar(Count)).or("0: no bound").within(0, 1<<16),
}

// OwnPlace are the keys of the resources reserved for a service.
var OwnPlace = []Key{
	key("gpus_per_rank", "GPUs reserved for it", scalar(Count)).or("0: it sees all"),
	key("nics_per_rank", "network devices reserved for it", scalar(Count)).or("0: it sees all"),
	key("cpus_per_rank", "processors reserved for it",
		scalar(Count)).or("0: no bound"),
	key("numa", "number of the NUMA node to which it is bound", scalar(Count)).or("any"),
}

// optionValue are the forms of an option: a matrix is a list of rows, a sequence is a list of patterns,
// and a traffic model or the roles of programs are mappings.
var optionValue = []Form{
	scalar(Any),
	list(list(scalar(Any)), mapOf("keys of a pattern", scalar(Any), list(scalar(Any), list(scalar(Any))),
		mapOf("names", scalar(Any)))),
	mapOf("keys", scalar(Any), list(scalar(Any)),
		mapOf("keys of a part", scalar(Any), list(scalar(Any)), mapOf("names", scalar(Any), list(scalar(Any))))),
}

// variantRow is the form of a variant: its own values, and vars, env, options, settings of services
// and note.
var variantRow = mapOf("names", scalar(Any), list(scalar(Any)),
	mapOf("names", scalar(Any), mapOf("names", scalar(Any), list(scalar(Any)),
		mapOf("names", scalar(Any), list(scalar(Any)), mapOf("names", scalar(Any), list(scalar(Any)))))))

// Service are the keys of a service: those of a role of workload command, and more.
var Service = []Key{
	key("command", "the program and its arguments; no shell is used", list(scalar(String))),
	key("kubernetes", "Kubernetes objects that make up the service, applied with the user's kubectl",
		section(InCluster...)),
	key("helm", "the release of a chart as the service, installed with the user's helm", section(Helm...)),
	key("tunnel", "a port-forward, as in kubernetes", section(Tunnel...)),
	key("node", "the node of the session on which it runs, counted from 0", scalar(Count)).or("0"),
	key("env", "environment variables of its processes", mapOf("env", scalar(Any))),
	key("place", "resources of its node reserved for it", section(OwnPlace...)),
	key("after", "services that must be ready before it starts, besides those that its texts name", scalar(String),
		list(scalar(String))),
	key("ready", "the conditions of readiness; by default it is ready once started", section(Ready...)),
	key("url", "its address, for ${service.NAME.url}", scalar(String)),
	key("fresh",
		"when it is restarted: never in a session, for each run, for each value of axis variant, or for each launch",
		scalar(String, "session", "run", "variant", "launch")).or("session"),
	key("stop", "how it is stopped", section(Stop...)),
	key("metrics", "metrics of the run, measured at the service in each launch that uses it",
		mapOf("metrics", section(Observe...))),
	key("proof", "conditions on the service in each launch; otherwise the launch is an error", section(Proof...)),
}

// Observe are the keys of a metric that is measured at a service.
var Observe = []Key{
	key("log",
		"a regular expression for lines printed during the launch. The metric is the group named value, or else the first group, of the last matching line",
		scalar(String)),
	key("count", "whether the metric is the number of matching lines", scalar(Bool)).or("false"),
	key("first", "whether the metric is the time of the first matching line, in seconds from the start of the launch",
		scalar(Bool)).or("false"),
	key("last", "whether the metric is the time of the last matching line", scalar(Bool)).or("false"),
	key("prometheus",
		"a metric at /metrics below its url, as 'a_total{path=\"/x\"}'; series with these labels are added. A counter gives its increase during the launch, a gauge its value at the end",
		scalar(String)),
	key("difference", "whether a Prometheus metric without a type is a counter, regardless of its name",
		scalar(Bool)).or("false"),
	key("gpu", "what is sampled of the GPUs of its node. memory: the most bytes in use of one of them during the launch",
		scalar(String, "memory")),
	key("opens",
		"an absolute path with * ? and [ ]. The metric is the number of such files that its processes have open during the launch",
		scalar(String)),
	key("unit", "its unit, as s, MiB or 1/s", scalar(String)).or("none: it is a count or a ratio"),
	key("better", "the better direction", scalar(String, "higher", "lower", "none")).required(),
	key("doc", "what exactly is counted", scalar(String)),
}

// Proof are the keys of the conditions on a service.
var Proof = []Key{
	key("log", "a regular expression that a line of its log must match", scalar(String)),
	key("file",
		"the path of a file on its node that must exist after the launch, written since the service started",
		scalar(String)),
	key("pod", "a regular expression for the name of the pod that printed the line, in Kubernetes",
		scalar(String)),
}

// InCluster are the keys of a service in a Kubernetes cluster.
var InCluster = []Key{
	key("apply", "manifests: files, or their text after |", scalar(File), list(scalar(File))),
	key("patch",
		"changes before applying: image, env and args of containers, or strategic merge patches as files or text",
		section(ContainerChange...), scalar(File), list(scalar(File))),
	key("wait",
		"conditions or fields of objects, as Deployment/NAME: Available or StatefulSet/NAME: status.readyReplicas=2. within: 10m limits the time for all",
		mapOf("objects", scalar(String))),
	key("tunnel", "a port-forward that weir keeps open, for ${service.NAME.url}", section(Tunnel...)),
	key("keep", "whether the objects remain when the service ends", scalar(Bool)).or("false"),
	key("context", "the kubectl context", scalar(String)).or("the current one"),
	key("namespace", "the namespace of objects without one", scalar(String)).or("that of the context"),
}

// ContainerChange are the keys of a change to containers of manifests.
var ContainerChange = []Key{
	key("image", "the image of the container", scalar(String)),
	key("env", "environment variables to add or replace", mapOf("env", scalar(Any))),
	key("args", "its arguments, replacing those of the manifest", list(scalar(Any))),
	key("containers", "the names of the containers; required for image and args if a pod has several",
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
	key("values", "values: files, or their text after |; later ones override earlier ones",
		scalar(File), list(scalar(File))),
}

// Ready are the conditions of a service's readiness. All that are given must hold.
var Ready = []Key{
	key("listens", "a port, ADDRESS:PORT or path of a Unix socket on which it listens", scalar(String)),
	key("http", "a URL, or a path below url, that answers GET with status 200 to 299", scalar(String)),
	key("contains", "a text in the response to http", scalar(String)),
	key("log", "a regular expression that a line of its output must match", scalar(String)),
	key("file", "a path that must exist", scalar(String)),
	key("etcd", "a key that must exist in etcd", scalar(String)),
	key("command", "a command that must succeed", list(scalar(String))),
	key("within", "the time limit", scalar(Time)).or("10m"),
}

// Stop are the keys of stopping a service.
var Stop = []Key{
	key("signal", "the signal", scalar(String, "TERM", "INT", "QUIT", "HUP")).or("TERM"),
	key("within", "the time after which it is killed", scalar(Time)).or("5s"),
}

// Defaults are the keys of the defaults. All but options may also stand in a run.
var Defaults = []Key{
	launches, timeout, retry, env,
	key("options", "option defaults by workload", mapOf("workloads", mapOf("options", optionValue...))).
		written("WORKLOAD: {OPTION: VALUE}, values as in runs.options"),
}

// Check are the keys of a check. It has one of command, cluster and gpu.
var Check = []Key{
	key("on", "where it runs", scalar(String, "every node")).or("every node"),
	key("command", "the program and its arguments; no shell is used", list(scalar(String))),
	key("cluster", "what Kubernetes (kubectl) or Slurm (sinfo) must report, before agents start",
		section(ClusterCheck...)),
	key("gpu", "what NVIDIA's library must report of each GPU of every node", section(GPUCheck...)),
	key("launcher", "the launcher with which it is made; with another one it is left out",
		scalar(String, "kubernetes", "slurm", "ssh")).or("any"),
	key("when", "whether it is made", scalar(Bool)).or("true"),
	key("severity",
		"the effect of a failure: the session ends with an error, all cases are skipped, or only a warning",
		scalar(String, "error", "skip", "warn")).or("error"),
	key("remedy", "what to do about a failure, shown with it", scalar(String)),
}

// ClusterCheck are the keys of a check of the cluster: of Kubernetes or of Slurm.
var ClusterCheck = []Key{
	key("daemonset", "a DaemonSet of Kubernetes with all pods ready", scalar(String)),
	key("deployment", "a Deployment of Kubernetes with all replicas ready", scalar(String)),
	key("crd", "a custom resource definition of Kubernetes that must be established", scalar(String)),
	key("namespace", "the namespace of the DaemonSet or Deployment", scalar(String)).or("the launcher's"),
	key("ready", "whether pods must be ready; otherwise the object must only exist", scalar(Bool)).or("true"),
	key("labels", "labels of Kubernetes that a node must have", labels...),
	key("allocatable", "resources that a node must have for pods, as {vpc.amazonaws.com/efa: 4}", labels...),
	key("partition", "the partition of Slurm that must have the nodes", scalar(String)),
	key("features", "features of Slurm that a node must have", list(scalar(String))),
	key("gres", "generic resources of Slurm that a node must have, as {gpu: 8}", labels...),
	key("nodes", "how many nodes must be ready for work and have all of that",
		scalar(Count)).or("those of the cluster").within(1, maxNodes),
}

// GPUCheck are the keys of a check of GPUs.
var GPUCheck = []Key{
	key("processes", "how many processes may use the GPU at most", scalar(Count)).or("any number").within(0, 1<<16),
	key("memory_free", "how much of its memory must be free, a size", scalar(String)).or("0"),
}

// Artifact are the keys of a file or command output to keep. It has either command or file.
var Artifact = []Key{
	key("on", "the nodes to keep it from", scalar(String, "every node", "first node")).or("every node"),
	key("command", "the program and its arguments, to keep their output; no shell is used", list(scalar(String))),
	key("file", "the file on the node; patterns with * ? and [ ] keep each matching file", scalar(String)),
	key("at", "start: before anything runs; end: after all launches, before teardown",
		scalar(String, "start", "end")).or("end"),
	key("required", "whether the session fails without it", scalar(Bool)).or("false"),
	key("timeout", "the time limit for each node", scalar(Time)).or("30s"),
}

// Command are the keys of a setup or teardown command.
var Command = []Key{
	key("name", "its name in reports; by default its program", scalar(String)),
	argv,
	key("on", "where it runs", scalar(String, "every node", "first node")).or("every node"),
	key("scope",
		"whether it runs once for the session, for each run or for each launch; by default that of its section",
		scalar(String, "session", "run", "launch")),
	env,
	key("timeout", "the time limit", scalar(Time)).or("1m"),
}

// Run are the keys of a run.
var Run = []Key{
	key("workload", "what it does", scalar(String)).required(),
	key("stage",
		"heading for the run in plans and reports, in the order of first use; not part of case ids and digests",
		scalar(String)),
	tags,
	key("options", "settings of the workload", mapOf("options", optionValue...)).
		written("OPTION: VALUE; VALUE is a text, number, list or mapping, as weir docs workloads has it"),
	env,
	key("place", "where its ranks go", section(Place...)),
	key("metrics",
		"further metrics of a run of other programs; also allowed in options",
		mapOf("metrics", section(Metric...))),
	key("sweep", "the axes over which it is repeated", Form{Shape: Sweep, Keys: SweepKeys}),
	key("needs", "runs that must come first; axes of the same name are matched by value", scalar(String),
		section(Need...), list(scalar(String), section(Need...))),
	key("services", "services that must be ready before its launches",
		list(scalar(String))).or("all, if its options name one by ${service.NAME…}"),
	key("while", "the run during which this one is background load", scalar(String)),
	key("when",
		"condition that cases must satisfy, or they are skipped; it can use host.fabrics, host.backends (of NIXL), host.nodes, host.gpus and host.cpus",
		scalar(Condition)),
	launches, timeout, retry,
	key("may_fail",
		"known failures: errors of its cases and failed assertions count as expected (xfail). Programs that do not start are excused only by match",
		section(MayFail...)),
	key("setup", "commands before the run, or before each of its launches", commands...),
	key("teardown", "commands after the run, or after each of its launches; they always run", commands...),
	key("assert", "what must hold", list(scalar(Assertion), section(Assert...))),
}

// MayFail are the keys of known errors of a run.
var MayFail = []Key{
	key("reason", "why it fails", scalar(String)).required(),
	key("until", "the last day on which the failure is expected", scalar(Date)).required(),
	key("match", "regular expression for the expected errors, applied to their text and the last lines of the log",
		scalar(String)).or("any error after its programs started"),
	key("strict", "whether a case without errors and failed assertions is an unexpected success (xpass)",
		scalar(Bool)).or("false: it passes"),
}

// Metric are the keys of a metric that a run declares.
var Metric = []Key{
	key("unit", "its unit, as s, MiB or 1/s", scalar(String)).or("none: it is a count or a ratio"),
	key("better", "the better direction", scalar(String, "higher", "lower", "none")).required(),
	key("may_be_zero", "whether 0 and values below are valid measurements; then differences are judged instead of ratios",
		scalar(Bool)).or("false"),
	key("doc", "what exactly is counted, from when to when", scalar(String)),
}

// Need are the keys of the long form of a need.
var Need = []Key{
	key("run", "the run that comes first", scalar(String)).required(),
	key("on", "the outcome that lets this one run", scalar(String, "success", "failed", "always")).or("success"),
}

// SweepKeys are the keys of a sweep that are not axes.
var SweepKeys = []Key{
	key("product", "axes with every combination of values; the default for the axes of a mapping", Form{Shape: Sweep},
		list(Form{Shape: Sweep})),
	key("zip",
		"axes of equal length that advance together, as the columns of a table. An axis may repeat values, but rows must be distinct",
		Form{Shape: Sweep}, list(Form{Shape: Sweep})),
	key("concat", "sweeps over the same axes, one after the other", list(Form{Shape: Sweep})),
	key("exclude", "points to leave out", list(section(Exclude...))),
	key("include", "points to add", list(mapOf("axes", scalar(Any)))),
	key("order",
		"order of launches: as given, shuffled by a seed, or A B B A over an axis. Runs that an assertion compares alternate A B B A unless one needs the other",
		scalar(String, "given", "random", "interleave"), section(Order...)).or("given"),
	key("max_cases", "the maximum number of points", scalar(Count)).or("10000"),
}

// Exclude are the keys of an exclusion.
var Exclude = []Key{
	key("when", "condition on a point's options and axes", scalar(Condition)).required(),
	key("reason", "the reason, for plans and reports", scalar(String)),
}

// Order are the keys of the long form of order.
var Order = []Key{
	key("by", "the kind of order", scalar(String, "given", "random", "interleave")).required(),
	key("axis", "of interleave: the axis with alternating values", scalar(String)),
	key("seed", "of random: the seed", scalar(Count)).or("1").within(0, 1<<53),
}

// Assert are the keys of the long form of an assertion.
var Assert = []Key{
	key("that", "the assertion", scalar(Assertion)).required(),
	key("name", "its name in reports; by default its text", scalar(String)),
	key("when", "whether it is asserted, as ${var.published}", scalar(Bool)).or("true"),
	key("severity", "whether a failure sets the exit code, warns, or is only shown",
		scalar(String, "gate", "warn", "info")).or("gate"),
	key("halo", "margin beyond the bounds, as a percentage of them, within which a failure is only a warning",
		scalar(Percent)).within(0, 1),
	key("multiple", "holm: the assertions for all cases share one error rate (Holm-Bonferroni)",
		scalar(String, "none", "holm")).or("none"),
	key("decide", "settings of the statistical decision", section(Decide...)),
	key("xfail", "that it is known to fail", section(XFail...)),
}

// Decide are the keys of the statistical decision.
var Decide = []Key{
	key("confidence", "the confidence level of the interval", scalar(Percent)).or("96%").within(0.5, 1),
	key("on_inconclusive", "the verdict if it is still open after the last launch",
		scalar(String, "inconclusive", "fail", "warn", "pass")).or("inconclusive"),
}

// XFail are the keys of an expected failure.
var XFail = []Key{
	key("reason", "why it fails", scalar(String)).required(),
	key("until", "the last day on which the failure is expected", scalar(Date)).required(),
	key("ceiling", "how far beyond the bound is accepted, in percent of the bound; a certain miss beyond it fails",
		scalar(Percent)).or("none").within(0, 10),
	key("link", "where the failure is tracked, such as the address of an issue", scalar(String)),
}

// Timeouts are the phases that can have deadlines of their own.
var Timeouts = []Key{
	key("launch", "one launch of one case, from its first transfer to its result", scalar(Time)).or("5m"),
	key("ready", "starting ranks, opening the fabric and allocating memory",
		scalar(Time)).or("30s, and time to fill the memory"),
	key("connect", "exchanging addresses and connecting", scalar(Time)).or("30s"),
	key("run", "warm-up and measurement of a case", scalar(Time)),
	key("verify", "checking the transferred data", scalar(Time)),
	key("teardown", "closing", scalar(Time)).or("5s"),
}

// MostRetries bounds the further attempts of one launch.
const MostRetries = 100

// Retry are the keys of the long form of retry.
var Retry = []Key{
	key("times", "the maximum number of further attempts for each launch",
		scalar(Count)).required().within(0, MostRetries),
	key("on", "the kinds of failures to retry; a failed assertion is never retried",
		list(scalar(String, "setup", "ready",
			"connect", "crash", "timeout", "lost", "fault"))).or("[setup, ready, connect, crash, timeout, lost]"),
	key("wait", "before each attempt", scalar(Time)).or("0s").orZero(),
}

var (
	launches = key("launches", "the numbers of launches after which the gate looks; a plain number means exactly this many",
		scalar(Count), list(scalar(Count))).or("[3, 5, 8, 12]")
	timeout = key("timeout", "the time limit of one launch of one case, or of its phases", scalar(Time),
		section(Timeouts...)).or("5m")
	retry = key("retry", "how often a launch is repeated after a failure of the infrastructure", scalar(Count),
		section(Retry...)).or("0")
	env = key("env", "environment variables of its processes; secret(\"NAME\") reads the value where they start",
		mapOf("env", scalar(Any)))
	argv     = key("command", "the program and its arguments; no shell is used", list(scalar(String))).required()
	labels   = []Form{mapOf("labels", scalar(String))}
	commands = []Form{list(list(scalar(String)), section(Command...))}
)
