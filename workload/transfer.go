package workload

import (
	"fmt"
	"slices"

	"weir/matrix"
	"weir/quantity"
)

// Transfer moves blocks between ranks, as nixlbench and the fabrics' own
// perftests do.
var Transfer = &Kind{
	Name: "transfer",
	Doc:  "block transfers between ranks: one-sided writes and reads, streamed with a window or as a ping-pong",
	Options: append([]Option{
		{Name: "fabric", Type: Enum, Default: "auto", Process: true, Values: []string{"auto", "shm", "tcp", "ucx", "libfabric", "nixl", "sim"}, Planned: []string{"cuda"},
			Doc: "the way to move bytes; auto takes shm between ranks of one node, between nodes ucx or libfabric where a device reads and writes remote memory on every node, as the library says itself (`weir probe` shows it), else tcp; sim moves none: its numbers follow from the model that the sim_ options declare"},
		{Name: "provider", Type: String, Default: "", Process: true, For: map[string]string{"fabric": "libfabric"},
			Doc: "libfabric's provider by its name there, as `weir probe` lists them (tcp;ofi_rxm, shm, verbs;ofi_rxm, efa); empty: the first that libfabric offers and that can do what is needed"},
		{Name: "api", Type: Enum, Default: "rma", Values: []string{"rma", "am", "tag", "tag_sync"}, Process: true, For: map[string]string{"fabric": "ucx"},
			Doc: "what of UCX carries a write. rma: a one-sided put (ucp_put_nbx); am: an active message whose handler at the target puts the bytes at their place (ucp_am_send_nbx); tag: a tagged message into a receive that the target has posted ahead (ucp_tag_send_nbx); tag_sync: the same, complete when its receive was found (ucp_tag_send_sync_nbx). With all but rma the target takes part, confirms what is there when that is timed, and there is no op read"},
		{Name: "datatype", Type: Enum, Default: "contig", Values: []string{"contig", "iov"}, Process: true, For: map[string]string{"fabric": "ucx"},
			Doc: "what of UCX a request with a batch is. contig: an operation for each block; iov: with api tag and tag_sync one message of a list of all blocks (ucp_dt_iov_t), as -D iov of ucx_perftest, which the target receives in one piece at the place of the request"},
		{Name: "op", Type: Enum, Default: "write", Values: []string{"write", "read"},
			Doc: "write: the initiator puts into the target's memory; read: it gets from there"},
		memoryKind("initiator", "kind of memory at the initiator"),
		memoryKind("target", "kind of memory at the target"),
		{Name: "block_size", Type: Size, Required: true, Min: 1, Max: 1 << 40,
			Doc: "bytes of one block; in a ping-pong the bytes of one message"},
		{Name: "batch", Type: Count, Default: int64(1), Min: 1, Max: 1 << 20,
			Doc: "blocks in one request, each at its own offset; a request is complete when all its blocks are"},
		{Name: "iterations", Type: Count, Default: int64(100), Min: 1, Max: 1 << 40,
			Doc: "timed requests of each thread of an initiator, which go round its targets in turn; without effect on the timed part if there is a duration"},
		{Name: "duration", Type: Time, Default: quantity.Time(0), Min: 0, Max: 86400e9,
			Doc: "if not 0, the timed part has no fixed number of iterations: every initiator posts requests until this long after the common start, but one to each target in any case, and what it posted is completed and counted; below 1 MiB the clock is read only for requests that are stamped, one in 4 to 256"},
		{Name: "warmup", Type: Count, Default: int64(10), Min: 0, Max: 1 << 40,
			Doc: "requests of each thread of an initiator before the timed ones; they are not counted anywhere"},
		{Name: "in_flight", Type: Count, Default: int64(16), Min: 1, Max: 4096,
			Doc: "requests that each thread of an initiator keeps in flight in mode stream, over all of its targets together"},
		{Name: "threads", Type: Count, Default: int64(1), Min: 1, Max: 64, Process: true,
			Doc: "threads of each rank, initiator or target. Each has its own memory and connections, and moves to the thread of the same number in other ranks: an endpoint and worker for each with ucx, as many streams between two ranks with tcp, a mapping for each with shm. All do what one would do alone, and start together"},
		{Name: "ranks", Type: Count, Default: int64(2), Min: 2, Max: mostSimulated, Process: true,
			Doc: "processes taking part; the pattern decides which of them initiate. More than 1024 only in fabric sim"},
		{Name: "pattern", Type: Enum, Default: "pairwise", Values: []string{"pairwise", "one_to_many", "many_to_one", "ring", "all_to_all"}, Process: true,
			Doc: "who moves to whom; pairwise: rank i of the first half with rank i of the second; one_to_many: rank 0 with all others; many_to_one: all others with rank 0; ring: rank i with rank i + 1, the last with rank 0; all_to_all: each with every other. Each pair of an initiator and a target has memory of its own at both"},
		{Name: "bidirectional", Type: Bool, Default: false, Process: true,
			Doc: "of pattern pairwise in mode stream: both ranks of a pair initiate, at the same time"},
		{Name: "mode", Type: Enum, Default: "stream", Values: []string{"stream", "pingpong"},
			Doc: "stream: requests overlap up to in_flight, which measures bandwidth; pingpong: one block at a time there and back, which measures latency"},
		{Name: "verify", Type: Enum, Default: "sample", Values: []string{"none", "sample", "full"},
			Doc: "sample: every block is checked before the timed part and what the timed part moved is checked after it; full: also each of the iterations singly in an untimed pass with fresh contents. Requests of the timed part to one place carry the same bytes, so one of them that is lost between others is not seen there; with reuse spread they have many places"},
		{Name: "reuse", Type: Enum, Default: "hot", Values: []string{"hot", "spread"},
			Doc: "hot: all requests to a target use the same memory, which small ones find in the cache; spread: each uses the next place of a region, and the regions of an initiator have together at least twice the size of the last-level cache. Reports say what requests went over on a node, and whether its last-level cache holds that (hot) or not (cold)"},
		{Name: "pages", Type: Enum, Default: "default", Values: []string{"default", "thp", "2MiB", "1GiB"}, Process: true,
			Doc: "pages of the buffers; default: what the system gives to memory that asks for nothing; thp: transparent huge pages; 2MiB, 1GiB: huge pages that are set aside beforehand, of which each thread of a rank has whole ones. Where the kernel does not have them the launch fails. Where fabric ucx allocates by itself (alloc fabric) it has default only"},
		{Name: "alloc", Type: Enum, Default: "fabric", Process: true, Values: []string{"fabric", "heap"},
			Doc: "where the buffers come from; fabric: what suits the fabric best, which is shared memory that UCX allocates itself with ucx, and memory that a rank of the same host can map with others; heap: private anonymous memory of the rank, which is only registered with the fabric, as an application's own. A library moves one in another way than the other: UCX stores into its own shared memory, but copies from and into private memory through the kernel, or as messages. Fabric shm has fabric only"},
		{Name: "wait", Type: Enum, Default: "poll", Process: true, Values: []string{"poll", "sleep"},
			Doc: "how a rank waits for what others do; poll: it looks without a pause, as ucx_perftest and fabtests do unless they are told otherwise; sleep: it sleeps until its library wakes it (by the file of events that UCX's worker and libfabric's completion queue have; a provider without one is refused), which takes longer and less of a processor: see cpu_time_per_gb. With libfabric, and with ucx of an api that sends messages; nothing wakes the target of a one-sided write"},
		{Name: "numa", Type: NUMA, Default: "default", Process: true,
			Doc: "the NUMA node that the buffers are on; default: where the kernel puts what a rank touches first; local: the node of the processor that each thread of a rank is on when it makes them; a number: that node of each host. It binds whatever allocates them, UCX too; the first, the middle and the last page of each area are looked up afterwards, and one that lies elsewhere fails the launch"},
		{Name: "payload", Type: Enum, Default: "random", Values: []string{"random", "zero"},
			Doc: "contents of blocks: random, or zeros but for the first 8 bytes of each block, which tell one pass from another; some copies are faster with zeros"},
	}, slices.Concat(nixlOptions, simulationOptions)...),
	Metrics: []Metric{
		{"bandwidth", "GB/s", Higher, "bytes of requests that completed while all initiators were in their timed part, divided by that time; for writes the time ends when the last byte is at the target"},
		{"bandwidth.min_rank", "GB/s", Higher, "the least of the initiators' own bandwidths: its bytes divided by its timed part"},
		{"latency.avg", "s", Lower, "mean time of a request from posting it to its completion, of those that are stamped (see requests.stamped); in pingpong half of a round trip, of all"},
		{"latency.min", "s", Lower, "shortest stamped request"},
		{"latency.p50", "s", Lower, "median of stamped requests (nearest rank, as all quantiles), from the histogram of all initiators (3 significant digits), none of them left out"},
		{"latency.p90", "s", Lower, "90th percentile of stamped requests"},
		{"latency.p95", "s", Lower, "95th percentile of stamped requests"},
		{"latency.p99", "s", Lower, "99th percentile of stamped requests; of fewer than 100 it is the longest"},
		{"latency.p999", "s", Lower, "99.9th percentile of stamped requests; of fewer than 1000 it is the longest"},
		{"latency.max", "s", Lower, "longest stamped request"},
		{"post.avg", "s", Lower, "mean time of posting a request, from before its first block until the last call that posts it has returned: with ucx, libfabric and nixl the library's own calls, with shm the copies, with tcp putting it into the queue of a socket, which is sent from afterwards. Making a request is no part of it. In pingpong the same of a message, which with ucx of api rma lasts until its buffer may be used again; of stamped requests"},
		{"post.p99", "s", Lower, "99th percentile of that (1.6 % resolution), of the initiator that has the largest"},
		{"transfer.avg", "s", Lower, "mean time of a request from the end of post.avg to its completion; 0 where posting completes it; in pingpong half of a round trip less the posting"},
		{"transfer.p99", "s", Lower, "99th percentile of that (1.6 % resolution), of the initiator that has the largest"},
		{"requests", "", Neither, "requests that all initiators completed in the timed part; in pingpong round trips"},
		{"requests.stamped", "", Neither, "those of them whose time was taken: each from 1 MiB on, one in 4 from 256 KiB, in 16 from 64 KiB, in 64 from 512 B and in 256 below, but at least 64 of an initiator that makes as many; more would slow copies at the speed of a cache by over 2 %"},
		{"overlap", "", Higher, "the time in which all initiators moved, over which bandwidth is taken, divided by that from the first start to the last end of one; 1: nobody moved alone"},
		{"skew", "s", Lower, "latest minus earliest start of the timed parts of the initiators, of all their threads; between hosts as exact as their clocks could be compared, which is the time that a message takes"},
		{"skew.end", "s", Lower, "latest minus earliest end of the timed parts of the initiators, of all their threads"},
		{"message_rate", "1/s", Higher, "requests completed per second, over the same window as bandwidth"},
		{"ceiling", "", Higher, "bandwidth divided by ceiling.bandwidth"},
		{"ceiling.best", "", Higher, "bandwidth divided by the best of the spans of which ceiling.bandwidth is the median, those of all initiators added up whatever they share: a path that others used during the probe has reached more at times, and several may carry more together than one alone; the gate calls a measurement impossible, which is an error, if it is above 1.1 beyond what the launches vary, of a single launch above 2"},
		{"ceiling.bandwidth", "GB/s", Neither, "the most that this path can carry, probed in the same launch with the same buffers by the same cores, summed over the initiators and their threads: memory copies for fabric shm, a bare socket for tcp, for other fabrics (ucx but with api tag, which has the copies) their own puts (gets for reads), many at a time, of the size of a request or of 1 MiB, whichever carries more; from each initiator to its first target; initiators that share targets count with their share"},
		{"ceiling.memcpy", "GB/s", Neither, "each thread of an initiator copying the block between its own buffers, the best of the copy methods; all of them at the same time, added up"},
		{"prep.alloc", "s", Lower, "allocating and touching the launch's buffers, the slowest rank"},
		{"prep.register", "s", Lower, "registering the launch's buffers with the fabric, the slowest rank"},
		{"prep.connect", "s", Lower, "connecting to all peers once their addresses are known, the slowest rank"},
		{"prep.request", "s", Lower, "making one request before it can be posted, the slowest initiator: of mode stream the time of making the in_flight requests with their places at both ends, which is before the timed part, divided by their number; with nixl also the mean time of making one of NIXL's (its two lists of blocks and nixl_capi_create_xfer_req, or with nixl_prepared nixl_capi_make_xfer_req alone), over all that were made for the case, which is before the timed part if two requests warm up, or for each request with nixl_recreate. A ping-pong makes none, but with nixl"},
		{"prep.request.p99", "s", Lower, "99th percentile of making one of NIXL's requests (1.6 % resolution), of the initiator that has the largest; other fabrics make none"},
		{"prep.lists", "s", Lower, "preparing the two lists of blocks of which NIXL's requests are made, with nixl_prepared only: the mean over all places of memory of the case"},
		{"prep.lists.p99", "s", Lower, "99th percentile of that (1.6 % resolution), of the initiator that has the largest"},
		{"prep.reregister", "s", Lower, "taking back the registration of the memory of the request before and registering that of the next one, with nixl_reregister only: the mean over all requests of the case. What is registered are the bytes of the request, at the initiator"},
		{"prep.reregister.p99", "s", Lower, "99th percentile of that (1.6 % resolution), of the initiator that has the largest"},
		{"cpu_time_per_gb", "s/GB", Lower, "user and system time of all ranks, with all their threads, from the common start until the last has ended its timed part, divided by the bytes that all initiators moved; targets and who waits for others poll, so a rank counts with a whole core unless it sleeps"},
		{"context_switches", "", Lower, "of all ranks in the same time, voluntary and involuntary"},
		{"clock.resolution", "s", Neither, "the step by which the clock of the stamps advances, the coarsest rank"},
		{"clock.cost", "s", Neither, "reading that clock once, the slowest rank; it is taken off the latencies"},
		{"clock.bound", "s", Neither, "by how much the instants of two ranks may be wrong to each other: the two largest bounds of hosts' clocks, added up; 0 where all ranks are on one host. A clock is compared with that of rank 0 before and after the timed part, by questions and answers on the data path (Cristian 1989), and what it has drifted in between counts as well"},
	},
	MayBeZero: []string{"transfer.avg", "transfer.p99", "skew", "skew.end", "context_switches", "clock.bound"},
	Checked:   []string{"pattern", "bidirectional", "ranks", "mode", "op", "iterations", "block_size", "batch", "in_flight", "threads", "fabric", "api", "datatype", "reuse", "pages", "alloc", "wait", "numa", "duration", "nixl_backend", "nixl_prepared", "nixl_reregister", "sim_failure"},
}

