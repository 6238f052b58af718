package expression

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload/sequence"
)

// Numbers are float64: exact up to 2^53, divided without truncation, and without overflow. A value
// that is not finite is an error.
func TestConditionArithmetic(t *testing.T) {
	s := scope()
	s.Options["block_size"], s.Options["batch"], s.Options["iterations"] = quantity.Size(1<<40), int64(1<<20),
		int64(1<<40)
	for text, want := range map[string]string{
		"block_size * batch > 1GB":                           "true",
		"block_size * batch * iterations > 0":                "true",
		"block_size * batch * iterations < 0":                "false",
		"batch * 9223372036854775807 > 0":                    "true",
		"9223372036854775807 + 9223372036854775807 > 0":      "true",
		"-9223372036854775807 - 9223372036854775807 < 0":     "true",
		"(-9223372036854775807 - 1) * -1 > 0":                "true",
		"len(fabric) * len(fabric) == 9":                     "true",
		"let n = 9223372036854775807; n * n > n":             "true",
		"any([9223372036854775807], # + # < 0)":              "false",
		"9007199254740991 - 1 == 9007199254740990":           "true",
		"5 / 2 == 2.5 and -5 / 2 == -2.5":                    "true",
		"7 % 3 == 1 and -7 % 3 == -1":                        "true",
		"2 ** 3 ** 2 == 512 and -2 ** 2 == -4":               "true",
		"1 / (batch / 0) == 0":                               "the divisor is zero",
		"[5, 6, 7][1] == 6 and [5, 6][-1] == 6":              "true",
		"fabric[0:2] == 'uc'":                                "true",
		"batch in [1, 1048576]":                              "true",
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
		"batch / 0 > 1":                                      "the divisor is zero",
		"batch / (ranks - ranks) > 1":                        "the divisor is zero",
		"0 / 0 == 1":                                         "the divisor is zero",
		"share / 2 == 0.25 and batch / 4 == 262144":          "true",
		"batch % 0 > 1":                                      "the divisor is zero",
		"batch % 0.5 > 1":                                    "takes whole numbers",
		"batch ** 2 == 1099511627776":                        "true",
		"2 ^ 3 == 8 and 2 ** -1 == share":                    "true",
		"batch ** 1000 > 1":                                  "not a finite number",
		"batch ^ 1000 > 1":                                   "not a finite number",
		"(0 - 8) ** 0.5 == 1":                                "not a finite number",
		"1e200 * 1e200 * share > 1":                          "not a finite number",
		"share / 1e-200 / 1e-200 > 1":                        "not a finite number",
		"let n = batch * 2; n > 3 and n - 1 > 3":             "true",
		"any([1, 2, 3], # * 2 == 6)":                         "true",
		"any(host.fabrics, # == 'tcp') && host.gpus + 1 > 1": "true",
		"lower(fabric) startsWith 'u' && len(fabric) == 3":   "true",
		"min(batch, 4) == 4 && abs(-3) == 3":                 "true",
		"4 == min(batch, 4) && 3 != abs(-4)":                 "true",
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

// An option of type Factor is a number.
func TestFactorsAreNumbers(t *testing.T) {
	c, err := (&Names{Kind: sequence.Kind}).When("time_scale * 2 > 2.5")
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := c.Eval(Scope{Options: option.Values{"time_scale": option.Scale(1.5)}}); !ok || err != nil {
		t.Error(ok, err)
	}
}

func TestRefusedConditions(t *testing.T) {
	for _, c := range []struct{ marked, message, hint string }{
		{"«filter»(host.fabrics, # == 'tcp') == []", "no function filter", "the nearest functions are"},
		{"'shm' in host.fabrics and not («'shmm'» in host.fabrics)", `no host has a fabric "shmm"`,
			`did you mean "shm"`},
		{"«repeat»('x', 3) == 'x'", "no function repeat", ""},
		{"«lowr»(fabric) == 'x'", "no function lowr", `"lower"`},
		{"fabric | «split»(',') == []", "no function split", ""},
		{"fabric «matches» '('", "missing closing )", ""},
		{"len(1«..»1000000000) == 3", "can only follow in", "x in a..b"},
		{"«reduce»([1], #acc + 1, 1) > 1", "no function reduce", ""},
		{"«now»() == 1", "no function now", ""},
		{"batch * «-»fabric == 1", "- does not apply to a text", ""},
		{"«ceiling.bandwidth»(5) > 2", "is a metric", ""},
		{"host.fabrics «==» 'sim'", "== does not apply to a list and a text", `"sim" in host.fabrics`},
		{"batch == 2«,» fabric == 'sim'", `unexpected ","`, "join conditions by and"},
		{"fabric «**» 2 == 1", "** takes numbers, not a string", ""},
		{"batch «%» 2.5 == 1", "whole numbers", ""},
		{"batch «==» 'x'", "== does not apply to a number and a text", ""},
		{"len(1«..»3) == 3", "can only follow in", "x in a..b"},
		{"batch in (1..3) and any(1«..»3, # > 1)", "can only follow in", ""},
		{"block_size «+» 5us > 1", "a size and a time cannot be added", "same dimension"},
		{"block_size «-» 1 GB/s > 1", "a size and a rate", ""},
		{"batch + block_size «>» 5us", "a size is compared with a time", ""},
		{"block_size «in» 1us..2us", "a size is compared with a time", ""},
		{"block_size == «\"5us\"»", `a size is compared with the text "5us"`, ""},
		{"block_size in [1MiB, «'small'»]", `a size is compared with the text "small"`, ""},
		{"fabric «+» op == 'x'", "takes numbers, not a string", ""},
		{"nil «+» 1 == 1", "takes numbers, not nil", ""},
		{"fabric «in» 1..3", "takes numbers", ""},
		{"batch «in» 1.5..3", "whole numbers", ""},
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

// The nesting of a condition is bounded by its length.
func TestDeepConditions(t *testing.T) {
	for name, text := range map[string]string{
		"parentheses": strings.Repeat("(", 2000) + "batch > 1" + strings.Repeat(")", 2000),
		"unclosed":    strings.Repeat("(", 4000),
		"not":         strings.Repeat("!", 4000) + "true",
		"minus":       strings.Repeat("- ", 2000) + "batch > 1",
		"lists":       strings.Repeat("[", 1500) + "1" + strings.Repeat("]", 1500) + " == [1]",
		"lets":        strings.Repeat("let a = batch; ", 250) + "batch > 1",
		"maps":        strings.Repeat("{a: ", 800) + "1" + strings.Repeat("}", 800) + " == 1",
		"pipes":       "batch" + strings.Repeat(" | abs()", 400) + " > 1",
	} {
		for kind, n := range map[string]*Names{"named": names, "unnamed": nil} {
			c, err := compileCondition(text, n, true)
			inside(t, text, err)
			if err == nil {
				_, evalErr := c.Eval(scope())
				t.Log(name, kind, evalErr)
			}
		}
	}
	_, err := names.When(strings.Repeat("(", maxText) + "1")
	if err == nil || !strings.Contains(err.Message, "longer than 4096") {
		t.Error(err)
	}
}

// An evaluation creates at most as many list elements as its budget allows.
func TestConditionsHaveAMemoryBudget(t *testing.T) {
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 500), ",") + "]"
	c, err := names.When("all(" + list + ", any(" + list + ", # == 1))")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Eval(scope()); err == nil || !strings.Contains(err.Error(), "memory budget exceeded") {
		t.Error(err)
	}
}

// An evaluation does not affect later ones of other conditions or cases.
func TestEvaluationsAreApart(t *testing.T) {
	s, bare := scope(), Scope{Options: option.Values{"batch": int64(1)}}
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
