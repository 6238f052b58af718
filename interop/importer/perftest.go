package importer

import (
	"fmt"
	"strings"
)

var perftest = &tool{
	name: "perftest", native: perftestRun, command: perftestCommand, nodes: nodesOfServer, measures: (*call).program,
}

func perftestRun(c *call) {
	test := c.tool.Tests[c.program()]
	if test.None != "" {
		c.fail("%s: %s; --as-command runs it itself", c.program(), test.None)
	}
	c.setTest(test)
	c.note("%s drives queue pairs itself; weir measures through UCX", c.program())
	if c.has("use_cuda") {
		shown := c.shown(c.tool.flag("use_cuda"))
		c.setMemory(shown, "initiator", "vram")
		c.setMemory(shown, "target", "vram")
	}
	c.usePrivateMemory()
	perftestPath(c)
	window := c.number("tx-depth", 1, mostIterations)
	if test.Window > 0 {
		window = test.Window
	}
	if test.Mode == "stream" {
		c.set("in_flight", count(window))
	}
	warmup := int64(0)
	if c.has("perform_warm_up") {
		warmup = window
	}
	c.set("warmup", count(warmup))
	iters, block := test.Iterations, test.Size
	if c.has("iters") {
		iters = c.number("iters", 5, mostIterations)
	}
	if c.has("size") {
		block = c.number("size", 1, mostBytes)
	}
	if c.has("duration") {
		c.set("duration", literal(fmt.Sprintf("%ds", c.number("duration", 1, 86400))))
	}
	c.set("iterations", count(iters))
	blocks := []int64{block}
	if c.has("all") {
		blocks = perftestSizes()
	}
	c.run.points("block_size", blocks, size)
}

// perftestSizes returns the sizes of --all.
func perftestSizes() (all []int64) {
	for n := int64(2); n <= 8<<20; n *= 2 {
		all = append(all, n)
	}
	return all
}

// perftestPath sets the variables with which UCX takes the path of perftest.
func perftestPath(c *call) {
	transports := map[string]string{"RC": "rc", "UD": "ud", "DC": "dc", "SRD": "srd"}
	if t, ok := transports[c.text("connection")]; ok {
		c.setEnv("UCX_TLS", t)
	} else {
		c.unmappedFlag("--connection %s: UCX has %s", c.text("connection"), strings.Join(sortedKeys(transports), ", "))
	}
	port := c.number("ib-port", 1, 255)
	if device := c.text("ib-dev"); device != "" {
		c.setEnv("UCX_NET_DEVICES", fmt.Sprintf("%s:%d", device, port))
	}
}
