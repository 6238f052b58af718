package expression

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"weir/quantity"
	"weir/workload"
)

// measuredCost runs something and gives how long it took and what it allocated.
func measuredCost(do func()) (time.Duration, uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	do()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return took, after.TotalAlloc - before.TotalAlloc
}

// No condition may bring the planner down, whether it comes from a scenario, with
// names, or from a plan, without.
func TestNoConditionTakesLong(t *testing.T) {
	long := func(item string, room int) string {
		return strings.TrimSuffix(strings.Repeat(item+",", (maxText-room)/(len(item)+1)), ",")
	}
	list := long("1", 600)
	for name, text := range map[string]string{
		"range":             "batch in 1..1000000000",
		"range list":        "len(1..1000000000) > 1",
		"range let":         "let a = 1..1000000; any(a, # in a)",
		"range predicate":   "all(1..1000000, all(1..1000000, # > 0))",
		"nested predicates": "let a = [" + list + "]; all(a, all(a, all(a, # > 0)))",
		"many predicates":   "let a = [" + list + "]; " + strings.TrimSuffix(strings.Repeat("all(a,# in a)and ", 30), "and "),
		"doubling text":     "let a = fabric; " + doubling("+") + " == 'x'",
		"doubling list":     "let a = [1]; " + doubling(",") + " == [1]",
		"repeat":            "repeat('x', 1000000) == 'x'",
		"reduce":            "reduce([1,2,3], #acc * 2, 1) > 1",
		"join":              "len(join(map(1..1000, 'xxxxxxxxxxxxx'))) > 1",
		"big pattern":       "fabric matches '" + strings.Repeat("x{1000}", 500) + "'",
		"nested repeats":    "fabric matches '((x{30}){30}){30}'",
		"class repeats":     `fabric matches '(\\pL{999}){1}'`,
		"computed pattern":  "fabric matches fabric",
		"backtracking":      "fabric matches '(x+x+)+y'",
		"deep parentheses":  strings.Repeat("(", 2000) + "batch > 1" + strings.Repeat(")", 2000),
		"unclosed":          strings.Repeat("(", 4000),
		"unary":             strings.Repeat("!", 4000) + "true",
		"minus":             strings.Repeat("- ", 2000) + "batch > 1",
		"ternary":           strings.Repeat("true ? true : ", 250) + "true",
		"if":                strings.Repeat("if batch > 1 { true } else { ", 100) + "true" + strings.Repeat("}", 100),
		"list in list":      "batch in [" + list + "]",
		"deep lists":        strings.Repeat("[", 1500) + "1" + strings.Repeat("]", 1500) + " == [1]",
		"lets":              strings.Repeat("let a = batch; ", 250) + "batch > 1",
		"nested maps":       strings.Repeat("{a: ", 800) + "1" + strings.Repeat("}", 800) + " == 1",
		"power":             "batch ** 1000000 > 1",
		"sort":              "len(sort([" + list + "])) > 1",
		"environment":       "$env == $env",
		"pipe":              "batch" + strings.Repeat(" | abs()", 400) + " > 1",
		"method":            "fabric.String() == ''",
		"dates":             "now() > date('2020-01-01')",
		"now":               "toJSON($env) == ''",
	} {
		if len(text) > maxText {
			t.Fatal(name, len(text))
		}
		for kind, n := range map[string]*Names{"named": names, "unnamed": nil} {
			took, allocated := measuredCost(func() {
				c, err := compileCondition(text, n, true)
				if err != nil {
					return
				}
				s := scope()
				s.Host = &Host{}
				for _, fabric := range []string{"ucx", strings.Repeat("x", 1<<16)} {
					s.Options["fabric"] = fabric
					_, _ = c.Eval(s)
				}
			})
			t.Log(name, kind, took, allocated)
			if took > time.Second*raceFactor || allocated > 200<<20 {
				t.Errorf("%s, %s: %v, %d MiB", name, kind, took, allocated>>20)
			}
		}
	}
}

// doubling defines 26 names, each twice the one before.
func doubling(op string) string {
	var b strings.Builder
	for c := 'b'; c <= 'z'; c++ {
		before := string(c - 1)
		if op == "," {
			b.WriteString("let " + string(c) + " = [" + before + "," + before + "]; ")
		} else {
			b.WriteString("let " + string(c) + " = " + before + op + before + "; ")
		}
	}
	return b.String() + "z"
}

