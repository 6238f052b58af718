package workload

import (
	"fmt"
	"slices"

	"weir/quantity"
)

// Transfer moves blocks between ranks, as nixlbench and the fabrics' own
// perftests do.
var Transfer = &Kind{
	Name: "transfer",
	Doc:  "block transfers between ranks: one-sided writes and reads, streamed with a window or as a ping-pong",
	Options: append([]Option{
		{Name: "fabric", Type: Enum, Default: "auto", Process: true, Values: []string{"auto", "shm", "tcp", "ucx", "libfabric", "cuda", "nixl", "sim"},
			Doc: "the way to move bytes; auto takes shm between ranks of one node and tcp between nodes; sim moves none: its numbers follow from the model that the sim_ options declare"},
		{Name: "op", Type: Enum, Default: "write", Values: []string{"write", "read"},
			Doc: "write: the initiator puts into the target's memory; read: it gets from there"},
		{Name: "initiator", Type: Enum, Default: "dram", Process: true, Values: []string{"dram", "vram"},
			Doc: "kind of memory at the initiator"},
		{Name: "target", Type: Enum, Default: "dram", Process: true, Values: []string{"dram", "vram"},
			Doc: "kind of memory at the target"},
		{Name: "block_size", Type: Size, Required: true, Min: 1, Max: 1 << 40,
			Doc: "bytes of one block; in a ping-pong the bytes of one message"},
		{Name: "batch", Type: Count, Default: int64(1), Min: 1, Max: 1 << 20,
			Doc: "blocks in one request, each at its own offset; a request is complete when all its blocks are"},
		{Name: "iterations", Type: Count, Default: int64(100), Min: 1, Max: 1 << 40,
			Doc: "timed requests of each initiator"},
		{Name: "warmup", Type: Count, Default: int64(10), Min: 0, Max: 1 << 40,
			Doc: "requests before the timed ones; they are not counted anywhere"},
		{Name: "in_flight", Type: Count, Default: int64(16), Min: 1, Max: 4096,
			Doc: "requests that an initiator keeps in flight in mode stream"},
		{Name: "threads", Type: Count, Default: int64(1), Min: 1, Max: 1,
			Doc: "initiating threads of a rank (one, in this version)"},
		{Name: "ranks", Type: Count, Default: int64(2), Min: 2, Max: 1024, Process: true,
			Doc: "processes taking part; the pattern decides which of them initiate"},
		{Name: "pattern", Type: Enum, Default: "pairwise", Values: []string{"pairwise"}, Process: true,
			Doc: "who moves to whom; pairwise: rank i of the first half with rank i of the second"},
		{Name: "mode", Type: Enum, Default: "stream", Values: []string{"stream", "pingpong"},
			Doc: "stream: requests overlap up to in_flight, which measures bandwidth; pingpong: one block at a time there and back, which measures latency"},
		{Name: "verify", Type: Enum, Default: "sample", Values: []string{"none", "sample", "full"},
			Doc: "sample: every block is checked before the timed part and what the timed part moved is checked after it; full: also each of the iterations singly in an untimed pass with fresh contents"},
	}, slices.Concat(nixlOptions, simulationOptions)...),
	Metrics: []Metric{
		{"bandwidth", "GB/s", Higher, "bytes of requests that completed while all initiators were in their timed part, divided by that time; for writes the time ends when the last byte is at the target"},
		{"bandwidth.min_rank", "GB/s", Higher, "the least of the initiators' own bandwidths: its bytes divided by its timed part"},
		{"latency.avg", "s", Lower, "mean time of a request from posting it to its completion; in pingpong half of a round trip"},
		{"latency.min", "s", Lower, "shortest request"},
		{"latency.p50", "s", Lower, "median request, from the histogram of all initiators (3 significant digits)"},
		{"latency.p90", "s", Lower, "90th percentile of requests"},
		{"latency.p95", "s", Lower, "95th percentile of requests"},
		{"latency.p99", "s", Lower, "99th percentile of requests"},
		{"latency.p999", "s", Lower, "99.9th percentile of requests"},
		{"latency.max", "s", Lower, "longest request"},
		{"message_rate", "1/s", Higher, "requests completed per second, over the same window as bandwidth"},
		{"ceiling", "", Higher, "bandwidth divided by ceiling.bandwidth"},
		{"ceiling.bandwidth", "GB/s", Neither, "the most that this path can carry, probed in the same launch with the same buffers by the same cores: memory copies for paths through shared memory, a bare socket for tcp"},
		{"ceiling.memcpy", "GB/s", Neither, "one thread copying the block between the initiator's own buffers, the best of the copy methods"},
		{"prep.alloc", "s", Lower, "allocating and touching the launch's buffers, the slowest rank"},
		{"prep.register", "s", Lower, "registering the launch's buffers with the fabric, the slowest rank"},
		{"prep.connect", "s", Lower, "connecting to all peers once their addresses are known, the slowest rank"},
	},
	Checked: []string{"pattern", "ranks", "mode", "op", "batch", "fabric", "nixl_backend"},
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
	BlockSize                                            quantity.Size
	Batch, Iterations, Warmup, InFlight, Threads, Ranks  int64
	Nixl                                                 *Nixl       `json:",omitempty"` // of fabric nixl; nil for others
	Sim                                                  *Simulation `json:",omitempty"` // of fabric sim; nil for others
}

// DecodeTransfer reads the values of a transfer case; options that are absent
// have their defaults.
func DecodeTransfer(v Values) (TransferOptions, error) {
	var t TransferOptions
	get := func(name string) any {
		if x, ok := v[name]; ok {
			return x
		}
		o, _ := Transfer.Option(name)
		return o.Default
	}
	text := map[string]*string{"fabric": &t.Fabric, "op": &t.Op, "initiator": &t.Initiator, "target": &t.Target, "pattern": &t.Pattern, "mode": &t.Mode, "verify": &t.Verify}
	count := map[string]*int64{"batch": &t.Batch, "iterations": &t.Iterations, "warmup": &t.Warmup, "in_flight": &t.InFlight, "threads": &t.Threads, "ranks": &t.Ranks}
	for name, p := range text {
		s, ok := get(name).(string)
		if !ok {
			return t, fmt.Errorf("option %s is %T, not a string", name, get(name))
		}
		*p = s
	}
	for name, p := range count {
		n, ok := get(name).(int64)
		if !ok {
			return t, fmt.Errorf("option %s is %T, not a count", name, get(name))
		}
		*p = n
	}
	size, ok := get("block_size").(quantity.Size)
	if !ok {
		return t, fmt.Errorf("option block_size is missing")
	}
	t.BlockSize = size
	if t.Fabric == NixlFabric {
		var err error
		if t.Nixl, err = decodeNixl(get); err != nil {
			return t, err
		}
	}
	if t.Fabric == SimFabric {
		var err error
		if t.Sim, err = decodeSimulation(get, t.Ranks); err != nil {
			return t, err
		}
	}
	return t, t.check()
}

// check holds what no single option can say.
func (t TransferOptions) check() error {
	if t.Pattern == "pairwise" && t.Ranks%2 != 0 {
		return fmt.Errorf("pattern pairwise needs an even number of ranks, not %d", t.Ranks)
	}
	if t.Mode == "pingpong" && t.Batch != 1 {
		return fmt.Errorf("mode pingpong sends one message at a time: a batch of %d has no meaning in it; for many blocks in a request use mode stream", t.Batch)
	}
	if t.Mode == "pingpong" && t.Op == "read" {
		return fmt.Errorf("mode pingpong sends messages there and back: it has no op read; for the latency of a read use mode stream with in_flight 1")
	}
	return nil
}
