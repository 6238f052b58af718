package importer

import (
	"strconv"
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

func fioCommand(c *call) {
	all := literals(c.path)
	for i := 0; i < len(c.positional); i++ {
		name, value, joined := strings.Cut(c.positional[i], "=")
		switch name {
		case "-":
			c.fail("fio -: jobs of the standard input are not imported; write them to a file")
			return
		case "--output-format", "--output":
			if !joined && i+1 < len(c.positional) {
				i++
				value = c.positional[i]
			}
			if name == "--output" {
				c.note("--output %s: left out, since weir reads the standard output of fio", value)
			}
		case "--minimal", "--append-terse":
			c.note("%s: left out, since weir reads JSON", name)
		default:
			all = append(all, literal(c.positional[i]))
		}
	}
	c.run.command = true
	c.run.options["roles"] = mapping{{"fio", mapping{{"command", append(all, literal("--output-format=json"))}}}}
	c.run.options["parse"] = mapping{{"of", literal("fio")}, {"format", literal("fio")}}
	c.note("weir runs fio itself: it does not measure storage")
}

// ncclTestsCommand runs the whole command line, with its launcher: its processes find each other through it.
func ncclTestsCommand(c *call) {
	c.run.command = true
	c.run.options["roles"] = mapping{{"test", mapping{{"command", literals(c.whole...)}}}}
	parse := mapping{{"of", literal("test")}, {"format", literal("nccl-tests")}}
	if sizes := ncclSizes(c.positional); len(sizes) > 1 {
		parse = append(parse, pair{"rows", literal("block_size")})
		c.run.sweep = mapping{{"block_size", sizes}}
	}
	c.run.options["parse"] = parse
	c.note("weir runs %s itself: it has no collectives", c.program())
}

// ncclSizes returns the sizes of -b, -e and -f.
func ncclSizes(words []string) (all list) {
	value := map[string]string{"b": "32M", "e": "32M", "f": "1"}
	names := map[string]string{
		"-b": "b", "--minbytes": "b", "-e": "e", "--maxbytes": "e", "-f": "f", "--stepfactor": "f",
	}
	for i := range words {
		name, own, joined := strings.Cut(words[i], "=")
		if key := names[name]; key != "" && joined {
			value[key] = own
		} else if key != "" && i+1 < len(words) {
			value[key] = words[i+1]
		}
	}
	from, to := binarySize(value["b"]), binarySize(value["e"])
	factor, err := strconv.ParseInt(value["f"], 10, 64)
	for n := from; err == nil && factor > 1 && from > 0 && n <= to && len(all) < 64; n *= factor {
		all = append(all, literal(strconv.FormatInt(n, 10)))
	}
	return all
}

// binarySize reads a number with a K, M or G of 1024; 0 if it is none.
func binarySize(text string) int64 {
	factor := int64(1)
	for i, suffix := range "KMG" {
		if cut, ok := strings.CutSuffix(strings.ToUpper(text), string(suffix)); ok {
			text, factor = cut, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n * factor
}

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