func init() {
	Transfer.Check = func(v Values) error { // here, because it looks at the options above
		_, err := DecodeTransfer(v)
		return err
	}
}

// TransferOptions are the options of one transfer case in typed form.
type TransferOptions struct {
	Fabric, Op, Initiator, Target, Pattern, Mode, Verify string
	Reuse, Pages, Payload                                string
	Alloc                                                string `json:",omitempty"` // "": fabric
	Wait                                                 string `json:",omitempty"` // "": poll
	NUMA                                                 string `json:",omitempty"` // as ParseNUMA reads it; "": default
	Bidirectional                                        bool
	BlockSize                                            quantity.Size
	Batch, Iterations, Warmup, InFlight, Threads, Ranks  int64
	Duration                                             quantity.Time  // 0: Iterations decide
	Matrix                                               *matrix.Matrix `json:",omitempty"` // of workload traffic, where Pattern is MatrixPattern; nil: of transfer
	Own                                                  *matrix.Matrix `json:",omitempty"` // cells of ranks with themselves, which Matrix has none of: what they copy; nil: there are none
	Shards                                               int64          `json:",omitempty"` // descriptors of a cell, in workload traffic
	Step                                                 *Step          `json:",omitempty"` // of workload traffic_sequence; nil: of others
	Provider                                             string         `json:",omitempty"` // of fabric libfabric; "": its choice
	API                                                  string         `json:",omitempty"` // of fabric ucx; "": rma, and of others
	Datatype                                             string         `json:",omitempty"` // of fabric ucx; "": contig, and of others
	Nixl                                                 *Nixl          `json:",omitempty"` // of fabric nixl; nil for others
	Sim                                                  *Simulation    `json:",omitempty"` // of fabric sim; nil for others
}

