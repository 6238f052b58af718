package importer

import (
	"slices"
	"strconv"
	"strings"
)

// ncclFlags are flags of nccl-tests that decide which rows a table has, with their defaults.
var ncclFlags = []struct{ short, long, initial string }{
	{"b", "minbytes", "32M"}, {"e", "maxbytes", "32M"}, {"f", "stepfactor", "1"}, {"i", "stepbytes", "1M"},
	{"t", "nthreads", "1"}, {"g", "ngpus", "1"}, {"d", "datatype", "float"}, {"o", "op", "sum"}, {"r", "root", "0"},
	{"N", "run_cycles", "1"},
}

// ncclTestsCommand runs the whole command line, with its launcher: its processes find each other through it.
func ncclTestsCommand(c *call) {
	c.run.command = true
	c.run.options["roles"] = mapping{{"test", mapping{{"command", c.wholeWords()}}}}
	parse := mapping{{"of", literal("test")}, {"format", literal("nccl-tests")}}
	if sizes := c.ncclSizes(); len(sizes) > 1 {
		parse = append(parse, pair{"rows", literal("block_size")})
		c.run.sweep = mapping{{"block_size", sizes}}
	}
	c.run.options["parse"] = parse
	c.note("weir runs %s itself: it has no collectives", c.program())
}

// mostRows is how many rows of a table become cases.
const mostRows = 1024

// ncclSizes returns the sizes of the rows.
func (c *call) ncclSizes() (all list) {
	value := map[string]string{}
	for _, f := range ncclFlags {
		if value[f.short] = getoptValue(c.positional, f.short, f.long); value[f.short] == "" {
			value[f.short] = f.initial
		}
	}
	test := strings.TrimSuffix(strings.TrimSuffix(c.program(), "_mpi"), "_perf")
	for _, several := range []struct{ flag, all, of string }{
		{"d", "all", test}, {"o", "all", "all_reduce reduce reduce_scatter"},
		{"r", "-1", "broadcast reduce gather scatter"}, {"r", "all", "broadcast reduce gather scatter"},
	} {
		if value[several.flag] == several.all && slices.Contains(strings.Fields(several.of), test) {
			c.fail("-%s %s: a size has several rows, and a case has one: write a line for each, or a loop over them",
				several.flag, several.all)
		}
	}
	if value["N"] != "1" {
		c.fail("-N %s: a size has several rows, and a case has one: weir repeats launches itself", value["N"])
	}
	from, to, step := binarySize(value["b"]), binarySize(value["e"]), binarySize(value["i"])
	factor, err := strconv.ParseInt(value["f"], 0, 64)
	if err != nil || from < 1 || factor < 2 && step < 1 {
		return nil
	}
	unit := c.ncclUnit(test, value, from < to)
	seen := map[int64]bool{}
	for n := from; n <= to; {
		switch rounded := n / unit * unit; {
		case rounded == 0: // which is no result
		case seen[rounded] || len(all) == mostRows:
			c.fail("sizes from %s to %s: two rows have the size %d, or there are more than %d: give -f 2, or greater "+
				"steps", value["b"], value["e"], rounded, mostRows)
			return nil
		default:
			seen[rounded] = true
			all = append(all, literal(strconv.FormatInt(rounded, 10)))
		}
		if factor > 1 {
			n *= factor
		} else {
			n += step
		}
	}
	return all
}

// ncclWords are the bytes of an element of each type.
var ncclWords = map[string]int64{
	"int8": 1, "char": 1, "uint8": 1, "f8e4m3": 1, "f8e5m2": 1, "fp8_e4m3": 1, "fp8_e5m2": 1,
	"half": 2, "bfloat16": 2, "int32": 4, "int": 4, "uint32": 4, "float": 4, "int64": 8, "uint64": 8, "double": 8,
}

// ncclUnit is what the size of a row is a multiple of: of an element, or where ranks share the size, of 16 bytes for
// each of them.
func (c *call) ncclUnit(test string, value map[string]string, swept bool) int64 {
	word := ncclWords[value["d"]]
	if slices.Contains(names("all_reduce|broadcast|reduce|sendrecv"), test) || !swept {
		return max(1, word)
	}
	processes := c.launch.all
	switch {
	case c.launch.by == "":
		processes = 1
	case processes == 0:
		processes = c.launch.nodes * c.launch.each
	}
	threads, _ := strconv.ParseInt(value["t"], 0, 64)
	gpus, _ := strconv.ParseInt(value["g"], 0, 64)
	splits := slices.ContainsFunc(c.run.env, func(v Variable) bool {
		return strings.HasPrefix(v.Name, "NCCL_TESTS_SPLIT")
	})
	if processes*threads*gpus < 1 || splits {
		c.fail("%s rounds sizes down to multiples of 16 bytes for each rank, and the number of ranks is not known: write "+
			"the launcher's number of processes, -t and -g", c.program())
		return 1
	}
	return processes * threads * gpus * 16
}

// getoptValue returns the last value of a flag as getopt_long reads it: -x VALUE, -xVALUE, --name VALUE, --name=VALUE,
// or with the beginning of the name; "": it is not given.
func getoptValue(words []string, short, long string) (value string) {
	for i := 0; i < len(words); i++ {
		name, own, joined := strings.Cut(words[i], "=")
		name, isLong := strings.CutPrefix(name, "--")
		switch {
		case isLong && len(name) > 1 && strings.HasPrefix(long, name) && joined:
			value = own
			continue
		case isLong && len(name) > 1 && strings.HasPrefix(long, name), words[i] == "-"+short:
		case !isLong && strings.HasPrefix(words[i], "-"+short):
			value = words[i][1+len(short):]
			continue
		default:
			continue
		}
		if i++; i < len(words) {
			value = words[i]
		}
	}
	return value
}

// binarySize reads a number with a K, M or G of 1024; 0 if it is none.
func binarySize(text string) int64 {
	factor := 1.0
	for i, suffix := range "KMG" {
		if cut, ok := strings.CutSuffix(strings.ToUpper(text), string(suffix)); ok {
			text, factor = cut, float64(int64(1)<<(10*(i+1)))
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0) || n*factor > mostBytes {
		return 0
	}
	return int64(n * factor)
}
