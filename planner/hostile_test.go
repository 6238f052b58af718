package planner_test

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"syscall"
	"testing"
	"time"

	"weir/dsl"
	"weir/dsl/format"
	"weir/planner"
)

const (
	hostileSize = 64 << 10
	text        = hostileSize - 100
)

// many repeats a line, in which %[1]d is its number, as often as a hostile file has room for.
func many(line string, room int) string {
	var b strings.Builder
	for i := 0; b.Len() < room-len(line)-16; i++ {
		fmt.Fprintf(&b, line, i)
	}
	return b.String()
}

const (
	head = "scenario: s\nruns:\n"
	run  = "  a:\n    workload: transfer\n    options: {block_size: 4KiB}\n"
	room = hostileSize - 600
)

// sweepRun is a run of 10 000 cases over own axes i and j, which its environment uses.
const sweepRun = "    workload: transfer\n    options: {block_size: 4KiB}\n    env: {I: '${axis.i}', J: '${axis.j}'}\n    sweep: {i: 1..100 +1, j: 1..100 +1}\n"

func listed(item string, n int) string {
	var items []string
	for i := range n {
		items = append(items, fmt.Sprintf(item, i))
	}
	return strings.Join(items, ", ")
}

// hostile are files of at most 64 KiB that ask for as much work as they can. They
// are written in YAML, a few in HCL, and tried in HCL as well where they can be converted.
var hostile = map[string]string{
	"runs":            head + many("  r%d: {workload: transfer, options: {block_size: 4KiB}}\n", room),
	"runs of sweeps":  "scenario: s\ndefaults: {options: {transfer: {block_size: 4KiB}}}\nruns:\n" + many("  r%d: {workload: transfer, env: {I: '${axis.i}'}, sweep: {i: 1..10000 +1}}\n", room),
	"runs of points":  head + many("  r%d: {workload: transfer, sweep: {block_size: 1B..100B +1B, batch: 1..100 +1}}\n", room),
	"raised bounds":   head + many("  r%d: {workload: transfer, sweep: {max_cases: 10000000, block_size: 1B..100B +1B, batch: 1..100 +1, in_flight: 1..100 +1}}\n", room),
	"chain":           head + "  r0: {workload: transfer, options: {block_size: 4KiB}}\n" + chain(),
	"fan in":          head + many("  r%[1]d: {workload: transfer, options: {block_size: 4KiB}}\n", room-8000) + "  z: {workload: transfer, options: {block_size: 4KiB}, needs: [" + listed("r%d", 800) + "]}\n",
	"all to all":      head + allToAll(),
	"wide needs":      head + "  a:\n" + sweepRun + "  b:\n" + strings.NewReplacer("axis.i", "axis.k", "axis.j", "axis.l", "i:", "k:", "j:", "l:").Replace(sweepRun) + "    needs: a\n",
	"many wide needs": head + wideNeeds(),
	"while":           head + "  a:\n" + sweepRun + "  b:\n" + sweepRun + "    while: a\n",
	"whiles":          head + whiles(),

	"too many":        head + "  a:\n    workload: transfer\n    sweep: {block_size: 1B..1000B +1B, batch: 1..1000 +1, in_flight: 1..1000 +1}\n",
	"axes":            head + run + "    sweep:\n      batch: 1..1000 +1\n" + many("      env.A%d: [1]\n", 1000),
	"env axes":        head + run + "    sweep:\n      env.Z: 1..10000 +1\n" + many("      env.A%d: [1]\n", room),
	"env":             head + run + "    sweep: {batch: 1..10000 +1}\n    env:\n" + many("      A%d: x\n", room),
	"axis env":        head + run + "    sweep: {i: 1..10000 +1}\n    env:\n" + many("      A%d: '${axis.i}'\n", room),
	"axis expression": head + run + "    sweep: {i: 1..10000 +1}\n    env: {A: '" + strings.Repeat("${axis.i * 2 + 1}", 960) + "'}\n",
	"long value":      head + run + "    sweep: {batch: 1..10000 +1, env.A: [" + strings.Repeat("x", room) + "]}\n",
	"long axis":       head + run + "    sweep: {batch: 1..10000 +1, env." + strings.Repeat("X", room) + ": [1]}\n",
	"long run":        head + "  " + strings.Repeat("x", room) + ": {workload: transfer, options: {block_size: 4KiB}, sweep: {batch: 1..10000 +1}}\n",
	"long options":    head + run + "    sweep: {batch: 1..10000 +1}\n    env: {A: " + strings.Repeat("x", room) + "}\n",
	"values":          head + run + "    sweep:\n      batch: [" + listed("%d", 9000) + "]\n",
	"zips":            head + run + "    sweep: " + strings.Repeat("{zip: [", 90) + "{batch: [1, 2], in_flight: [1, 2]}" + strings.Repeat("]}", 90) + "\n",
	"products":        head + run + "    sweep: " + strings.Repeat("{product: [", 90) + "{batch: [1, 2], in_flight: [1, 2]}" + strings.Repeat("]}", 90) + "\n",
	"concats":         head + run + "    sweep: " + strings.Repeat("{concat: [", 90) + "{batch: [1, 2], in_flight: [1, 2]}" + strings.Repeat("]}", 90) + "\n",
	"concat":          head + run + "    sweep:\n      concat:\n" + many("        - {batch: [%d], in_flight: 1..10 +1}\n", room),
	"concat doubling": head + run + "    sweep: {concat: [" + strings.Repeat("{batch: 1..10000 +1}, ", 2800) + "{batch: [1]}]}\n",
	"zip":             head + run + "    sweep:\n      batch: 1..100 +1\n      zip:\n" + many("        env.A%d: 1..100 +1\n", room),
	"excludes":        head + run + "    sweep:\n      batch: 1..100 +1\n      in_flight: 1..100 +1\n      exclude:\n" + many("        - {when: batch * in_flight >= %d}\n", room),
	"exclude all but": head + run + "    sweep:\n      batch: 1..100 +1\n      in_flight: 1..100 +1\n      exclude:\n        - {when: batch + in_flight > 2}\n",
	"includes":        head + run + "    sweep:\n      batch: [1]\n      in_flight: [1]\n      include:\n" + many("        - {batch: %d, in_flight: 2}\n", room),
	"costly exclude":  head + run + "    sweep:\n      batch: 1..100 +1\n      in_flight: 1..100 +1\n      exclude:\n        - {when: '" + strings.Repeat("batch * in_flight * batch > 0 and ", 100) + "batch > 3'}\n",
	"costly whens":    head + run + "    sweep:\n      batch: 1..100 +1\n      in_flight: 1..100 +1\n      exclude:\n" + many("        - {when: '"+strings.Repeat("batch * in_flight * batch > 0 and ", 90)+"batch > %d'}\n", room),

	"assertions":          head + run + "    assert:\n" + many("      - bandwidth >= %d\n", room),
	"knobs":               head + run + "    sweep: {batch: 1..100 +1, in_flight: 1..100 +1}\n    assert:\n" + many("      - bandwidth >= (batch * in_flight + %d) * 1B/s\n", room),
	"aggregates":          head + run + "    sweep: {batch: 1..100 +1, in_flight: 1..100 +1}\n    assert:\n" + many("      - max(bandwidth) >= %d\n", room),
	"aggregates over":     head + run + "    sweep: {batch: 1..100 +1, in_flight: 1..100 +1}\n    assert:\n" + many("      - max(bandwidth over batch) >= %d\n", room),
	"aggregate each":      head + run + "    sweep: {batch: 1..100 +1, in_flight: 1..100 +1}\n    assert:\n" + many("      - bandwidth >= max(bandwidth over batch) * 0.%d1\n", room),
	"aggregate all each":  head + run + "    sweep: {batch: 1..100 +1, in_flight: 1..100 +1}\n    assert:\n" + many("      - bandwidth >= max(bandwidth) * 0.%d1\n", room),
	"alls":                head + run + "    sweep: {batch: 1..100 +1, in_flight: 1..100 +1}\n    assert:\n" + many("      - all(bandwidth >= %d)\n", room),
	"all of many":         head + run + "    sweep: {batch: 1..100 +1, in_flight: 1..100 +1}\n    assert:\n      - all(" + listed("bandwidth >= %d", 200) + ")\n",
	"trends":              head + run + "    sweep: {batch: 1..100 +1, in_flight: 1..100 +1}\n    assert:\n" + many("      - {that: bandwidth increases with batch, name: t%d}\n", room),
	"wheres":              head + run + "    sweep: {batch: 1..100 +1, in_flight: 1..100 +1}\n    assert:\n" + many("      - bandwidth >= 1 where batch * in_flight > %d\n", room),
	"baselines":           head + run + "    sweep: {batch: 1..100 +1, in_flight: 1..100 +1}\n    assert:\n" + many("      - bandwidth >= baseline.bandwidth * 0.%d1\n", room),
	"other run":           head + run + "    sweep: {batch: 1..100 +1, in_flight: 1..100 +1}\n  b:\n    workload: transfer\n    options: {block_size: 4KiB}\n    sweep: {batch: 1..100 +1, in_flight: 1..100 +1}\n    assert:\n" + many("      - bandwidth >= run(\"a\").bandwidth * 0.%d1\n", room),
	"other run where":     head + run + "    sweep: {batch: 1..100 +1, in_flight: 1..100 +1}\n  b:\n    workload: transfer\n    options: {block_size: 4KiB}\n        assert:\n" + many("      - bandwidth >= max(run(\"a\", batch * in_flight != %d).bandwidth) * 0.5\n", room),
	"other run aggregate": head + run + "    sweep: {batch: 1..100 +1, in_flight: 1..100 +1}\n  b:\n    workload: transfer\n    options: {block_size: 4KiB}\n    sweep: {batch: 1..100 +1}\n    assert:\n" + many("      - bandwidth >= max(run(\"a\").bandwidth) * 0.%d1\n", room),
	"other run own":       head + run + "    sweep: {batch: 1..10000 +1}\n  b:\n    workload: transfer\n    options: {block_size: 4KiB}\n    sweep: {in_flight: 1..4096 +1}\n    assert:\n      - bandwidth >= run(\"a\", batch == 7).bandwidth * 0.5\n      - bandwidth >= max(run(\"a\", batch < 90).bandwidth) * in_flight\n",

	"references":      "scenario: s\nreferences:\n  a:\n" + many("    - {batch: %[1]d1, bandwidth: 46 GB/s}\n", room) + "runs:\n" + run + "    sweep: {batch: 1..15001 +10, in_flight: 1..6 +1}\n    assert: [bandwidth >= reference.bandwidth, bandwidth <= reference.bandwidth * 2, bandwidth >= reference.bandwidth * 0.1, bandwidth >= reference.bandwidth * 0.2]\n",
	"reference each":  "scenario: s\nreferences:\n  a:\n" + many("    - {batch: %[1]d1, in_flight: 1, bandwidth: 46 GB/s}\n", room) + "runs:\n" + run + "    sweep: {batch: 1..100 +1, in_flight: 1..100 +1}\n    assert: [bandwidth >= reference.bandwidth]\n",
	"reference lists": "scenario: s\nreferences:\n  a:\n" + many("    - {in_flight: 1, batch: %[1]d1, bandwidth: 46 GB/s}\n", room/2) + "runs:\n" + run + "    sweep: {batch: 1..100 +1, in_flight: 1..100 +1}\n    assert:\n" + many("      - bandwidth >= reference.bandwidth * 0.%d1 where in_flight == 1 and batch < 500\n", room/2),

	"numbers as text":  variables("n", "'1e9${\"0\"}000'", room),
	"tower":            "scenario: s\nvariables:\n  n: {default: '${1e300 * 1e300 * 1e300 * " + strings.Repeat("1e300 * ", 1000) + "1}'}\nruns:\n" + run,
	"pow":              "scenario: s\nvariables:\n  n: {default: '${pow(10, 100000) * pow(pow(10, 300), pow(10, 300))}'}\nruns:\n" + run,
	"number text":      "scenario: s\nvariables:\n  n: {default: '${\"1e${\"99999999\"}\" * 1}'}\nruns:\n" + run,
	"format number":    "scenario: s\nvariables:\n  n: {default: '${format(\"%d\", \"1e${\"9999999\"}\")}'}\nruns:\n" + run,
	"join number":      "scenario: s\nvariables:\n  n: {default: '${join(\"\", [\"1e\", \"99999999\"]) + 1}'}\nruns:\n" + run,
	"floor number":     "scenario: s\nvariables:\n  n: {default: '${floor(\"1e${\"99999999\"}\")}'}\nruns:\n" + run,
	"int number":       "scenario: s\nvariables:\n  n: {default: '${int(\"1e${\"-99999999\"}\")}'}\nruns:\n" + run,
	"modulo number":    "scenario: s\nvariables:\n  n: {default: '${\"1e${\"99999999\"}\" % 7}'}\nruns:\n" + run,
	"replaced number":  "scenario: s\nvariables:\n  n: {default: '${replace(\"1x99999999\", \"x\", \"e\") * 3}'}\nruns:\n" + run,
	"parseint":         "scenario: s\nvariables:\n  n: {default: '${parseint(\"" + strings.Repeat("9", room) + "\", 10) * 3}'}\nruns:\n" + run,
	"concat functions": "scenario: s\nvariables:\n  n: {type: list, default: '${concat(" + strings.TrimSuffix(strings.Repeat("[1],", 3_900), ",") + ")}'}\nruns:\n" + run,
	"nested concats":   "scenario: s\nvariables:\n  n: {type: list, default: '${" + nested("concat(", "[1, 2, 3]", ", [\"a\", 1, {b: 1}, {c: 2}])", 150) + "}'}\nruns:\n" + run,
	"concat tuples":    "scenario: s\nvariables:\n  n: {default: '${length(concat(" + strings.TrimSuffix(strings.Repeat("["+listed("%d", 900)+"], ", 3), ", ") + "))}'}\nruns:\n" + run,
	"join concats":     "scenario: s\nvariables:\n  n: {default: '${join(\"\", concat(" + strings.TrimSuffix(strings.Repeat("["+strings.Repeat("1,\"a\",", 160)+"1], ", 15), ", ") + "))}'}\nruns:\n" + run,
	"for squared":      "scenario: s\nvariables:\n  n: {default: '${length([for a in [" + listed("%d", 900) + "]: [for b in [" + listed("%d", 900) + "]: a * b]])}'}\nruns:\n" + run,
	"for grown":        "scenario: s\nvariables:\n  n: {default: '${join(\"\", [for a in [" + listed("%d", 900) + "]: \"" + strings.Repeat("x", 8_000) + "\"])}'}\nruns:\n" + run,
	"for grown twice":  "scenario: s\nvariables:\n  n: {default: '${join(\"\", [for a in [" + listed("%d", 900) + "]: join(\"\", [for b in [" + listed("%d", 900) + "]: \"" + strings.Repeat("x", 1000) + "\"])])}'}\nruns:\n" + run,
	"replace":          "scenario: s\nvariables:\n  n: {default: '${" + nested("replace(", "\"xxxxxxxxxx\"", ", \"x\", \"xxxxxxxxxx\")", 90) + "}'}\nruns:\n" + run,
	"format":           "scenario: s\nvariables:\n  n: {default: '${format(\"" + strings.Repeat("%999d", 1_500) + "\"" + strings.Repeat(", 1", 1_500) + ")}'}\nruns:\n" + run,
	"format one":       "scenario: s\nvariables:\n  n: {default: '${format(\"" + strings.Repeat("%[1]999d", 1_700) + "\", 1)}'}\nruns:\n" + run,
	"formats":          "scenario: s\nvariables:\n  n: {default: '${" + nested("format(\"%[1]s%[1]s\", ", "\"x\"", ")", 60) + "}'}\nruns:\n" + run,
	"many replaces":    "scenario: s\nvariables:\n" + many("  n%d: {default: '${replace(\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\", \"x\", replace(\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\", \"x\", replace(\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxx\", \"x\", \"xxxxxxxxxxxxxxxxxxxxx\")))}'}\n", room) + "runs:\n" + run,
	"split":            "scenario: s\nvariables:\n  n: {default: '${length(split(\"\", replace(\"" + strings.Repeat("x", 1000) + "\", \"x\", \"" + strings.Repeat("x", 1000) + "\")))}'}\nruns:\n" + run,
	"splits":           "scenario: s\nvariables:\n  n: {default: '${length(split(\"a\", \"" + strings.Repeat("a", room) + "\"))}'}\nruns:\n" + run,
	"text use":         "scenario: s\nvariables:\n  n: {default: " + strings.Repeat("x", room/2) + "}\nruns:\n" + run + "    env: {A: '" + strings.Repeat("${var.n}", 2000) + "'}\n",
	"text uses":        "scenario: s\nvariables:\n  n: {default: " + strings.Repeat("x", room/2) + "}\nruns:\n" + run + "    env:\n" + many("      E%d: '${var.n}${var.n}'\n", room/2),
	"text axis uses":   "scenario: s\nvariables:\n  n: {default: " + strings.Repeat("x", room/2) + "}\nruns:\n" + run + "    sweep: {i: 1..10000 +1}\n    env: {A: '${var.n}${axis.i}'}\n",
	"text of axis":     "scenario: s\nvariables:\n  n: {default: x}\nruns:\n" + run + "    sweep: {i: 1..10000 +1}\n    env: {A: '" + strings.Repeat("${axis.i}", 1600) + "'}\n",
	"template depth":   "scenario: s\ndescription: '" + strings.Repeat("${\"", room/6) + strings.Repeat("\"}", room/6) + "'\nruns:\n" + run,
	"parentheses":      "scenario: s\ndescription: '${" + strings.Repeat("(", 190) + "1" + strings.Repeat(")", 190) + "}'\nruns:\n" + run,
	"ternaries":        "scenario: s\ndescription: '${" + strings.Repeat("true ? 1 : ", room/12) + "1}'\nruns:\n" + run,
	"variables":        "scenario: s\nvariables:\n" + many("  v%d: {default: x}\n", room/2) + "runs:\n" + run + "    env:\n" + many("      E%d: '${var.v1}'\n", room/2),
	"unknown names":    "scenario: s\nvariables:\n" + many("  v%d: {default: x}\n", room/2) + "runs:\n" + run + "    env:\n" + many("      E%[1]d: '${var.w%[1]d}'\n", room/2),
	"unknown keys":     head + run + many("    key%d: 1\n", room),
	"unknown options":  head + "  a:\n    workload: transfer\n    options:\n" + many("      option%d: 1\n", room),
	"unknown needs":    head + many("  r%[1]d: {workload: transfer, needs: s%[1]d}\n", room),
	"unknown long":     head + run + many("    "+strings.Repeat("k", 5000)+"%d: 1\n", room),
	"list default":     "scenario: s\nvariables:\n  n: {type: list, default: [" + listed("%d", 9_000) + "]}\nruns:\n" + run + "    sweep: {batch: '${var.n}'}\n",
	"list uses":        "scenario: s\nvariables:\n  n: {type: list, default: [" + listed("%d", 4_000) + "]}\nruns:\n" + run + "    env:\n" + many("      E%d: '${length(var.n)}'\n", room/2),
	"list joins":       "scenario: s\nvariables:\n  n: {type: list, default: [" + listed("%d", 4_000) + "]}\nruns:\n" + run + "    env:\n" + many("      E%d: '${join(\"\", var.n)}'\n", room/2),
	"list loops":       "scenario: s\nvariables:\n  n: {type: list, default: [" + listed("%d", 4_000) + "]}\nruns:\n" + run + "    env:\n" + many("      E%d: '${length([for a in var.n: [for b in var.n: a]])}'\n", room/2),
	"validations":      "scenario: s\nvariables:\n  n:\n    default: 1\n    validation:\n" + many("      - {condition: var.n == 1, message: m%d}\n", room) + "runs:\n" + run,
	"commands":         "scenario: s\nsetup:\n" + many("  - [echo, x%d]\n", room/2) + "runs:\n" + many("  r%d: {workload: transfer, options: {block_size: 4KiB}}\n", room/2),
	"run commands":     "scenario: s\nsetup:\n" + many("  - {name: n%d, command: [echo], scope: run}\n", room/2) + "runs:\n" + many("  r%d: {workload: transfer, options: {block_size: 4KiB}}\n", room/2),
	"defaults env":     "scenario: s\ndefaults:\n  env:\n" + many("    E%d: x\n", room/2) + "runs:\n" + many("  r%d: {workload: transfer, options: {block_size: 4KiB}}\n", room/2),
	"checks":           "scenario: s\nchecks:\n" + many("  c%d: [echo]\n", room) + "runs:\n" + run,
	"aliases":          "scenario: s\na: &a [x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nruns: [*c, *c, *c, *c, *c, *c, *c]\n",
	"merge keys":       "scenario: s\nruns:\n  a: &a {workload: transfer, options: {block_size: 4KiB}}\n" + many("  r%d: {<<: *a}\n", room),
	"comments":         head + run + many("# comment %d\n", room),
	"empty lines":      head + run + strings.Repeat("\n", room),
	"block":            head + run + "    env:\n      A: |\n" + many("        line %d\n", room),
	"folded":           head + run + "    env:\n      A: >\n" + many("        line %d\n\n", room),
	"long key":         head + run + "    " + strings.Repeat("k", room) + ": 1\n",
	"escapes":          head + run + "    env: {A: \"" + strings.Repeat(`\n`, room/2) + "\"}\n",
	"dollars":          head + run + "    env: {A: \"" + strings.Repeat(`$${`, room/3) + "\"}\n",
	"quotes":           "scenario: s\ndescription: '" + strings.Repeat("''", room/2) + "'\nruns:\n" + run,
	"includes files":   "scenario: s\ninclude:\n" + many("  - {file: b.yaml, as: n%d}\n", room) + "runs:\n" + run,
	"include fan":      "scenario: s\ninclude: [a1.yaml, a2.yaml, a3.yaml, a4.yaml, a5.yaml, a6.yaml, a7.yaml, a8.yaml]\nruns:\n" + run,
	"include self":     "scenario: s\ninclude: a1.yaml\nruns:\n" + run,
	"wide text":        "scenario: s\ndescription: " + strings.Repeat("é", room/2) + "\nruns:\n" + run,
	"columns":          "scenario: s\nruns: {" + many("r%d: {workload: transfer, options: {block_size: 4KiB}}, ", room) + "}\n",
	"one line errors":  "scenario: s\nruns: {" + many("r%d: {workload: transfer, optio: {block_size: 4KiB}}, ", room) + "}\n",
	"one line asserts": "scenario: s\nruns: {a: {workload: transfer, options: {block_size: 4KiB}, assert: [" + many("bandwdth >= %d, ", room) + "]}}\n",

	"long list":          "scenario: x\nextra: [" + strings.Repeat("a,", text/2) + "]",
	"commented list":     "scenario: x\nextra:\n" + strings.Repeat(" - a # b\n", text/9),
	"deep":               "scenario: x\nextra: " + strings.Repeat("[", 60) + strings.Repeat("a, ", text/3-60) + strings.Repeat("]", 60),
	"many aliases":       "scenario: x\na: &a {b: " + strings.Repeat("c", 20_000) + "}\nextra: [" + strings.Repeat("*a,", 12_000) + "]",
	"bare comments":      "scenario: x\n" + strings.Repeat("#\n", text/2),
	"quoted list":        "scenario: x\nextra: [" + strings.Repeat(`"a b",`, text/6) + "]",
	"template list":      "scenario: x\nextra: [" + strings.Repeat(`"${a}",`, text/7) + "]",
	"question marks":     "scenario: x\nextra:\n" + strings.Repeat("  ? a\n", text/6),
	"hcl comments":       "scenario \"x\" {\n" + strings.Repeat("# c\n", text/4) + "}",
	"hcl list":           "scenario \"x\" {\na = [" + strings.Repeat("b,", text/2) + "]\n}",
	"hcl commented list": "scenario \"x\" {\na = [" + strings.Repeat("b, # c\n", text/7) + "]\n}",
	"hcl empty lines":    "scenario \"x\" {" + strings.Repeat("\n", text) + "}",
}