// DecodeTransfer reads the values of a transfer case; options that are absent
// have their defaults.
func DecodeTransfer(v Values) (TransferOptions, error) {
	var t TransferOptions
	get := Transfer.get(v)
	err := read(get, map[string]*string{
		"fabric": &t.Fabric, "op": &t.Op, "initiator": &t.Initiator, "target": &t.Target, "pattern": &t.Pattern, "mode": &t.Mode,
		"verify": &t.Verify, "reuse": &t.Reuse, "pages": &t.Pages, "alloc": &t.Alloc, "wait": &t.Wait, "numa": &t.NUMA, "payload": &t.Payload, "provider": &t.Provider,
	}, map[string]*int64{
		"batch": &t.Batch, "iterations": &t.Iterations, "warmup": &t.Warmup, "in_flight": &t.InFlight, "threads": &t.Threads, "ranks": &t.Ranks,
	})
	if err != nil {
		return t, err
	}
	size, ok := get("block_size").(quantity.Size)
	if !ok {
		return t, fmt.Errorf("option block_size is missing")
	}
	t.BlockSize = size
	if err := t.decodeFabric(get); err != nil {
		return t, err
	}
	if t.Duration, ok = get("duration").(quantity.Time); !ok {
		return t, fmt.Errorf("option duration is %T, not a time", get("duration"))
	}
	if t.Bidirectional, ok = get("bidirectional").(bool); !ok {
		return t, fmt.Errorf("option bidirectional is %T, not true or false", get("bidirectional"))
	}
	if t.Fabric == SimFabric {
		var err error
		if t.Sim, err = decodeSimulation(get, t.Ranks); err != nil {
			return t, err
		}
	}
	return t, t.check()
}

// get gives the value of an option, or its default.
func (k *Kind) get(v Values) func(name string) any {
	return func(name string) any {
		if x, ok := v[name]; ok {
			return x
		}
		o, _ := k.Option(name)
		return o.Default
	}
}

// read takes options that are texts and counts.
func read(get func(string) any, texts map[string]*string, counts map[string]*int64) error {
	for name, p := range texts {
		s, ok := get(name).(string)
		if !ok {
			return fmt.Errorf("option %s is %T, not a string", name, get(name))
		}
		*p = s
	}
	for name, p := range counts {
		n, ok := get(name).(int64)
		if !ok {
			return fmt.Errorf("option %s is %T, not a count", name, get(name))
		}
		*p = n
	}
	return nil
}

// decodeFabric reads the options that only some fabrics have.
func (t *TransferOptions) decodeFabric(get func(string) any) error {
	var err error
	switch t.Fabric {
	case "ucx":
		err = read(get, map[string]*string{"api": &t.API}, nil)
		t.Datatype, _ = get("datatype").(string) // which only workload transfer has
	case NixlFabric:
		t.Nixl, err = decodeNixl(get)
	}
	return err
}
