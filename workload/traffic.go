package workload

import (
	"fmt"

	"weir/matrix"
)

// Traffic moves the cells of a matrix, as NIXL's ct-perftest does.
var Traffic = &Kind{
	Name: "traffic",
	Doc:  "one traffic matrix: each rank moves so many bytes to each other, again and again, all starting together",
	Options: append([]Option{
		shared("fabric", "the way to move bytes; auto takes shm between ranks of one node, between nodes ucx or libfabric where a device reads and writes remote memory on every node, else tcp; sim has no model of a matrix and is refused"),
		shared("provider", ""),
		shared("api", "what of UCX carries a write, as in workload transfer: rma or am; tag is refused, because its receives are posted ahead and of one size"),
		shared("op", "write: the sender of a cell puts it into the receiver's memory; read: the receiver gets it from the sender's"),
		memoryKind("memory", "kind of memory of all ranks"),
		{Name: "matrix", Type: Matrix, Process: true,
			Doc: "the bytes that each rank (row) sends to each other (column): a list of rows, each a list of cells, or one text with a row on each line. A cell is a number with K, M or G behind it, powers of 1024 as in the published files, or a size with its unit (4MiB); 0 moves nothing; of the cell of a rank with itself see own_cells"},
		{Name: "matrix_file", Type: File, Into: "matrix",
			Doc: "the matrix from a file in the published form, relative to the file that names it; it is read with the scenario, and what it says is part of the plan"},
		{Name: "generate", Type: Generator, Into: "matrix", Process: true,
			Doc: "the matrix from a generator, between as many ranks as `ranks` says: " + generatorDocs() + "; or from a model and its requests, which make one batch: a mapping whose keys `weir docs generate` lists"},
		{Name: "ranks", Type: Count, Min: 2, Max: mostRanks, Process: true, RanksOf: "matrix",
			Doc: "processes taking part; those of the matrix, and to be given with generate"},
		ownCells(true),
		{Name: "shards", Type: Count, Default: int64(1), Min: 1, Max: 1 << 20,
			Doc: "descriptors into which each cell is cut, all posted together; a cell has no more of them than bytes"},
		{Name: "iterations", Type: Count, Default: int64(50), Min: 1, Max: 4096,
			Doc: "how often the whole matrix is moved; before each time all ranks meet and start at a common instant, and each time is kept"},
		{Name: "warmup", Type: Count, Default: int64(10), Min: 0, Max: 1 << 20,
			Doc: "iterations before the timed ones; they are not counted anywhere"},
		shared("verify", "sample: every cell is checked before the timed part and what the timed part moved is checked after it; full: also each of the iterations singly in an untimed pass with fresh contents"),
		shared("pages", ""),
		shared("alloc", ""),
		shared("numa", ""),
	}, nixlOptions...),
	Metrics: []Metric{
		{"latency.avg", "s", Lower, "mean time of an iteration: from the earliest start of a rank that moves cells to the latest end of one, on a common clock; a rank ends when all that it moves is delivered, its own cell included, if it has one. Not a mean over ranks: who waits for a matrix waits for the last of them"},
		{"latency.min", "s", Lower, "shortest iteration"},
		{"latency.p50", "s", Lower, "median iteration (nearest rank over the exact times, no histogram)"},
		{"latency.p90", "s", Lower, "90th percentile of iterations"},
		{"latency.p95", "s", Lower, "95th percentile of iterations"},
		{"latency.p99", "s", Lower, "99th percentile of iterations"},
		{"latency.max", "s", Lower, "longest iteration"},
		{"bandwidth", "GB/s", Higher, "bytes of all cells between ranks divided by latency.avg"},
		{"bandwidth.per_sender", "GB/s", Higher, "mean over the ranks that initiate (senders for op write, receivers for op read) of the bytes that each moves divided by its own mean time"},
		{"bandwidth.min_sender", "GB/s", Higher, "the least of these"},
		{"bandwidth.per_receiver", "GB/s", Higher, "mean over the ranks that others move to (receivers for op write, senders for op read) of the bytes of their cells divided by the time until all of them are delivered: from the common start until the last of those who initiate knows it of its cell, each on average; looked at in every iteration, or in one of 8 where cells have less than 16 KiB on average"},
		{"bandwidth.min_receiver", "GB/s", Higher, "the least of these"},
		{"latency.max_receiver", "s", Lower, "the longest of these times"},
		{"bytes", "B", Neither, "sum of all cells between ranks: what one iteration moves"},
		ownBytes,
		{"senders", "", Neither, "ranks that have anything to send"},
		{"receivers", "", Neither, "ranks that get anything"},
		{"skew", "s", Lower, "latest minus earliest start of the ranks that initiate, of the iteration where it is largest; between hosts as exact as their clocks could be compared"},
		{"skew.p50", "s", Lower, "the same of the median iteration; where it is over 100 µs and over half of latency.p50, the ranks have no cores to themselves and did not move together: that is said with each verdict, and none is a failure"},
		{"bottleneck.bytes", "B", Neither, "bytes that go into or come out of the busiest rank in one iteration, whichever are more: with equal links nothing ends before it"},
		{"bottleneck.bandwidth", "GB/s", Higher, "these bytes divided by latency.avg"},
		{"ceiling", "", Higher, "bottleneck.bandwidth divided by ceiling.bandwidth; above 1 where several initiators share the work of the busiest rank, which only serves, and each moves with a core of its own"},
		{"ceiling.best", "", Higher, "of the initiator where it is largest: its bytes divided by latency.avg and by the best span that was probed of its path; a measurement above this is called impossible"},
		{"ceiling.bandwidth", "GB/s", Neither, "the most that the path of one rank can carry, probed in the same launch with the same buffers by the same cores from each initiator to its first target: the median over the initiators; how is said of ceiling.bandwidth of workload transfer"},
		{"ceiling.memcpy", "GB/s", Neither, "an initiator copying its largest cell between its own buffers, the best of the copy methods; all initiators at the same time, added up"},
		{"prep.alloc", "s", Lower, "allocating and touching the launch's buffers, the slowest rank"},
		{"prep.register", "s", Lower, "registering the launch's buffers with the fabric, the slowest rank"},
		{"prep.connect", "s", Lower, "connecting to all peers once their addresses are known, the slowest rank"},
		{"prep.request", "s", Lower, "making one request before it can be posted, the slowest initiator: the time of making those of an iteration, one for each cell, with their places at both ends, divided by their number, which is once before the timed part; with nixl also the mean time of making one of NIXL's, as prep.request of workload transfer has it"},
		{"prep.lists", "s", Lower, "preparing the two lists of blocks of which NIXL's requests are made, with nixl_prepared only, as prep.lists of workload transfer has it"},
		{"cpu_time_per_gb", "s/GB", Lower, "user and system time of all ranks, from the common start of the first iteration until the last has ended, divided by the bytes that all iterations moved; who waits polls, so a rank counts with a whole core unless it sleeps"},
		{"context_switches", "", Lower, "of all ranks in the same time, voluntary and involuntary"},
		{"clock.resolution", "s", Neither, "the step by which the clock of the stamps advances, the coarsest rank"},
		{"clock.cost", "s", Neither, "reading that clock once, the slowest rank"},
		{"clock.bound", "s", Neither, "by how much the instants of two ranks may be wrong to each other: the two largest bounds of hosts' clocks, added up; 0 where all ranks are on one host. A clock is compared with that of rank 0 before and after the timed part, by questions and answers on the data path (Cristian 1989), and what it has drifted in between counts as well"},
	},
	MayBeZero: []string{"skew", "skew.p50", "context_switches", "clock.bound"},
	OneOf:     []string{"matrix", "matrix_file", "generate"},
	Checked:   []string{"matrix", "own_cells", "generate", "ranks", "op", "fabric", "api", "pages", "alloc", "numa", "nixl_backend", "nixl_prepared", "nixl_reregister"},
}

