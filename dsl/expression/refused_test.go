package expression

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/serving"
	"github.com/weir-bench/weir/workload/transfer"
)

// Other names of metrics lead to those that a workload has.
func TestUsualNamesOfMetrics(t *testing.T) {
	for _, c := range []struct {
		kind       *workload.Kind
		name, hint string
	}{
		{transfer.Kind, "throughput", "did you mean bandwidth?"},
		{transfer.Kind, "iops", "did you mean message_rate?"},
		{transfer.Kind, "p99", "did you mean latency.p99?"},
		{serving.Kind, "throughput", "did you mean output_throughput?"},
		{serving.Kind, "qps", "did you mean request_rate?"},
		{serving.Kind, "request_throughput", "did you mean request_rate?"},
	} {
		if _, err := (&Names{Kind: c.kind}).Assertion(c.name + " >= 5"); err == nil || err.Hint != c.hint {
			t.Errorf("%s of %s: %v", c.name, c.kind.Name, err)
		}
	}
	for name, all := range usualNames {
		for _, meant := range all {
			known := func(k *workload.Kind) bool {
				_, whole := workload.FindMetric(k.Metrics, meant)
				_, family := workload.FindMetric(k.Metrics, meant+".p50")
				return whole || family
			}
			if !known(transfer.Kind) && !known(serving.Kind) {
				t.Errorf("%s leads to %s, which is no metric", name, meant)
			}
		}
	}
}

