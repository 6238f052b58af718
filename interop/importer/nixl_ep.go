package importer

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload/ep"
	"github.com/weir-bench/weir/workload/epcontrol"
	"github.com/weir-bench/weir/workload/epelastic"
)

var (
	// nixlEP is test_data_plane.py of NIXL EP's performance tests.
	nixlEP = &tool{
		name: "nixl-ep", also: nixlEPControl, kind: ep.Kind, native: nixlEPRun, settings: nodeSettings,
		processes: (*call).node, measures: func(c *call) string { return c.text("mode") },
	}
	// nixlEPControl is test_control_plane.py of the same tests.
	nixlEPControl = &tool{
		name: "nixl-ep-control", also: nixlEPElastic, kind: epcontrol.Kind, native: nixlEPControlRun,
		settings: nodeSettings, processes: (*call).node, measures: func(c *call) string { return c.text("test") },
	}
	// nixlEPElastic is elastic.py of NIXL EP's elastic tests.
	nixlEPElastic = &tool{
		name: "nixl-ep-elastic", kind: epelastic.Kind, native: nixlEPElasticRun,
	}
)

// nodeSettings removes variables that the test reads from the run's environment, and returns them
// as flags.
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

func nixlEPElasticRun(c *call) {
	file := c.text("plan")
	switch {
	case file == "":
		c.fail("--plan is missing: the file with the phases")
		return
	case c.read == nil:
		c.fail("--plan: the file is not read here")
		return
	}
	src, err := c.read(file)
	if err != nil {
		c.fail("--plan: %w", err)
		return
	}
	phases, err := epelastic.ParsePlan(src)
	if err != nil {
		c.fail("--plan %s: %w", file, err)
		return
	}
	c.set("phases", structured(phases.Structure()))
	c.note("--plan: the phases are those of %s at the time of the import", file)
	silence := c.number("timeout-ms", 1, 600_000)
	c.set("silence", literal(quantity.Time(silence*1e6).String()))
	c.run.assert = literals("wrong_tokens <= 0")
	if c.has("validate-phase-failures") {
		c.run.assert = literals("wrong_tokens <= 0", "mask.wrong <= 0")
	}
	c.setPath()
	if phases.Lose() && c.run.options["fabric"] == literal("ucx") {
		c.set("api", literal("am"))
		c.note("api am: with one-sided writes, UCX ends a process after its peer is gone")
	}
}

func nixlEPControlRun(c *call) {
	c.setRanks()
	var values []int64
	for _, word := range strings.Split(c.text("experts-per-rank"), ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(word), 10, 64)
		if err != nil || n < 1 {
			c.fail("--experts-per-rank: %q is not a list of numbers", c.text("experts-per-rank"))
		}
		values = append(values, n)
	}
	c.run.points("experts_per_rank", values, count)
	c.setPath()
}

func nixlEPRun(c *call) {
	c.set("timing", literal("stream"))
	c.setRanks()
	c.setPath()
}

// setRanks sets the number of ranks on all nodes, and their placement.
func (c *call) setRanks() {
	n := c.number("num-processes", 1, mostProcesses)
	_, k := c.node()
	o, _ := c.run.kind.Option("ranks")
	ranks, err := o.Parse(strconv.FormatInt(n*k, 10))
	if err != nil {
		c.fail("--num-processes %d with --world-size %d: %w", n, k, err)
	}
	if ranks != o.Default {
		c.set("ranks", count(n*k))
	}
	if c.run.nodes = k; k > 1 {
		c.run.distinct, c.run.each = true, n
	}
	if c.launch.each > 1 {
		c.warn("%s starts the test %d times on a node; the scenario has only one of them", c.launch.by, c.launch.each)
	}
}