// The parser is recursive, and so is everything that reads what it makes.
func TestDeepAssertionsAreRefused(t *testing.T) {
	n, _ := rich()
	nested := func(times int, before, after string) string {
		return strings.Repeat(before, times) + "bandwidth" + strings.Repeat(after, times) + " >= 5"
	}
	for name, text := range map[string]func(times int) string{
		"parentheses": func(times int) string { return nested(times, "(", ")") },
		"minus":       func(times int) string { return nested(times, "- ", "") },
		"ratios": func(times int) string {
			return nested(times, "ratio(bandwidth, 1 * bandwidth) * ratio(bandwidth,", ")")
		},
		"sums":     func(times int) string { return nested(times, "bandwidth+", "") },
		"products": func(times int) string { return nested(times, "2 * (", ")") },
		"unclosed": func(times int) string { return "bandwidth >= " + strings.Repeat("(", times) + "5" },
	} {
		if _, err := n.Assertion(text(20)); err != nil && strings.Contains(err.Message, "nested") {
			t.Errorf("20 %s: %v", name, err)
		}
		for _, times := range []int{mostNested + 1, 300} {
			text := text(times)
			if len(text) > maxText {
				continue
			}
			if _, err := n.Assertion(text); err == nil || err.Message != "operations are nested more than 150 deep" {
				t.Errorf("%d %s: %v", times, name, err)
			}
		}
	}
	if _, err := n.Assertion(strings.Repeat("1*", 2000) + "1 * bandwidth >= 5"); err != nil {
		t.Error(err)
	}
	if _, err := n.Assertion(strings.Repeat("(", maxText) + "1"); err == nil || !strings.Contains(err.Message, "longer than 4096") {
		t.Error(err)
	}
}

// A number that does not fit is an error, never a wrong answer.
func TestConditionArithmetic(t *testing.T) {
	s := scope()
	s.Options["block_size"], s.Options["batch"], s.Options["iterations"] = quantity.Size(1<<40), int64(1<<20), int64(1<<40)
	for text, want := range map[string]string{
		"block_size * batch > 1GB":                           "true",
		"block_size * batch * iterations > 0":                "too large for a whole number",
		"block_size * batch * iterations < 0":                "too large for a whole number",
		"batch * 9223372036854775807 > 0":                    "too large",
		"9223372036854775807 + batch > 0":                    "too large",
		"-9223372036854775807 - batch < 0":                   "too large",
		"(-9223372036854775807 - 1) * -1 > 0":                "too large",
		"batch - 1048575 == 1":                               "true",
		"batch * 2 % 3 == 2":                                 "true",
		"batch * -1 == 0 - batch":                            "true",
		"share * batch == 524288":                            "true",
		"share + 0.25 == 0.75":                               "true",
		"block_size == 1TiB and block_size * 1.5 == 1.5TiB":  "true",
		"block_size * 1.5 > 1.5TiB":                          "false",
		"batch in 1..2097152":                                "true",
		"batch in 1..4":                                      "false",
		"batch not in 1..4":                                  "true",
		"share in 0..1":                                      "false",
		"share * 2 in 0..1":                                  "true",
		"block_size in 1GiB..1TiB":                           "true",
		"batch in 1..ranks * 1000000":                        "true",
		"batch / 0 > 1":                                      "divides by zero",
		"batch / (ranks - ranks) > 1":                        "divides by zero",
		"0 / 0 == 1":                                         "divides by zero",
		"share / 2 == 0.25 and batch / 4 == 262144":          "true",
		"batch % 0 > 1":                                      "divides by zero",
		"batch % 0.5 > 1":                                    "takes whole numbers",
		"batch ** 2 == 1099511627776":                        "true",
		"2 ^ 3 == 8 and 2 ** -1 == share":                    "true",
		"batch ** 1000 > 1":                                  "not a finite number",
		"batch ^ 1000 > 1":                                   "not a finite number",
		"(0 - 8) ** 0.5 == 1":                                "not a finite number",
		"1e200 * 1e200 * share > 1":                          "not a finite number",
		"share / 1e-200 / 1e-200 > 1":                        "not a finite number",
		"fabric ** 2 == 1":                                   "takes numbers",
		"fabric + 'x' == 'ucxx'":                             "takes numbers",
		"let n = batch * 2; n > 3 and n - 1 > 3":             "true",
		"any([1, 2, 3], # * 2 == 6)":                         "true",
		"any(host.fabrics, # == 'tcp') && host.gpus + 1 > 1": "true",
		"lower(fabric) startsWith 'u' && len(fabric) == 3":   "true",
		"min(batch, 4) == 4 && abs(-3) == 3":                 "true",
		"fabric matches '^u[a-z]{2}$'":                       "true",
	} {
		for kind, n := range map[string]*Names{"named": names, "unnamed": nil} {
			got := ""
			c, err := compileCondition(text, n, true)
			if err != nil {
				got = err.Message
			} else {
				s.Host = &Host{Fabrics: []string{"shm", "tcp"}, GPUs: 1}
				ok, err := c.Eval(s)
				got = map[bool]string{true: "true", false: "false"}[ok]
				if err != nil {
					got = err.Error()
				}
			}
			if got != want && !(len(want) > 5 && strings.Contains(got, want)) {
				t.Errorf("%s, %s: %s, want %s", text, kind, got, want)
			}
		}
	}
}

