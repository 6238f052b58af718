package toolimport

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"weir/workload/ep"
	"weir/workload/epcontrol"
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

// nixlEPControl is test_control_plane.py of the same tests.
var nixlEPControl = &tool{
	name: "nixl-ep-control", programs: []string{"test_control_plane.py"},
	doc:   "Read by `weir import nixl-ep`, too. Workload ep_control. The test has the memory of GPUs; weir has host memory, over the fabric that is there.",
	style: argparse, kind: epcontrol.Kind, native: nixlEPControlRun, command: nixlEPCommand,
	flags: append([]flag{
		option("test", text, "cycle", "operation", nil),
		use("experts-per-rank", text, "8,32", "`experts_per_rank`: a list is a sweep"),
		option("num-tokens", number, "512", "tokens", nil),
		option("hidden", number, "4096", "hidden", nil),
		option("warmup", number, "0", "warmup", nil),
		option("rounds", number, "1", "rounds", nil),
	}, slices.DeleteFunc(slices.Clone(nixlEP.flags), func(f flag) bool {
		return f.fate == asOption && f.names[0] != "num-processes"
	})...),
}

func init() { nixlEP.also = nixlEPControl }

func nixlEPControlRun(c *call) error {
	if err := c.setRanks(); err != nil {
		return err
	}
	var values []int64
	for _, word := range strings.Split(c.text("experts-per-rank"), ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(word), 10, 64)
		if err != nil || n < 1 {
			return fmt.Errorf("--experts-per-rank: %q is no list of numbers", c.text("experts-per-rank"))
		}
		values = append(values, n)
	}
	c.run.points("experts_per_rank", values, count)
	return nil
}

func nixlEPRun(c *call) error {
	c.set("timing", literal("stream"))
	return c.setRanks()
}

// setRanks sets the ranks of all nodes.
func (c *call) setRanks() error {
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
	o, _ := c.run.kind.Option("ranks")
	ranks, err := o.Parse(strconv.FormatInt(n*k, 10))
	if err != nil {
		return fmt.Errorf("--num-processes %d with --world-size %d: %w", n, k, err)
	}
	if ranks != o.Default {
		c.set("ranks", count(n*k))
	}
	return nil
}

func nixlEPCommand(*call) error {
	return fmt.Errorf("weir cannot read what the test prints, so there is no --as-command")
}
