package toolimport

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	onlyUCT  = "it is for tests of UCT, which weir does not drive"
	printing = "it is about what is printed"
)

// ucxTest is what a test of ucx_perftest does.
type ucxTest struct {
	api, op, mode string
	window        int64 // of -O, unless it is given
}

// ucxTests are those of perftest.c in UCX 1.13 to 1.20.
var ucxTests = map[string]ucxTest{
	"ucp_put_bw":   {"rma", "write", "stream", 32},
	"ucp_put_lat":  {"rma", "write", "pingpong", 1},
	"ucp_get":      {"rma", "read", "stream", 1},
	"tag_bw":       {"tag", "write", "stream", 32},
	"tag_lat":      {"tag", "write", "pingpong", 1},
	"tag_sync_bw":  {"tag_sync", "write", "stream", 32},
	"tag_sync_lat": {"tag_sync", "write", "pingpong", 1},
	"ucp_am_bw":    {"am", "write", "stream", 32},
	"ucp_am_lat":   {"am", "write", "pingpong", 1},
}

// otherUCXTests are tests that weir has nothing for.
var otherUCXTests = map[string]string{
	"am_lat": onlyUCT, "put_lat": onlyUCT, "get": onlyUCT, "am_bw": onlyUCT, "put_bw": onlyUCT,
	"add_lat": noAtomics, "fadd": noAtomics, "swap": noAtomics, "cswap": noAtomics, "add_mr": noAtomics,
	"ucp_add": noAtomics, "ucp_fadd": noAtomics, "ucp_swap": noAtomics, "ucp_cswap": noAtomics,
	"stream_bw": noStream, "stream_lat": noStream,
}

const (
	noAtomics = "weir has no atomic operations"
	noStream  = "fabric ucx has api rma, am, tag and tag_sync, and no streams"
)

// ucxPerftest is described in src/tools/perf of openucx/ucx.
var ucxPerftest = &tool{
	name: "ucx_perftest",
	doc: "Fabric ucx, with the api of the test. A test with _lat is mode pingpong, others are mode stream. " +
		"Buffers are allocated by UCX, as ucx_perftest's are (alloc fabric).",
	style: getopt, twoSided: true, native: ucxPerftestRun, command: ucxPerftestCommand, nodes: nodesOfServer,
	measures: func(c *call) string { return c.text("t") },
	flags: []flag{
		use("t", text, "", "`api`, `op` and `mode`: ucp_put_bw, ucp_put_lat, ucp_get, tag_bw, tag_lat, tag_sync_bw, tag_sync_lat, ucp_am_bw, ucp_am_lat; "+
			"others are errors"),
		use("s", text, "8", "`block_size`; several equal sizes with -D iov are a `batch`"),
		use("m", text, "host", "`initiator` and `target`: host is dram, memory of GPUs vram"),
		option("n", number, "1000000", "iterations", nil),
		option("w", number, "10000", "warmup", nil),
		lose("c", text, "", "processors are chosen by cpus_per_rank of place, near the devices"),
		use("O", number, "0", "`in_flight`; without it 32 of a test with _bw, else 1, as ucx_perftest has it"),
		lose("i", number, "0", "weir's blocks lie next to each other"),
		lose("l", nothing, "", "weir moves between processes, not within one"),
		lose("o", nothing, "", "weir's targets make progress"),
		lose("B", nothing, "", "weir registers all memory before"),
		lose("b", text, "", "give the lines of a batch file as command lines"),
		ignore("R", text, "weir has latency.min, p50, p90, p95, p99, p999 and max"),
		ignore("p", text, meets), ignore("6", nothing, meets), ignore("P", text, meets), ignore("K", text, meets),
		ignore("h", nothing, printing),
		ignore("N", nothing, printing), ignore("f", nothing, printing), ignore("v", nothing, printing),
		ignore("q", nothing, printing),
		ignore("I", nothing, "it prints more, or makes a context with a wakeup that wait sleep makes too"),
		ignore("d", text, onlyUCT), ignore("x", text, onlyUCT), ignore("W", number, onlyUCT),
		ignore("A", text, onlyUCT),
		option("T", number, "1", "threads", nil),
		lose("M", text, "single", "weir's threads have workers of their own"),
		option("D", text, "", "datatype", map[string]string{
			"contig": "contig", "contig,contig": "contig", "iov": "iov", "iov,contig": "iov",
		}),
		lose("C", nothing, "", "weir's receives have tags of their own"),
		lose("U", nothing, "", "weir posts receives ahead"),
		ignore("r", text, "it is for tests of streams"),
		lose("e", nothing, "", "weir's endpoints have no error handling"),
		option("E", text, "poll", "wait", map[string]string{"poll": "poll", "sleep": "sleep"}),
		lose("H", number, "0", "weir's active messages have a header of their own"),
		lose("y", nothing, "", "weir's handler of active messages puts the bytes at their place"),
		ignore("z", nothing, "weir always passes the handle of registered memory"),
		lose("daemon-local|g", text, "", "weir drives no daemon"),
		lose("daemon-remote|G", text, "", "weir drives no daemon"),
	},
}

func ucxPerftestRun(c *call) error {
	name := c.text("t")
	test, ok := ucxTests[name]
	switch {
	case name == "":
		return fmt.Errorf("-t is missing: which test is it?")
	case otherUCXTests[name] != "":
		return fmt.Errorf("-t %s: %s; --as-command runs ucx_perftest itself", name, otherUCXTests[name])
	case !ok:
		return fmt.Errorf("-t: ucx_perftest has no test %q", name)
	}
	c.set("fabric", literal("ucx"))
	c.set("api", literal(test.api))
	c.set("op", literal(test.op))
	c.set("mode", literal(test.mode))
	window, err := c.number("O", 0, mostIterations)
	if err != nil {
		return err
	}
	if window == 0 {
		window = test.window
	}
	if test.mode == "stream" {
		c.set("in_flight", count(window))
	} else if window != 1 {
		c.note("-O: a ping-pong has one message under way")
	}
	sender, receiver, both := strings.Cut(c.text("m"), ",")
	if !both {
		receiver = sender
	}
	for i, kind := range []string{sender, receiver} {
		if kind == "host" {
			kind = "dram"
		} else if slices.Contains(names("cuda|cuda-managed|rocm|rocm-managed|ze-host|ze-device|ze-managed|rdma|gdaki"),
			kind) {
			kind = "vram"
		}
		if err := c.setMemory("-m", []string{"initiator", "target"}[i], kind); err != nil {
			return err
		}
	}
	return ucxSizes(c)
}

// ucxSizes are the entries of one message.
func ucxSizes(c *call) error {
	var entries []int64
	for word := range strings.SplitSeq(c.text("s"), ",") {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil || n < 1 || n > mostBytes {
			return fmt.Errorf("-s: %q is no size from 1 to %d", word, int64(mostBytes))
		}
		entries = append(entries, n)
	}
	if len(slices.Compact(slices.Clone(entries))) > 1 {
		return fmt.Errorf("-s %s: weir's requests have blocks of one size; --as-command runs ucx_perftest itself",
			c.text("s"))
	}
	c.set("block_size", size(entries[0]))
	if len(entries) > 1 {
		c.set("batch", count(int64(len(entries))))
	}
	return nil
}