func TestRefusedConditions(t *testing.T) {
	for _, c := range []struct{ marked, message, hint string }{
		{"«filter»(host.fabrics, # == 'tcp') == []", "no function filter", "did you mean"},
		{"'shm' in host.fabrics and not («'shmm'» in host.fabrics)", `no host has a fabric "shmm"`, `did you mean "shm"`},
		{"«repeat»('x', 3) == 'x'", "no function repeat", ""},
		{"«lowr»(fabric) == 'x'", "no function lowr", `"lower"`},
		{"fabric | «split»(',') == []", "no function split", ""},
		{"fabric «matches» op", "computed", "in quotes"},
		{"fabric matches «'x{999}y{999}'»", "too large", ""},
		{"len(1«..»3) == 3", "only after in", "x in a..b"},
		{"batch in (1..3) and any(1«..»3, # > 1)", "only after in", ""},
		{"block_size «+» 5us > 1", "a size and a time have no sum", "one kind"},
		{"block_size «-» 1 GB/s > 1", "a size and a rate", ""},
		{"batch + block_size «>» 5us", "a size is compared with a time", ""},
		{"block_size «in» 1us..2us", "a size is compared with a time", ""},
		{"fabric «+» op == 'x'", "takes numbers, not a string", ""},
		{"nil «+» 1 == 1", "takes numbers, not nil", ""},
		{"fabric «in» 1..3", "takes numbers", ""},
		{"batch «in» 1.5..3", "whole numbers", ""},
		{"«any([1,1,1,1,1,1,1,1], any([1,1,1,1,1,1,1,1], any([1,1,1,1,1,1,1,1], any([1,1,1,1,1,1,1,1], # > 0))))»", "too long to decide", ""},
	} {
		text := strings.NewReplacer("«", "", "»", "").Replace(c.marked)
		_, err := names.When(text)
		if err == nil {
			t.Errorf("%s compiles", text)
			continue
		}
		r := []rune(text)
		if got := string(r[:err.From]) + "«" + string(r[err.From:err.To]) + "»" + string(r[err.To:]); got != c.marked {
			t.Errorf("the error is at %s\n            want %s: %v", got, c.marked, err)
		}
		if !strings.Contains(err.Message, c.message) || !strings.Contains(err.Hint, c.hint) {
			t.Errorf("%s: %q, %q", text, err.Message, err.Hint)
		}
	}
}

// An evaluation leaves nothing behind that the next one, of another condition or
// case, could see.
func TestEvaluationsAreApart(t *testing.T) {
	s, bare := scope(), Scope{Options: workload.Values{"batch": int64(1)}}
	with, err := CompileCondition("fabric == 'ucx' and env.FI_PROVIDER == 'efa'")
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if ok, err := with.Eval(s); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if _, err := with.Eval(bare); err == nil || !strings.Contains(err.Error(), "no fabric") {
			t.Fatal(err)
		}
	}
}
