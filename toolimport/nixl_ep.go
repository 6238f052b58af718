package toolimport

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"weir/quantity"
	"weir/workload/ep"
	"weir/workload/epcontrol"
	"weir/workload/epelastic"
)

// nixlEP is test_data_plane.py of NIXL EP's performance tests.
var nixlEP = &tool{
	name: "nixl-ep", programs: []string{"test_data_plane.py"},
	doc: "Workload ep, with timing stream, as the test has it: iterations follow each other, and the first is not counted. " +
		ofGPUs,
	style: argparse, kind: ep.Kind, native: nixlEPRun, measures: func(c *call) string { return c.text("mode") },
	flags: append([]flag{
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
	}, backendFlags...),
}

// ofGPUs says where the tests have their buffers.
const ofGPUs = "The test moves memory of GPUs over NVLink unless --nvlink-backend says otherwise, and so does the scenario, with fabric cuda: " +
	"--memory dram moves the same between host memories, over the fabric that is there."

// nixlEPControl is test_control_plane.py of the same tests.
var nixlEPControl = &tool{
	name: "nixl-ep-control", programs: []string{"test_control_plane.py"},
	doc:   "Read by `weir import nixl-ep`, too. Workload ep_control. " + ofGPUs,
	style: argparse, kind: epcontrol.Kind, native: nixlEPControlRun,
	measures: func(c *call) string { return c.text("test") },
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

// nixlEPElastic is elastic.py of NIXL EP's elastic tests.
var nixlEPElastic = &tool{
	name: "nixl-ep-elastic", programs: []string{"elastic.py"},
	doc: "Read by `weir import nixl-ep`, too. Workload ep_elastic, with the phases of the plan, and assertions on what the test checks itself. " +
		"The test goes through FP8 and BF16 and through kinds of scales one after the other; weir has one of each in a run. " +
		"It moves memory of GPUs over NVLink, and so does the scenario: --memory dram moves the same between host memories.",
	style: argparse, kind: epelastic.Kind, native: nixlEPElasticRun,
	flags: []flag{
		use("plan", text, "", "`phases`: those of the file, which must be there"),
		option("num-tokens", number, "128", "tokens", nil),
		option("num-experts-per-rank", number, "2", "experts_per_rank", nil),
		option("hidden-dim", number, "7168", "hidden", nil),
		option("num-topk", number, "8", "top_k", nil),
		use("timeout-ms", number, "30000", "`silence`, in ms; a process that ends is noticed at once, whatever it is"),
		use("validate-phase-failures", nothing, "", "an assertion on `mask.wrong`"),
		ignore("num-processes", number, "the plan says which ranks there are, and weir starts all of them"),
		ignore("tcp-server", text, "weir's processes find each other without it"),
		row(unavailable, "kineto", nothing, "", "there are no kernels to profile; the page shows each step on a timeline"),
		backendFlags[1],
	},
}

func init() {
	nixlEP.also, nixlEPControl.also = nixlEPControl, nixlEPElastic
	for _, t := range []*tool{nixlEP, nixlEPControl} {
		t.settings, t.processes = nodeSettings, (*call).node
	}
	nixlEPElastic.settings = elasticSettings
}

// nodeSettings takes what the test reads of its environment out of the run's variables: each is a flag
// that the command line may give, too.
func nodeSettings(c *call, _ Options) (settings []setting, err error) {
	var rest []Variable
	for _, v := range c.run.env {
		name, known := map[string]string{
			"WORLD_SIZE": "world-size", "RANK": "rank", "MASTER_ADDR": "master-addr",
		}[v.Name]
		if !known {
			rest = append(rest, v)
			continue
		}
		s := setting{c.tool.flag(name), v.Value, []string{v.Name + "=" + v.Value}}
		if err := s.check(fmt.Sprintf("%s, of variable %s", s.flag.shown(), v.Name)); err != nil {
			return nil, err
		}
		settings = append(settings, s)
	}
	c.run.env = rest
	return settings, nil
}

// elasticSettings keeps the plan's phases for the run.
func elasticSettings(c *call, o Options) ([]setting, error) {
	c.read = o.Read
	return nil, nil
}

func nixlEPElasticRun(c *call) error {
	file := c.text("plan")
	switch {
	case file == "":
		return errors.New("--plan is missing: the file with the phases")
	case c.read == nil:
		return errors.New("--plan: the file is not read here")
	}
	src, err := c.read(file)
	if err != nil {
		return fmt.Errorf("--plan: %w", err)
	}
	phases, err := epelastic.ParsePlan(src)
	if err != nil {
		return fmt.Errorf("--plan %s: %w", file, err)
	}
	c.set("phases", structured(phases.Structure()))
	c.note("--plan: the phases are those that %s had when this was made", file)
	silence, err := c.number("timeout-ms", 1, 600_000)
	if err != nil {
		return err
	}
	c.set("silence", literal(quantity.Time(silence*1e6).String()))
	c.run.assert = literals("wrong_tokens <= 0")
	if c.has("validate-phase-failures") {
		c.run.assert = literals("wrong_tokens <= 0", "mask.wrong <= 0")
	}
	if err := c.setPath(); err != nil {
		return err
	}
	if phases.Lose() && c.run.options["fabric"] == literal("ucx") {
		c.set("api", literal("am"))
		c.note("api am: UCX ends a process whose one-sided write finds its peer gone")
	}
	return nil
}

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
	return c.setPath()
}

func nixlEPRun(c *call) error {
	c.set("timing", literal("stream"))
	if err := c.setRanks(); err != nil {
		return err
	}
	return c.setPath()
}

// setRanks sets the ranks of all nodes, and where they are.
func (c *call) setRanks() error {
	n, err := c.number("num-processes", 1, mostProcesses)
	if err != nil {
		return err
	}
	_, k, err := c.node()
	if err != nil {
		return err
	}
	o, _ := c.run.kind.Option("ranks")
	ranks, err := o.Parse(strconv.FormatInt(n*k, 10))
	if err != nil {
		return fmt.Errorf("--num-processes %d with --world-size %d: %w", n, k, err)
	}
	if ranks != o.Default {
		c.set("ranks", count(n*k))
	}
	if c.run.nodes = k; k > 1 {
		c.run.distinct, c.run.each = true, n
	}
	if c.launch.each > 1 {
		c.warn("%s starts the test %d times on a node; the scenario has what one does", c.launch.by, c.launch.each)
	}
	return nil
}
