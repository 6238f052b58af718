package importer

import (
	"strings"

	"github.com/weir-bench/weir/workload/sequence"
	"github.com/weir-bench/weir/workload/traffic"
)

// Tools of which a scenario runs the program, and the generator and the test of matrices.
var (
	fio                  = &tool{name: "fio", command: fioCommand}
	ncclTests            = &tool{name: "nccl-tests", command: ncclTestsCommand}
	matgen               = &tool{name: "matgen", kind: sequence.Kind, native: matgenRun}
	sequentialCTPerftest = &tool{
		name: "sequential-ct-perftest", kind: sequence.Kind, native: sequentialCTPerftestRun,
		nodes: nodesOfLauncher,
	}
	ctPerftest = &tool{
		name: "ct-perftest", kind: traffic.Kind, native: ctPerftestRun, nodes: nodesOfLauncher,
	}
)

// matgenFields maps flags of inference_workload_matgen.py to members of generate.
var matgenFields = map[string]string{
	"num-user-requests": "requests", "num-prefill-nodes": "prefill_nodes", "num-decode-nodes": "decode_nodes",
	"ppn": "gpus_per_node", "max-batch-mem": "max_batch_memory",
}

func matgenRun(c *call) {
	var generate mapping
	c.run.makes = "matrices"
	mean, scale := "", ""
	for i := range c.tool.Flags {
		f := &c.tool.Flags[i]
		v, given := c.get(f)
		name := f.Names[0]
		switch {
		case !given:
		case name == "results-dir":
			c.run.makes = strings.NewReplacer("$PWD", ".", "${PWD}", ".").Replace(v)
		case unexpanded(v):
			c.fail("%s: %q%s", f.shown(), v, ofShell(v))
		case name == "isl-mean":
			mean = v
		case name == "isl-scale":
			scale = v
		case matgenFields[name] != "":
			generate = append(generate, pair{matgenFields[name], literal(v)})
		default:
			generate = append(generate, pair{strings.ReplaceAll(name, "-", "_"), literal(v)})
		}
	}
	if mean != "" || scale != "" {
		generate = append(generate, pair{"isl", literal("normal:" + or(mean, "16000") + "," + or(scale, "10000"))})
	}
	c.run.options["generate"] = generate
	c.note("the scenario generates the matrices itself; weir matgen with the same flags writes them to %s", c.run.makes)
	setMatrixMemory(c)
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
