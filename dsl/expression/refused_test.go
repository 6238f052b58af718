package expression

import (
	"strings"
	"testing"
)

// Each text is refused at exactly these characters, which are marked by « », with
// a message and a hint that hold these words.
func TestRefusedAssertions(t *testing.T) {
	n, _ := rich()
	for _, c := range []struct{ marked, message, hint string }{
		{"bandwidth >= 1 GB/s «wher» block_size == 4KiB", "not expected", "did you mean where?"},
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
		{`bandwidth >= run(«"main"»).bandwidth`, "that the assertion stands in", "max(bandwidth)"},
		{`bandwidth >= run("tcp" «"wide"»).bandwidth`, "not expected after the name of a run", ""},
		{`bandwidth >= run("tcp"«,)».bandwidth`, "condition is missing", ""},
		{`bandwidth >= run("tcp", «fabrik» == "ucx").bandwidth`, `no option "fabrik"`, `did you mean "fabric"?`},
		{`bandwidth >= run("tcp", «latency.p50» > 5us).bandwidth`, "is measured", "options and axes"},
		{`bandwidth >= run("tcp", fabric == «"uxc"»).bandwidth`, "is never", `did you mean "ucx"?`},
		{`bandwidth >= run("tcp", block_size «==» 5us).bandwidth`, "compared with", ""},
		{`bandwidth >= run("tcp", «host.gpus» > 1).bandwidth`, "without a host", ""},
		{`bandwidth >= «run("tcp").latency.p50»`, "is a time", "compare a rate with a rate"},
		{`«run("tcp").bandwidth >= 5»`, "nothing of this run", ""},
		{`«run("tcp").bandwidth >= run("wide").bandwidth»`, "nothing of this run", ""},
		{`«baseline.bandwidth >= 5»`, "nothing of this run", ""},
		// a share of launches
		{`«availability» / 2 >= 0.4`, "nothing can be computed with it", "availability >= 0.9"},
		{`bandwidth >= «availability» * 5 GB/s`, "nothing can be computed with it", ""},
		{`mean(«availability» over fabric) >= 0.4`, "nothing can be computed with it", "by itself"},
		{`«availability» >= run("tcp").availability`, "nothing can be computed with it", ""},
		{`«baseline.availability» >= 0.9`, "launches that succeeded", ""},
		{`«availability» increases with block_size`, "no trend", ""},
		{`availability >= «5 GB/s»`, "is a rate", ""},
		// transports
		{`«transprot» == "tcp"`, `no metric "transprot"`, "did you mean transport?"},
		{"«transport»", "nothing is said", `transport == "rc_mlx5"`},
		{"transport «==»", "name of a transport is missing", `"rc_mlx5"`},
		{"transport == «tcp»", "not in quotes", `"tcp"`},
		{"transport == «5us»", "not the name of a transport", "in quotes"},
		{`transport == «""»`, "empty", ""},
		{`transport «=» "tcp"`, "no operator", "write =="},
		{`transport «>=» "tcp"`, "no number", `transport == "rc_mlx5"`},
		{`transport «contains» "tcp"`, "a set of names", `"NAME" in transport`},
		{`transport «startswith» "tcp"`, "not expected", "did you mean startsWith?"},
		{`transport «is» "tcp"`, "not expected", "did you mean in?"},
		{`transport in «"tcp"»`, "a list of names follows", `transport in ["tcp"]`},
		{`transport «in»`, "list of names is missing", ""},
		{`transport in «["tcp"»`, "not closed", "]"},
		{`transport in «[»]`, "missing", ""},
		{`transport in ["tcp" «"rc"»]`, "not expected in a list", "comma"},
		{`transport in ["tcp"] «"rc"»`, "after the list", ""},
		{`transport «not» "tcp"`, "`in` is missing", ""},
		{`transport == "tcp" «"rc"»`, "after a name", "two assertions"},
		{`transport == "tcp" «and» bandwidth >= 5`, "one thing", "two assertions"},
		{`"tcp" == «transport»`, "stands first", ""},
		{`"tcp" «maybe» in transport`, "not expected before in", ""},
		{`"tcp" in transport «bandwidth»`, "after transport", ""},
		{"«tcp» in transport", "not in quotes", `"tcp"`},
		{"2 * «transport» >= 5", "no number", ""},
		{"max(«transport») >= 5", "no number", ""},
		{`all(«transport» == "tcp")`, "cannot stand in all", "of its own"},
		{`bandwidth >= 5 where «transport» == "tcp"`, "is measured", "options and axes"},
		// facts of providers
		{"«provider.p2p»", "nothing is said of provider.p2p", `provider.NAME == "VALUE"`},
		{"provider.p2p «==»", "value is missing", `provider.NAME == "VALUE"`},
		{"provider.p2p == «enabled»", "not in quotes", `"enabled"`},
		{"provider.p2p == «5us»", "not in quotes", `"5us"`},
		{`provider.p2p == «""»`, "empty", "enabled"},
		{`provider.p2p «=» "on"`, "no operator", "write =="},
		{`provider.p2p «>=» "on"`, "no number", `provider.NAME == "VALUE"`},
		{`provider.p2p «im» ["on"]`, "no number", "did you mean in?"},
		{`provider.p2p «in» "on"`, "list of values is missing", ""},
		{`provider.p2p in «["on"»`, "not closed", "]"},
		{`provider.p2p in «[»]`, "value is missing", ""},
		{`provider.p2p in ["on" «"off"»]`, "not expected in a list", "comma"},
		{`provider.p2p in ["on"] «"off"»`, "after the list", ""},
		{`provider.p2p «not» "on"`, "`in` is missing", ""},
		{`provider.p2p == "on" «"off"»`, "after the value", "two assertions"},
		{`provider.p2p == "on" «and» bandwidth >= 5`, "one thing", "two assertions"},
		{`"on" == «provider.p2p»`, "stands first", ""},
		{`all(«provider.p2p» == "on")`, "cannot stand in all", "of its own"},
		{`bandwidth >= 5 where «provider.p2p» == "on"`, "is measured", "options and axes"},
		// aggregates
		{"max(bandwidth over «fabrik») >= 5", `no axis "fabrik"`, "did you mean fabric?"},
		{`bandwidth >= max(run("tcp").bandwidth over «fabric»)`, `the run "tcp" has no axis "fabric"`, "block_size"},
		{`bandwidth >= max(run("single").bandwidth over «fabric»)`, `the run "single" has no axes`, ""},
		{"max(bandwidth over fabric, «fabric») >= 5", "twice", ""},
		{"bandwidth «over» fabric >= 5", "over stands only in", "max(bandwidth over AXIS)"},
		{"max((bandwidth «over» fabric)) >= 5", "over stands only in", ""},
		{"ratio(bandwidth «over» fabric, bandwidth) >= 5", "over stands only in", ""},
		{"max(«over» fabric) >= 5", "nothing stands before over", ""},
		{"max(bandwidth «over») >= 5", "axis is missing after over", ""},
		{"max(bandwidth over fabric«,») >= 5", "axis is missing after ,", ""},
		{"max(bandwidth over fabric «block_size») >= 5", "not expected in a list of axes", ""},
		{"max(bandwidth over «4KiB») >= 5", "not expected in a list of axes", ""},
		{"«max()» >= 5", "takes one value", "max(TERM)"},
		{"«max(bandwidth, ceiling.bandwidth)» >= 5", "this one has 2", ""},
		{"max(«min(bandwidth)») >= 5", "min stands inside of max", ""},
		{"bandwidth >= mean(«batch»)", "nothing that is measured stands in mean", "name a metric"},
		{"bandwidth >= mean(«reference.bandwidth»)", "nothing that is measured", ""},
		{`bandwidth >= mean(run("tcp").bandwidth * «batch»)`, `those of run "tcp"`, "out of the aggregate"},
		{`bandwidth >= mean(run("tcp").bandwidth + «run("wide").bandwidth»)`, "one run", "one aggregate for each"},
		{`bandwidth >= mean(run("tcp").bandwidth + «run("tcp", block_size > 1MiB).bandwidth»)`, "one run", ""},
		{"«max(bandwidth)» increases with block_size", "trend of an aggregate", "by itself"},
		{"bandwidth / «batch» increases with block_size", "differ from case to case", ""},
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
		{"all(«any»(bandwidth >= 5))", "any stands by itself", ""},
		{"bandwidth >= 2 * «any»(bandwidth >= 5)", "any stands by itself", ""},
		{"all(bandwidth >= 5) «+» 1 >= 2", "the word all stands by itself", ""},
		{"«all()»", "a relation is missing", ""},
		{"«all(bandwidth >= 5,)»", "a relation is missing", ""},
		{"«all(bandwidth >= 5»", "not closed", ""},
		{"all(«bandwidth»)", "nothing is compared", ""},
		{"all(bandwidth >= 5 «and» ceiling >= 1)", "one thing", ""},
		{"all(«max»(bandwidth) >= 5)", "without aggregates", "of its own"},
		{`all(bandwidth >= «run»("tcp").bandwidth)`, "without other runs", "of its own"},
		{"all(«bandwidth increases with block_size»)", "trend cannot stand in all", ""},
		{"any(«batch» >= 5)", "nothing here is measured", ""},
		// reference and baseline
		{"bandwidth >= «reference.ceiling»", `no row of reference "lab.yaml" has ceiling`, "bandwidth, latency.p50"},
		{"bandwidth >= reference.«bandwith»", `no metric "bandwith"`, `"bandwidth"`},
		{"bandwidth >= «reference»", "no value by itself", "reference.METRIC"},
		{"bandwidth >= baseline.«fabric»", `no metric "fabric"`, ""},
		{"bandwidth >= «reference.latency.p50»", "is a time", ""},
		{"bandwidth within «reference.bandwidth» of 5", "not a percentage", ""},
		// what other languages understand
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
		{"bandwidth >= (5 «>=» 3)", "comparison cannot stand inside", ""},
		{"bandwidth >= (5 «and» 3)", "one thing", ""},
		{"bandwidth >= 5 «3»", "not expected here", ""},
		{"bandwidth >= 5«(»3)", "not expected here", ""},
		{`bandwidth >= run("tcp").bandwidth«(»3)`, "not expected here", ""},
		{"bandwidth >= (5)«(»3)", "not expected here", ""},
		{"bandwidth >= max(bandwidth)«(»3)", "not expected here", ""},
		{"bandwidth >= «,» 3", "not expected here", ""},
		{"bandwidth >= (batch«,» 3)", "not expected here", ""},
		{"bandwidth >= 5 «*»", "nothing stands after *", "a quantity"},
		{"bandwidth >= 5 «*» >= 3", "nothing stands after *", ""},
		{"bandwidth >= «(»)", "nothing stands after (", ""},
		{"«+»", "nothing stands after +", ""},
		{"bandwidth «>=» >= 5", "nothing stands after >=", ""},
		{"bandwidth «>=» and 5", "nothing stands after >=", ""},
		{"bandwidth >= «(5»", "the parenthesis is not closed", "close it with )"},
		{"bandwidth >= «(5» where batch == 4", "the parenthesis is not closed", ""},
		{"bandwidth >= «max(bandwidth»", "the parenthesis after max is not closed", ""},
		{"max(bandwidth«,») >= 5", "nothing stands after ,", ""},
		{"bandwidth within 10% «+» of 5", "nothing stands after +", ""},
		{"bandwidth «within» 10% 5", "`of` is missing after within", "x within 10% of y"},
		{"bandwidth «within» of 5", "nothing stands after within", ""},
		{"bandwidth «between» and 5", "nothing stands after between", ""},
		{"bandwidth between 1 and 2 «and» 3", "one thing", ""},
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
			`the run "wide" has 6 cases for this one, which differ in threads and op`,
			`run("wide", threads == 1 and op == "write").bandwidth, or aggregate them: max(run("wide").bandwidth)`},
		{`bandwidth >= «run("wide", op == "read").bandwidth»`, "has 3 cases for this one, which differ in threads",
			`run("wide", op == "read" and threads == 1)`},
		{`bandwidth >= «run("far").bandwidth»`, `the run "far" has no case with block_size=4KiB`,
			"It has far[block_size=1GiB]"},
		{`bandwidth >= «run("wide", threads == 3).bandwidth»`,
			`has no case with block_size=4KiB that satisfies threads == 3`, "and 9 more"},
		{`bandwidth >= «max(run("far").bandwidth)»`, `has no case with block_size=4KiB`, ""},
		{`bandwidth >= «max(run("wide").bandwidth over threads)»`, "differ in op, too", `run("wide", op == "write")`},
		{`max(bandwidth) >= «run("tcp").bandwidth»`, "2 cases", "block_size == 4KiB"},
		{"max(bandwidth) >= «block_size» / 1ms", `"block_size" is not the same in all cases: main[block_size=4KiB,fabric=shm] and main[block_size=64MiB,fabric=shm]`,
			"inside of the aggregate"},
		{"max(bandwidth) >= «reference.bandwidth»", `"reference.bandwidth" is not the same`, ""},
		{"bandwidth >= 1 GB / («batch - 4») / 1s", "division by zero", ""},
		{"latency.p50 >= «reference.latency.p50»",
			`rows 4 and 5 of reference "lab.yaml" both fit case main[block_size=4KiB,fabric=shm]`,
			"tells them apart"},
		// bands that every measurement misses or meets
		{"bandwidth >= «-5»", "always above -5", "check the number"},
		{"bandwidth between «-5» and -1", "up to -1 is never met", ""},
		{"max(bandwidth over fabric) / 2 <= «-1 GB/s»", "never met", ""},
		{"bandwidth within 10% of «-1 GB/s»", "never met", ""},
		{"max(bandwidth / «(block_size - block_size)») >= 5", "", ""},
		// bounds that are no numbers
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
			if a.Reach() == Over {
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
