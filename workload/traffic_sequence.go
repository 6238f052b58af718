package workload

import "weir/quantity"

// TrafficSequence plays many matrices one after the other, as NIXL's
// sequential-ct-perftest does.
var TrafficSequence = &Kind{
	Name: "traffic_sequence",
	Doc:  "traffic matrices one after the other: the ranks of each meet, sleep, and start together; and each again alone. Each pattern of the sequence is a case, and all of them run in one launch",
	Options: append([]Option{
		process("fabric", "the way to move bytes, as in workload traffic"),
		shared("provider", ""),
		shared("api", "what of UCX carries a write, as in workload transfer: rma or am; tag is refused, because its receives are posted ahead and of one size"),
		{Name: "op", Type: Enum, Default: "write", Values: []string{"write", "read"}, Item: MayItem,
			Doc: "write: the sender of a cell puts it into the receiver's memory; read: the receiver gets it from the sender's"},
		memoryKind("memory", "kind of memory of all ranks"),
		{Name: "patterns", Type: Patterns, Process: true,
			Doc: "the sequence: a list of patterns, each a mapping with matrix or matrix_file (as in workload traffic), and if it wants sleep_before_launch, sleep_after_launch (or the same with _sec, in seconds, as the published files have them), shards, op, and metadata, a mapping of what is known of it. Fields of metadata that all patterns have, each a single value, are names for where and exclude, and stand beside the axes in results"},
		{Name: "metadata_file", Type: File, Into: "patterns",
			Doc: "the sequence from a metadata.yaml of NIXL's sequential-ct-perftest or of weir matgen, relative to the file that names it; a directory means the one in it. It is read with the scenario, and what it says is part of the plan"},
		{Name: "generate", Type: Model, Into: "patterns",
			Doc: "the sequence from a model and its requests, without files: a mapping as {model: llama-405b, isl: 16000, requests: 3, prefill_nodes: 1, decode_nodes: 1, prefill_tp: 8, decode_tp: 8}. Its keys are the flags of `weir matgen`, and `weir docs generate` lists them"},
		{Name: "pattern", Type: Count, Default: int64(0), Min: 0, Max: mostPatterns, Item: OnlyItem,
			Doc: "the place of a case's pattern in the sequence, from 0"},
		{Name: "matrix", Type: Matrix, Item: OnlyItem,
			Doc: "the matrix of a case's pattern"},
		{Name: "sleep_before_launch", Type: Time, Default: quantity.Time(0), Min: 0, Max: maxSleep, Item: MayItem,
			Doc: "how long the ranks of a pattern sleep between their meeting and their common start, as if they computed; of the patterns that do not say it themselves"},
		{Name: "sleep_after_launch", Type: Time, Default: quantity.Time(0), Min: 0, Max: maxSleep, Item: MayItem,
			Doc: "how long they sleep after all of it has arrived"},
		{Name: "shards", Type: Count, Default: int64(1), Min: 1, Max: mostShards, Item: MayItem,
			Doc: "descriptors into which each cell is cut, all posted together; a cell has no more of them than bytes"},
		{Name: "metadata", Type: String, Default: "", Item: OnlyItem,
			Doc: "what is known of a case's pattern, as name=value with spaces between them"},
		ownCells(false),
		{Name: "ranks", Type: Count, Min: 2, Max: mostRanks, Process: true, RanksOf: "matrix",
			Doc: "processes taking part: those of the matrices, which all have the same"},
		{Name: "overlap", Type: Bool, Default: true, Process: true,
			Doc: "patterns that have no rank in common do not wait for each other, as in sequential-ct-perftest (where receivers do not count); false: each begins when the one before it has ended everywhere"},
		{Name: "time_scale", Type: Factor, Default: Scale(1), Process: true,
			Doc: "factor by which all sleeps are longer: 0.01 rehearses a long sequence. Results of another scale than 1 are of another load"},
		{Name: "iterations", Type: Count, Default: int64(3), Min: 1, Max: 4096, Process: true,
			Doc: "how often the whole sequence is played; before each time all ranks meet"},
		{Name: "warmup", Type: Count, Default: int64(1), Min: 0, Max: 1 << 20, Process: true,
			Doc: "how often it is played before, without sleeps; not counted anywhere"},
		{Name: "isolated_iterations", Type: Count, Default: int64(30), Min: 1, Max: 4096, Process: true,
			Doc: "how often each pattern is moved alone, in the same launch, before the sequence"},
		{Name: "isolated_warmup", Type: Count, Default: int64(10), Min: 0, Max: 1 << 20, Process: true,
			Doc: "how often each pattern is moved alone before that; not counted anywhere"},
		process("verify", "sample: of every pattern each cell is checked alone, and again after the last time that the sequence is played; full: also as often as there are isolated iterations in untimed passes with fresh contents"),
		shared("pages", ""),
		shared("alloc", ""),
		shared("numa", ""),
	}, nixlOptions...),
	Metrics: append([]Metric{
		{"latency", "s", Lower, "mean time of the pattern in the sequence: from the earliest start of a rank that moves cells of it to the latest end of one, on a common clock; a rank ends when all that it moves is delivered, its own cell included, if it has one"},
		{"latency.min", "s", Lower, "its shortest time in the sequence"},
		{"latency.p50", "s", Lower, "its median time in the sequence (nearest rank)"},
		{"latency.max", "s", Lower, "its longest time in the sequence"},
		{"isolated_latency", "s", Lower, "mean time of the same pattern alone, defined in the same way: the patterns are moved one at a time, in their order and without sleeps, all ranks meeting before each, so that what lies in caches is as old as in the sequence"},
		{"isolated_latency.min", "s", Lower, "its shortest time alone"},
		{"isolated_latency.p50", "s", Lower, "its median time alone (nearest rank)"},
		{"isolated_latency.max", "s", Lower, "its longest time alone"},
		{"slowdown", "", Lower, "latency divided by isolated_latency of the same launch: what the patterns around it, and whatever they leave behind in caches and queues, cost it"},
		{"bandwidth", "GB/s", Higher, "bytes of the cells between ranks divided by latency"},
		{"isolated_bandwidth", "GB/s", Higher, "bytes of the cells between ranks divided by isolated_latency"},
		{"bandwidth.per_sender", "GB/s", Higher, "in the sequence, mean over the ranks that initiate (senders for op write, receivers for op read) of the bytes that each moves divided by its own mean time"},
		{"bandwidth.min_sender", "GB/s", Higher, "the least of these"},
		{"skew", "s", Lower, "in the sequence, latest minus earliest start of the ranks that initiate, of the iteration where it is largest; between hosts as exact as their clocks could be compared"},
		{"skew.p50", "s", Lower, "the same of the median iteration; where it is over 100 µs and over half of latency.p50, the ranks have no cores to themselves and did not move together: that is said with each verdict, and none is a failure"},
		{"late", "s", Lower, "in the sequence, how long after the instant that its ranks agreed on the last of them started, of the iteration where it is longest: a rank that shares its core may miss the instant"},
		{"drift", "s", Lower, "mean distance of the pattern's start from the planned one, counted from the start of each iteration: the plan is that nothing but sleeps takes time, so the transfers before it are in it"},
		{"drift.max", "s", Lower, "the largest of these"},
	}, trafficMetrics("bytes", "bytes.own", "senders", "receivers", "bottleneck.bytes", "ceiling", "ceiling.best", "ceiling.bandwidth", "ceiling.memcpy",
		"prep.alloc", "prep.register", "prep.connect", "clock.resolution", "clock.cost", "clock.bound")...),
	MayBeZero: []string{"skew", "skew.p50", "late", "drift", "drift.max", "clock.bound"},
	OneOf:     []string{"patterns", "metadata_file", "generate"},
	Checked:   []string{"pattern", "matrix", "own_cells", "ranks", "op", "fabric", "api", "pages", "alloc", "numa", "nixl_backend", "nixl_prepared", "nixl_reregister", "time_scale", "sleep_before_launch", "sleep_after_launch"},
	Sequence:  "pattern",
}

// mostPatterns is how many patterns a sequence has at most.
const mostPatterns = 10_000

func init() {
	TrafficSequence.Check = func(v Values) error { // here, because it looks at the options above
		_, err := decodeSequence(v)
		return err
	}
}

// process is an option of Transfer's that is one for a whole launch.
func process(name, doc string) Option {
	o := shared(name, doc)
	o.Process = true
	return o
}

// alone says of metrics of workload traffic what they are in a sequence.
var alone = map[string]string{
	"ceiling":      "of the pattern alone: ",
	"ceiling.best": "of the pattern alone: ",
}

// trafficMetrics are metrics of workload traffic by their names.
func trafficMetrics(names ...string) []Metric {
	var list []Metric
	for _, name := range names {
		m, ok := Traffic.Metric(name)
		if !ok {
			panic("workload traffic has no metric " + name)
		}
		m.Doc = alone[name] + m.Doc
		list = append(list, m)
	}
	return list
}