// Each text is refused at exactly the characters between « », with a message and a hint that
// contain the given words.
func TestRefusedAssertions(t *testing.T) {
	n, _ := rich()
	for _, c := range []struct{ marked, message, hint string }{
		{"bandwidth >= 1 GB/s «wher» block_size == 4KiB", "unexpected", "did you mean where?"},
		{"bandwidth >= 1 GB/s «if» block_size == 4KiB", `"if" has no meaning`, "write where"},
		{"bandwidth >= 5 where fabric == «tpc»", "no option or axis tpc", `quotes: fabric == "tcp"`},
		{"bandwidth >= 5 where block_size == «tpc»", "no option", ""},
		{"«latency.99» <= 1ms", `no metric "latency.99"`, "did you mean latency.p99?"},
		{"«latency.99th» <= 1ms", `no metric "latency.99th"`, "did you mean latency.p99?"},
		{"«latency.p99.9» <= 1ms", `no metric "latency.p99.9"`, "did you mean latency.p999?"},
		{"bandwidth «rises» with block_size", "unexpected", "did you mean increases?"},
		{"latency.p50 «drops» with block_size", "unexpected", "did you mean decreases?"},
		{"bandwidth «is» above 5 GB/s", "unexpected", ">= or <="},
		{"bandwidth «at» least 5 GB/s", "unexpected", "`>=` for at least"},
		{"bandwidth «whatever» 5 GB/s", "unexpected", "an assertion is one of"},
		{"bandwidth >= 1 GB/«S»", "no metric", "GB/s"},
		{"bandwidth >= 0.97 * «base.bandwidth»", "no metric", "did you mean baseline.bandwidth?"},
		{"bandwidth >= 0.97 * «refrence.bandwidth»", "no metric", "did you mean reference.bandwidth?"},
		// other runs
		{`bandwidth >= run(«"tpc"»).bandwidth`, `no run "tpc"`,
			`did you mean "tcp"? The other runs are far, single, tcp, wide`},
		{`bandwidth >= run("tcp").«bandwith»`, `no metric "bandwith"`, `did you mean "bandwidth"?`},
		{`bandwidth >= 0.9 * «run("tcp")»`, `no metric follows run("tcp")`, `run("NAME").METRIC`},
		{`bandwidth >= «run("tcp")».5`, "no metric follows", ""},
		{`bandwidth >= run(«tcp»).bandwidth`, "in quotes", `run("NAME").METRIC`},
		{`bandwidth >= run(«)».bandwidth`, "in quotes", ""},
		{`bandwidth >= run«(»`, "in quotes", ""},
		{`bandwidth >= «run.bandwidth»`, "name of a run is missing", `run("NAME").METRIC`},
		{`bandwidth >= «run("tcp"»`, "not closed", "close it"},
		{`bandwidth >= run(«"main"»).bandwidth`, "is the run of this assertion", "max(bandwidth)"},
		{`bandwidth >= run("tcp" «"wide"»).bandwidth`, "after the name of a run", ""},
		{`bandwidth >= run("tcp"«,)».bandwidth`, "condition is missing", ""},
		{`bandwidth >= run("tcp", «fabrik» == "ucx").bandwidth`, `no option "fabrik"`, `did you mean "fabric"?`},
		{`bandwidth >= run("tcp", «latency.p50» > 5us).bandwidth`, "is a metric", "options and axes"},
		{`bandwidth >= run("tcp", fabric == «"uxc"»).bandwidth`, "is never", `did you mean "ucx"?`},
		{`bandwidth >= run("tcp", block_size «==» 5us).bandwidth`, "compared with", ""},
		{`bandwidth >= run("tcp", «host.gpus» > 1).bandwidth`, "before a host is known", ""},
		{`bandwidth >= «run("tcp").latency.p50»`, "is a time", "compare a rate with a rate"},
		{`«run("tcp").bandwidth >= 5»`, "no metric of this run", ""},
		{`«run("tcp").bandwidth >= run("wide").bandwidth»`, "no metric of this run", ""},
		{`«baseline.bandwidth >= 5»`, "no metric of this run", ""},
		// a baseline of another metric
		{"latency.p99 <= 1.1 * «baseline.latency.p50»", "held against another metric", "write baseline.latency.p99"},
		{"latency.p99 / «baseline.latency.p50» <= 2", "the same metric", "write baseline.latency.p99"},
		{"latency.p99 between 0.5 * baseline.latency.p99 and 2 * «baseline.latency.avg»", "another metric",
			"write baseline.latency.p99"},
		// equality
		{"requests «==» 4", "never exactly equal", "write `requests >= 4`; if it may be more, `requests <= 4`"},
		{"requests «==» 0", "never exactly equal", "write `requests <= 0`"},
		{"bandwidth «==» 4 GB/s", "never exactly equal", "within 1% of"},
		{"block_size «==» 16", "the setting block_size is not measured", "where block_size == …"},
		{"requests «!=» 4", "never exactly equal", ">= and <="},
		// a share of launches
		{`«availability» / 2 >= 0.4`, "cannot be used in arithmetic", "availability >= 0.9"},
		{`bandwidth >= «availability» * 5 GB/s`, "cannot be used in arithmetic", ""},
		{`mean(«availability» over fabric) >= 0.4`, "cannot be used in arithmetic", "by itself"},
		{`«availability» >= run("tcp").availability`, "cannot be used in arithmetic", ""},
		{`«baseline.availability» >= 0.9`, "launches that succeeded", ""},
		{`«availability» increases with block_size`, "no trend", ""},
		{`availability >= «5 GB/s»`, "is a rate", ""},
		// transports
		{`«transprot» == "tcp"`, `no metric "transprot"`, "did you mean transport?"},
		{"«transport»", "a comparison is missing", `transport == "rc_mlx5"`},
		{"transport «==»", "name of a transport is missing", `"rc_mlx5"`},
		{"transport == «tcp»", "not in quotes", `"tcp"`},
		{"transport == «5us»", "not the name of a transport", "in quotes"},
		{`transport == «""»`, "empty", ""},
		{`transport «=» "tcp"`, "no operator", "write =="},
		{`transport «>=» "tcp"`, "not a number", `transport == "rc_mlx5"`},
		{`transport «contains» "tcp"`, "a set of names", `"NAME" in transport`},
		{`transport «startswith» "tcp"`, "unexpected", "did you mean startsWith?"},
		{`transport «is» "tcp"`, "unexpected", "did you mean in?"},
		{`transport in «"tcp"»`, "a list of names", `transport in ["tcp"]`},
		{`transport «in»`, "list of names is missing", ""},
		{`transport in «["tcp"»`, "not closed", "]"},
		{`transport in «[»]`, "missing", ""},
		{`transport in ["tcp" «"rc"»]`, "in a list", "comma"},
		{`transport in ["tcp"] «"rc"»`, "after the list", ""},
		{`transport «not» "tcp"`, "`in` is missing", ""},
		{`transport == "tcp" «"rc"»`, "after a name", "two assertions"},
		{`transport == "tcp" «and» bandwidth >= 5`, "cannot combine", "two assertions"},
		{`"tcp" == «transport»`, "must come first", ""},
		{`"tcp" «maybe» in transport`, "before in", ""},
		{`"tcp" in transport «bandwidth»`, "after transport", ""},
		{"«tcp» in transport", "not in quotes", `"tcp"`},
		{"2 * «transport» >= 5", "not a number", ""},
		{"max(«transport») >= 5", "not a number", ""},
		{`all(«transport» == "tcp")`, "cannot be used in all", "separate assertion"},
		{`bandwidth >= 5 where «transport» == "tcp"`, "is a metric", "options and axes"},
		// facts of providers
		{"«provider.p2p»", "a comparison is missing after provider.p2p", `provider.NAME == "VALUE"`},
		{"provider.p2p «==»", "value is missing", `provider.NAME == "VALUE"`},
		{"provider.p2p == «enabled»", "not in quotes", `"enabled"`},
		{"provider.p2p == «5us»", "not in quotes", `"5us"`},
		{`provider.p2p == «""»`, "empty", "enabled"},
		{`provider.p2p «=» "on"`, "no operator", "write =="},
		{`provider.p2p «>=» "on"`, "not a number", `provider.NAME == "VALUE"`},
		{`provider.p2p «im» ["on"]`, "not a number", "did you mean in?"},
		{`provider.p2p «in» "on"`, "list of values is missing", ""},
		{`provider.p2p in «["on"»`, "not closed", "]"},
		{`provider.p2p in «[»]`, "value is missing", ""},
		{`provider.p2p in ["on" «"off"»]`, "in a list", "comma"},
		{`provider.p2p in ["on"] «"off"»`, "after the list", ""},
		{`provider.p2p «not» "on"`, "`in` is missing", ""},
		{`provider.p2p == "on" «"off"»`, "after the value", "two assertions"},
		{`provider.p2p == "on" «and» bandwidth >= 5`, "cannot combine", "two assertions"},
		{`"on" == «provider.p2p»`, "begin with it", ""},
		{`all(«provider.p2p» == "on")`, "cannot be used in all", "separate assertion"},
		{`bandwidth >= 5 where «provider.p2p» == "on"`, "is a metric", "options and axes"},
		// aggregates
		{"max(bandwidth over «fabrik») >= 5", `no axis "fabrik"`, "did you mean fabric?"},
		{`bandwidth >= max(run("tcp").bandwidth over «fabric»)`, `the run "tcp" has no axis "fabric"`, "block_size"},
		{`bandwidth >= max(run("single").bandwidth over «fabric»)`, `the run "single" has no axes`, ""},
		{"max(bandwidth over fabric, «fabric») >= 5", "twice", ""},
		{"bandwidth «over» fabric >= 5", "over can be used only in", "max(bandwidth over AXIS)"},
		{"max((bandwidth «over» fabric)) >= 5", "over can be used only in", ""},
		{"ratio(bandwidth «over» fabric, bandwidth) >= 5", "over can be used only in", ""},
		{"max(«over» fabric) >= 5", "a term is missing before over", ""},
		{"max(bandwidth «over») >= 5", "axis is missing after over", ""},
		{"max(bandwidth over fabric«,») >= 5", "axis is missing after ,", ""},
		{"max(bandwidth over fabric «block_size») >= 5", "in a list of axes", ""},
		{"max(bandwidth over «4KiB») >= 5", "in a list of axes", ""},
		{"«max()» >= 5", "takes one term", "max(TERM)"},
		{"«max(bandwidth, ceiling.bandwidth)» >= 5", "not 2", ""},
		{"max(«min(bandwidth)») >= 5", "min is inside of max", ""},
		{"bandwidth >= mean(«batch»)", "mean has no metric", "name a metric"},
		{"bandwidth >= mean(«reference.bandwidth»)", "mean has no metric", ""},
		{`bandwidth >= mean(run("tcp").bandwidth * «batch»)`, `cases of run "tcp"`, "out of the aggregate"},
		{`bandwidth >= mean(run("tcp").bandwidth + «run("wide").bandwidth»)`, "several runs", "one aggregate for each"},
		{`bandwidth >= mean(run("tcp").bandwidth + «run("tcp", block_size > 1MiB).bandwidth»)`, "several runs", ""},
		{"«max(bandwidth)» increases with block_size", "no trend", "without an aggregate"},
		{"bandwidth / «batch» increases with block_size", "differ between cases", ""},
		{`bandwidth / «run("tcp").bandwidth» increases with block_size`, "own metrics", ""},
		{"bandwidth / «baseline.bandwidth» increases with block_size", "own metrics", ""},
		{"bandwidth / «reference.bandwidth» increases with block_size", "own metrics", ""},
		{"«avg»(bandwidth) >= 5", "no function avg", "functions are min, max"},
		{"«maxx»(bandwidth) >= 5", "no function maxx", `did you mean "max"?`},
		{"«bandwidth»(5) >= 5", "no function bandwidth", ""},
		// ratio
		{"«ratio(bandwidth)» >= 5", "takes two values", "ratio(a, b)"},
		{"«ratio(bandwidth, latency.p50)» >= 5", "a rate and a time have no ratio", "a / b"},
		{"«ratio(bandwidth, 5)» >= 5", "have no ratio", "unit"},
		{"bandwidth >= ratio(5, «0»)", "division by zero", ""},
		{"ratio(bandwidth, ceiling.bandwidth) >= «5 GB/s»", "is a rate", ""},
		// all and any
		{"all(«any»(bandwidth >= 5))", "any must be the whole assertion", ""},
		{"bandwidth >= 2 * «any»(bandwidth >= 5)", "any must be the whole assertion", ""},
		{"all(bandwidth >= 5) «+» 1 >= 2", "all must be the whole assertion", ""},
		{"«all()»", "a relation is missing", ""},
		{"«all(bandwidth >= 5,)»", "a relation is missing", ""},
		{"«all(bandwidth >= 5»", "not closed", ""},
		{"all(«bandwidth»)", "no comparison", ""},
		{"all(bandwidth >= 5 «and» ceiling >= 1)", "cannot combine", ""},
		{"all(«max»(bandwidth) >= 5)", "aggregates cannot be used", "separate assertion"},
		{`all(bandwidth >= «run»("tcp").bandwidth)`, "other runs cannot be used", "separate assertion"},
		{"all(«bandwidth increases with block_size»)", "trend cannot be used in all", ""},
		{"any(«batch» >= 5)", "no metric here", ""},
		// reference and baseline
		{"bandwidth >= «reference.ceiling»", `no row of reference "lab.yaml" has ceiling`, "bandwidth, latency.p50"},
		{"bandwidth >= reference.«bandwith»", `no metric "bandwith"`, `"bandwidth"`},
		{"bandwidth >= «reference»", "not a value", "reference.METRIC"},
		{"bandwidth >= baseline.«fabric»", `no metric "fabric"`, ""},
		{"bandwidth >= «reference.latency.p50»", "is a time", ""},
		{"bandwidth within «reference.bandwidth» of 5", "not a percentage", ""},
		// values of other cases, and shares
		{`bandwidth«[»fabric=shm] >= 5`, "no meaning", `at(fabric == "tcp").bandwidth`},
		{"bandwidth >= «ceiling»", "is a plain number", "write ceiling >= 0.9"},
		{`bandwidth >= 5 where «variant» == "new"`, "does not sweep variant", "sweep: {variant: [A, B]}"},
		{"bandwidth within 5 «%» of 10", "", "5%"},
		// operators of other languages
		{"bandwidth «in» [1, 2]", `"in" has no meaning`, arithmeticOnly},
		{"bandwidth >= ceiling.bandwidth «??» 5", "no meaning", ""},
		{"bandwidth«?.»x >= 5", "no meaning", ""},
		{"bandwidth >= 5 «|» max()", "no meaning", ""},
		{"bandwidth >= ceiling.bandwidth «?» 5 : 6", "no meaning", ""},
		{"bandwidth >= «[»1, 2][0]", "no meaning", ""},
		{"bandwidth >= «{»a: 1}.a", "no meaning", ""},
		{"«let» x = 5; bandwidth >= x", `"let" has no meaning`, ""},
		{"«if» bandwidth >= 5 { 1 } else { 2 }", `"if" has no meaning`, ""},
		{"bandwidth >= «len»([1, 2])", "no function len", ""},
		{"bandwidth >= «sum»(1..3)", "no function sum", ""},
		{"all(«xs», # > 1)", "", ""},
		{"bandwidth >= 2 «**» 3", "no meaning", ""},
		{"bandwidth >= batch «%» 3", "no meaning", ""},
		{"bandwidth >= «'5'»", "a text is not a number", "where"},
		{"bandwidth >= (5 «>=» 3)", "comparison cannot be in", ""},
		{"bandwidth >= (5 «and» 3)", "cannot combine", ""},
		{"bandwidth >= 5 «3»", "unexpected", ""},
		{"bandwidth >= 5«(»3)", "unexpected", ""},
		{`bandwidth >= run("tcp").bandwidth«(»3)`, "unexpected", ""},
		{"bandwidth >= (5)«(»3)", "unexpected", ""},
		{"bandwidth >= max(bandwidth)«(»3)", "unexpected", ""},
		{"bandwidth >= «,» 3", "unexpected", ""},
		{"bandwidth >= (batch«,» 3)", "unexpected", ""},
		{"bandwidth >= 5 «*»", "missing after *", "a quantity"},
		{"bandwidth >= 5 «*» >= 3", "missing after *", ""},
		{"bandwidth >= «(»)", "missing after (", ""},
		{"«+»", "missing after +", ""},
		{"bandwidth «>=» >= 5", "missing after >=", ""},
		{"bandwidth «>=» and 5", "missing after >=", ""},
		{"bandwidth >= «(5»", "the parenthesis is not closed", "close it with )"},
		{"bandwidth >= «(5» where batch == 4", "the parenthesis is not closed", ""},
		{"bandwidth >= «max(bandwidth»", "the parenthesis after max is not closed", ""},
		{"max(bandwidth«,») >= 5", "missing after ,", ""},
		{"bandwidth within 10% «+» of 5", "missing after +", ""},
		{"bandwidth «within» 10% 5", "`of` is missing after within", "x within 10% of y"},
		{"bandwidth «within» of 5", "missing after within", ""},
		{"bandwidth «between» and 5", "missing after between", ""},
		{"bandwidth between 1 and 2 «and» 3", "cannot combine", ""},
		{"latency.p50 >= «(bandwidth + ceiling.bandwidth) * 2»", `"(bandwidth + ceiling.bandwidth) * 2" is a rate`, ""},
		{"bandwidth >= 5«)»", "closes nothing", ""},
		{"bandwidth >= 1e300 * 1e300", "", ""},
		{"bandwidth >= «" + strings.Repeat("block_size * ", 8) + "block_size»", "too many units", ""},
		{"bandwidth >= «fabric»", "is not a number", "where fabric"},
	} {
		text := strings.NewReplacer("«", "", "»", "").Replace(c.marked)
		_, err := n.Assertion(text)
		if err == nil {
			t.Errorf("%s compiles", text)
			continue
		}
		if strings.Contains(c.marked, "«") {
			r := []rune(text)
			if got := string(r[:err.From]) + "«" + string(r[err.From:err.To]) + "»" +
				string(r[err.To:]); got != c.marked {
				t.Errorf("the error is at %s\n            want %s: %v", got, c.marked, err)
			}
		}
		if !strings.Contains(err.Message, c.message) || !strings.Contains(err.Hint, c.hint) {
			t.Errorf("%s: %q, %q", text, err.Message, err.Hint)
		}
	}
}