func init() {
	Traffic.Check = func(v Values) error { // here, because it looks at the options above
		_, err := decodeTraffic(v, Generated.check)
		return err
	}
}

// shared is an option of Transfer's, with words of its own if there are any.
func shared(name, doc string) Option {
	o, ok := Transfer.Option(name)
	if !ok {
		panic("workload transfer has no option " + name)
	}
	if doc != "" {
		o.Doc = doc
	}
	return o
}

// DecodeTraffic reads the values of a traffic case as the engine takes them: the
// matrix is there, whether it was written down or is generated.
func DecodeTraffic(v Values) (TransferOptions, error) { return decodeTraffic(v, Generated.Matrix) }

// decodeTraffic has a matrix generated by what it is given.
func decodeTraffic(v Values, generate func(g Generated, ranks int) (*matrix.Matrix, error)) (TransferOptions, error) {
	t := TransferOptions{Pattern: MatrixPattern, Mode: "stream", Reuse: "hot", Payload: "random", Batch: 1, Threads: 1}
	get := Traffic.get(v)
	err := read(get, map[string]*string{
		"fabric": &t.Fabric, "op": &t.Op, "memory": &t.Initiator, "verify": &t.Verify, "pages": &t.Pages, "alloc": &t.Alloc, "numa": &t.NUMA, "provider": &t.Provider,
	}, map[string]*int64{"iterations": &t.Iterations, "warmup": &t.Warmup, "shards": &t.Shards})
	if err != nil {
		return t, err
	}
	t.Target = t.Initiator
	if err := t.decodeFabric(get); err != nil {
		return t, err
	}
	m, err := decodeMatrix(v, generate)
	if err == nil {
		err = t.setMatrix(m, get("own_cells"))
	}
	if err != nil {
		return t, err
	}
	t.fit()
	return t, t.check()
}

// decodeMatrix makes the matrix of a case.
func decodeMatrix(v Values, generate func(g Generated, ranks int) (*matrix.Matrix, error)) (*matrix.Matrix, error) {
	ranks, counted := v["ranks"].(int64)
	written, isWritten := v["matrix"].(string)
	generated, isGenerated := v["generate"].(string)
	switch {
	case isWritten == isGenerated:
		return nil, fmt.Errorf("what is moved is said by one of the options matrix, matrix_file and generate")
	case isGenerated && !counted:
		return nil, fmt.Errorf("option generate needs the option ranks: a generator makes a matrix of any size")
	case isGenerated:
		g, err := ParseGenerated(generated)
		if err != nil {
			return nil, fmt.Errorf("option generate: %w", err)
		}
		m, err := generate(g, int(ranks))
		if err != nil {
			return nil, fmt.Errorf("option generate: %s between %d ranks: %w", g, ranks, err)
		}
		return m, nil
	}
	m, err := ParseMatrix(written)
	if err == nil && counted && ranks != int64(m.Ranks()) {
		err = fmt.Errorf("it is of %d ranks, and the option ranks says %d: leave ranks out, or give it the same", m.Ranks(), ranks)
	}
	if err != nil {
		return nil, fmt.Errorf("option matrix: %w", err)
	}
	return m, nil
}
