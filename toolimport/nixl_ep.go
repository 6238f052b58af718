package toolimport

import (
	"fmt"
	"strconv"

	"weir/workload/ep"
)

// nixlEP is test_data_plane.py of NIXL EP's performance tests.
var nixlEP = &tool{
	name: "nixl-ep", programs: []string{"test_data_plane.py"},
	doc: "Workload ep, with timing stream, as the test has it: iterations follow each other, and the first is not counted. " +
		"The test moves between GPUs; weir moves between host memories, over the fabric that is there.",
	style: argparse, kind: ep.Kind, native: nixlEPRun, command: nixlEPCommand,
	flags: []flag{
		use("num-processes", number, "8", "`ranks`, times --world-size"),
		option("mode", text, "e2e", "mode", nil),
		option("tokens", number, "512", "tokens", nil),
		option("hidden", number, "4096", "hidden", nil),
		option("experts-per-rank", number, "8", "experts_per_rank", nil),
		option("topk", number, "2", "top_k", nil),
		option("warmup", number, "10", "warmup", nil),
		option("iters", number, "100", "iterations", nil),
		use("world-size", number, "1", "nodes: `ranks` are --num-processes for each"),
		ignore("rank", number, "weir starts the ranks of all nodes"),
		ignore("master-addr", text, "weir's processes find each other without it"),
		ignore("timeout", number, "a run has its own timeout"),
		ignore("use-tcp-store", nothing, "weir's processes find each other without it"),
		ignore("use-etcd", nothing, "weir's processes find each other without it"),
		ignore("skip-nic-discovery", nothing, "devices are chosen by place"),
		ignore("discover-nics", nothing, "devices are chosen by place"),
		row(unavailable, "nvlink-backend", text, "ipc", "memory of GPUs is not moved by this version of weir"),
		row(unavailable, "disable-ll-nvlink", nothing, "", "memory of GPUs is not moved by this version of weir"),
	},
}

func nixlEPRun(c *call) error {
	processes, _ := c.get(c.tool.flag("num-processes"))
	nodes, _ := c.get(c.tool.flag("world-size"))
	n, err := strconv.ParseInt(processes, 10, 32)
	if err != nil {
		return fmt.Errorf("--num-processes: %w", err)
	}
	k, err := strconv.ParseInt(nodes, 10, 32)
	if err != nil {
		return fmt.Errorf("--world-size: %w", err)
	}
	o, _ := ep.Kind.Option("ranks")
	ranks, err := o.Parse(strconv.FormatInt(n*k, 10))
	if err != nil {
		return fmt.Errorf("--num-processes %d with --world-size %d: %w", n, k, err)
	}
	if ranks != o.Default {
		c.set("ranks", count(n*k))
	}
	c.set("timing", literal("stream"))
	return nil
}

func nixlEPCommand(*call) error {
	return fmt.Errorf("weir cannot read what the test prints, so there is no --as-command")
}