func TestRefusedWhenLowered(t *testing.T) {
	n, c := rich()
	for _, x := range []struct{ marked, message, hint string }{
		{`bandwidth >= «run("wide").bandwidth»`,
			`run "wide" has 6 cases for this one; they differ in threads and op`,
			`run("wide", threads == 1 and op == "write").bandwidth, or aggregate them: max(run("wide").bandwidth)`},
		{`bandwidth >= «run("wide", op == "read").bandwidth»`, "has 3 cases for this one; they differ in threads",
			`run("wide", op == "read" and threads == 1)`},
		{`bandwidth >= «run("far").bandwidth»`, `the run "far" has no case with block_size=4KiB`,
			"It has far[block_size=1GiB]"},
		{`bandwidth >= «run("wide", threads == 3).bandwidth»`,
			`has no case with block_size=4KiB that satisfies threads == 3`, "and 9 more"},
		{`bandwidth >= «max(run("far").bandwidth)»`, `has no case with block_size=4KiB`, ""},
		{`bandwidth >= «max(run("wide").bandwidth over threads)»`, "also differ in op", `run("wide", op == "write")`},
		{`max(bandwidth) >= «run("tcp").bandwidth»`, "2 cases", "block_size == 4KiB"},
		{"max(bandwidth) >= «block_size» / 1ms", `"block_size" is not the same in all cases: main[block_size=4KiB,fabric=shm] and main[block_size=64MiB,fabric=shm]`,
			"inside of the aggregate"},
		{"max(bandwidth) >= «reference.bandwidth»", `"reference.bandwidth" is not the same`, ""},
		{"bandwidth >= 1 GB / («batch - 4») / 1s", "division by zero", ""},
		{"latency.p50 >= «reference.latency.p50»",
			`rows 4 and 5 of reference "lab.yaml" both fit case main[block_size=4KiB,fabric=shm]`,
			"distinguishes them"},
		// bands that every measurement misses or meets
		{"bandwidth >= «-5»", "always above -5", "check the number"},
		{"bandwidth between «-5» and -1", "up to -1 cannot be met", ""},
		{"max(bandwidth over fabric) / 2 <= «-1 GB/s»", "cannot be met", ""},
		{"bandwidth within 10% of «-1 GB/s»", "cannot be met", ""},
		{"max(bandwidth / «(block_size - block_size)») >= 5", "", ""},
		// bounds that are not numbers
		{"«bandwidth within 50% of 1.7e308»", "not finite", "check the numbers"},
		{"«1e-200 * bandwidth >= 1e200 * ceiling.bandwidth»", "not finite", "check the numbers"},
		{"«1e200 * (1e200 * bandwidth) >= ceiling.bandwidth»", "not finite", "check the numbers"},
		{"«bandwidth between 0.1 * ceiling.bandwidth and 1e200 * (1e200 * ceiling.bandwidth)»", "not finite",
			"check the numbers"},
		{"«all(bandwidth within 50% of 1.7e308)»", "", ""},
	} {
		text := strings.NewReplacer("«", "", "»", "").Replace(x.marked)
		a, err := n.Assertion(text)
		if err == nil {
			if a.Grouping() == OverCases {
				_, err = a.LowerOver(c.groups(a)[0])
			} else {
				_, err = a.Lower(c.in("main", a.Where())[0])
			}
		}
		if err == nil {
			t.Errorf("%s lowers", text)
			continue
		}
		r := []rune(text)
		if got := string(r[:err.From]) + "«" + string(r[err.From:err.To]) + "»" + string(r[err.To:]); x.message != "" &&
			got != x.marked {
			t.Errorf("the error is at %s\n            want %s: %v", got, x.marked, err)
		}
		if !strings.Contains(err.Message, x.message) || !strings.Contains(err.Hint, x.hint) {
			t.Errorf("%s: %q, %q", text, err.Message, err.Hint)
		}
	}
	n.Reference.Rows = n.Reference.Rows[:2]
	a, err := n.Assertion("bandwidth within 5% of reference.bandwidth")
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Lower(c.byKey["main[block_size=64MiB,fabric=ucx]"])
	if err == nil || err.Message != `no row of reference "lab.yaml" fits case main[block_size=64MiB,fabric=ucx]` ||
		!strings.Contains(err.Hint, "{block_size: 64MiB, fabric: ucx, bandwidth: …}") {
		t.Error(err)
	}
}