func variables(name, value string, room int) string {
	return "scenario: s\nvariables:\n" + many("  "+name+"%d: {default: "+value+"}\n", room) + "runs:\n" + run
}

func nested(open, inner, end string, n int) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
}

func chain() string {
	var b strings.Builder
	for i := 1; b.Len() < room; i++ {
		fmt.Fprintf(&b, "  r%d: {workload: transfer, options: {block_size: 4KiB}, needs: r%d}\n", i, i-1)
	}
	return b.String()
}

// allToAll are layers of runs of which each needs all of the layer before.
func allToAll() string {
	var b strings.Builder
	for layer := 0; b.Len() < room-20_000; layer++ {
		for i := range 40 {
			needs := ""
			if layer > 0 {
				needs = ", needs: [" + listed(fmt.Sprintf("l%dr%%d", layer-1), 40) + "]"
			}
			fmt.Fprintf(&b, "  l%dr%d: {workload: transfer, options: {block_size: 4KiB}%s}\n", layer, i, needs)
		}
	}
	return b.String()
}

func wideNeeds() string {
	var b strings.Builder
	for i := 0; b.Len() < room-300; i++ {
		fmt.Fprintf(&b, "  r%d: {workload: transfer, options: {block_size: 4KiB}, sweep: {batch: 1..100 +1, env.A%d: 1..100 +1}", i, i)
		if i > 0 {
			fmt.Fprintf(&b, ", needs: r%d", i-1)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func whiles() string {
	var b strings.Builder
	for i := 0; b.Len() < room-300; i += 2 {
		fmt.Fprintf(&b, "  r%d: {workload: transfer, options: {block_size: 4KiB}, sweep: {env.A: 1..100 +1}}\n", i)
		fmt.Fprintf(&b, "  r%d: {workload: transfer, options: {block_size: 4KiB}, sweep: {env.A: 1..100 +1}, while: r%d}\n", i+1, i)
	}
	return b.String()
}

func neighbours(path string) ([]byte, error) {
	if !strings.HasSuffix(path, ".yaml") {
		return nil, fs.ErrNotExist
	}
	if strings.HasPrefix(path, "a") {
		return []byte("scenario: a\ninclude: [a1.yaml, a2.yaml, a3.yaml]\n" + head[len("scenario: s\n"):] + many("  "+strings.TrimSuffix(path, ".yaml")+"r%d: {workload: transfer, options: {block_size: 4KiB}}\n", room)), nil
	}
	return []byte(head + many("  b%d: {workload: transfer, options: {block_size: 4KiB}}\n", room)), nil
}

// effort is what something took of processor time, and the largest heap beside it.
func effort(do func()) (time.Duration, uint64) {
	runtime.GC()
	heap := func() uint64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before := heap()
	most := before
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				most = max(most, heap())
			}
		}
	}()
	start := processorTime()
	do()
	took := processorTime() - start
	most = max(most, heap())
	close(done)
	<-stopped
	return took, most - before
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestNoInputTakesLong: a file of 64 KiB is read, planned, formatted and converted
// within a second of processor time and 200 MB, or refused. The limits here
// leave room for machines that are slower or busy. With WEIR_BOUNDS=once a file is tried
// in the syntax that it is written in only.
func TestNoInputTakesLong(t *testing.T) {
	if raceFactor > 1 || testing.Short() {
		t.Skip("the bounds are those of a program without the race detector; make bounds tries them")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	only := os.Getenv("HOSTILE")
	for name, src := range hostile {
		if only != "" && only != name {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if len(src) > hostileSize {
				t.Fatalf("the file has %d bytes", len(src))
			}
			file := "s.yaml"
			if strings.HasPrefix(src, `scenario "`) {
				file = "s.hcl"
			}
			for {
				said := ""
				within(t, file+" plan", func() {
					s, _, diags := dsl.Load(file, []byte(src), dsl.Options{Env: func(string) (string, bool) { return "", false }, Read: neighbours})
					if s != nil {
						var table *planner.Table
						if table, diags = planner.Tabulate(s); table != nil {
							said = fmt.Sprint(table.Len(), " cases")
						}
					}
					if diags.HasErrors() {
						said = fmt.Sprintf("%d errors: %.200s", len(diags), diags[0].Summary+": "+diags[0].Detail)
					}
				})
				t.Log(said)
				within(t, file+" fmt", func() { format.Format(file, []byte(src)) })
				var converted []byte
				to := map[string]string{"s.yaml": format.HCL, "s.hcl": format.YAML}[file]
				within(t, file+" convert", func() { converted, _ = format.Convert(file, []byte(src), to) })
				if file == "s.hcl" || converted == nil || os.Getenv("WEIR_BOUNDS") == "once" {
					return
				}
				file, src = "s.hcl", string(converted)
			}
		})
	}
}

func within(t *testing.T, what string, do func()) {
	t.Helper()
	took, heap := effort(do)
	t.Logf("%s: %v, %d MB", what, took.Round(time.Millisecond), heap>>20)
	if took > 4*time.Second || heap > 400<<20 {
		t.Errorf("%s takes %v and %d MB", what, took, heap>>20)
	}
}
