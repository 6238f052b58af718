package importer

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

var ucxPerftest = &tool{
	name: "ucx_perftest", native: ucxPerftestRun, command: ucxPerftestCommand, nodes: nodesOfServer,
	measures: func(c *call) string { return c.text("t") },
}

// setTest sets the options of a test of UCX or of perftest.
func (c *call) setTest(t test) {
	c.set("fabric", literal("ucx"))
	c.set("api", literal(t.API))
	c.set("op", literal(t.Op))
	c.set("mode", literal(t.Mode))
}

// ucxGPUMemory are the kinds of memory of -m that are no memory of the host.
var ucxGPUMemory = names("cuda|cuda-managed|rocm|rocm-managed|ze-host|ze-device|ze-managed|rdma|gdaki")

func ucxPerftestRun(c *call) {
	name := c.text("t")
	test, ok := c.tool.Tests[name]
	switch {
	case name == "":
		c.fail("-t is missing: it names the test")
	case !ok:
		c.fail("-t: ucx_perftest has no test %q; it has %s", name,
			strings.Join(slices.Sorted(maps.Keys(c.tool.Tests)), ", "))
	case test.None != "":
		c.fail("-t %s: %s; --as-command runs ucx_perftest itself", name, test.None)
	}
	c.setTest(test)
	window := c.number("O", 0, mostIterations)
	if window == 0 {
		window = test.Window
	}
	if test.Mode == "stream" {
		c.set("in_flight", count(window))
	} else if window != 1 {
		c.note("-O: a ping-pong has one message in flight")
	}
	sender, receiver, both := strings.Cut(c.text("m"), ",")
	if !both {
		receiver = sender
	}
	for i, kind := range []string{sender, receiver} {
		if kind == "host" {
			kind = "dram"
		} else if slices.Contains(ucxGPUMemory, kind) {
			kind = "vram"
		} else {
			c.fail("-m: ucx_perftest has no memory %q; it has host, %s", kind, strings.Join(ucxGPUMemory, ", "))
			return
		}
		c.setMemory("-m", []string{"initiator", "target"}[i], kind)
	}
	ucxSizes(c)
	ucxWarmup(c)
}

// ucxWarmup sets the warm-up: libperf makes at most a tenth of the iterations, rounded up.
func ucxWarmup(c *call) {
	asked, most := c.number("w", 0, mostIterations), (c.number("n", 0, mostIterations)+9)/10
	c.set("warmup", count(min(asked, most)))
	if asked > most && c.has("w") {
		c.note("-w: ucx_perftest warms up with at most a tenth of -n, so %d", most)
	}
}

// ucxSizes returns the sizes of the entries of one message.
func ucxSizes(c *call) {
	var entries []int64
	for word := range strings.SplitSeq(c.text("s"), ",") {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil || n < 1 || n > mostBytes {
			c.fail("-s: %q is not a size from 1 to %d", word, int64(mostBytes))
		}
		entries = append(entries, n)
	}
	if len(slices.Compact(slices.Clone(entries))) > 1 {
		c.fail("-s %s: weir's requests have blocks of one size; --as-command runs ucx_perftest itself",
			c.text("s"))
	}
	c.set("block_size", size(entries[0]))
	if len(entries) > 1 {
		c.set("batch", count(int64(len(entries))))
	}
}
