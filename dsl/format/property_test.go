package format_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/dsl/format"
	"github.com/weir-bench/weir/dsl/grammar"
)

// texts are scalars of every kind that the two syntaxes write differently.
var texts = []string{
	"plain", "two words", "64MiB", "46.48 GB/s", "10%", "5m", "1", "0", "-3", "1.50", "1.5", "0777", "1_000", "1e3",
	"true", "no", "null", "~", "",
	"4KiB..64MiB x2", "a: b", "# no comment", "- dash", "it's", `say "hi"`, `back\slash`, "tab\there", "two\nlines",
	"ends\n", " blank ", "${var.n}",
	`${var.n > 1 ? "a" : "b"}`, `x ${upper("y")} z`, "$${literal}", "%%{literal}", "$5", `${"text"}`, "${5}", "${-5}",
	"${[1, 2]}", "${{a = 1}}", "${gate}", `a\n${var.n}"`, "é ü 日本", "\u0085", "{a}", "[a]", "*a", "&a", "!a", "%a",
	"@a", "`a`", "a,b", "${ \n var.n\n}",
}

// writer makes random scenarios of the table of keys, as YAML in flow style.
type writer struct {
	*rapid.T
	depth int
}

func (w writer) pick(name string, all ...string) string {
	return rapid.SampledFrom(all).Draw(w.T, name)
}

func (w writer) scalar(f grammar.Form) string {
	if f.Type == grammar.Expression {
		return w.pick("expression", `"var.n > 0"`, `"${var.n > 0}"`, "true")
	}
	if len(f.Values) > 0 {
		return w.pick("value", f.Values...)
	}
	t := w.pick("text", texts...)
	if w.pick("quotes", "yes", "no") == "no" &&
		(strings.Trim(t, "abcdefghijklmnopqrstuvwxyz0123456789.") == "" && t != "") {
		return t
	}
	return strconv.Quote(t)
}

func (w writer) forms(forms []grammar.Form) string {
	return w.form(forms[rapid.IntRange(0, len(forms)-1).Draw(w.T, "form")])
}

func (w writer) form(f grammar.Form) string {
	w.depth++
	n := rapid.IntRange(0, 3).Draw(w.T, "n")
	if w.depth > 6 {
		n = 0
	}
	var parts []string
	switch f.Shape {
	case grammar.List:
		for range n {
			parts = append(parts, w.forms(f.Item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case grammar.Section:
		return "{" + strings.Join(w.keys(f.Keys), ", ") + "}"
	case grammar.Named:
		asList := w.pick("named", "mapping", "list") == "list"
		for i := range n {
			keys := w.keys(f.Keys)
			name := fmt.Sprintf("%q", w.pick("name", "a", "b.c", "d e", "${x}")+strconv.Itoa(i))
			if asList {
				parts = append(parts, "{"+strings.Join(append(keys, "name: "+name), ", ")+"}")
				continue
			}
			parts = append(parts, name+": {"+strings.Join(keys, ", ")+"}")
		}
		if asList {
			return "[" + strings.Join(parts, ", ") + "]"
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case grammar.Map:
		for i := range n {
			parts = append(parts, fmt.Sprintf("%q: %s", w.pick("key", "a", "env.X", "for", "on", "d e")+strconv.Itoa(i),
				w.forms(f.Value)))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case grammar.Sweep:
		parts = w.keys(grammar.SweepKeys)
		for i := range n {
			parts = append(parts, fmt.Sprintf("%s%d: [%s]", w.pick("axis", "axis", "env.X"), i,
				w.scalar(grammar.Form{})))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return w.scalar(f)
}

func (w writer) keys(keys []grammar.Key) []string {
	var parts []string
	for _, k := range keys {
		if k.Name != "scenario" && rapid.IntRange(0, 2).Draw(w.T, k.Name) == 0 {
			parts = append(parts, k.Name+": "+w.forms(k.Forms))
		}
	}
	return parts
}

var layout = regexp.MustCompile(`# (before|apart|beside)|[-,{}"' \n\[\]]`)

// bare returns the texts of a file in order, without layout, quotes and comments.
func bare(text []byte) string {
	return layout.ReplaceAllString(string(text), "")
}

// Formatting any valid scenario is idempotent, and its conversion means the same.
func TestEveryConstructConverts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := writer{T: t}
		src := "scenario: generated\n"
		for _, line := range w.keys(grammar.Scenario) {
			src += w.pick("comment", "", "# before\n", "  # before\n", "\n", "\n\n# apart\n\n") + line +
				w.pick("beside", "\n", " # beside\n")
		}
		out, diags := format.Format("a.yaml", []byte(src))
		if diags.HasErrors() {
			t.Fatalf("%v\n%s", diags, src)
		}
		if again, _ := format.Format("a.yaml", out); string(again) != string(out) {
			t.Fatalf("formatted twice:\n%s\nonce:\n%s", again, out)
		}
		there, diags := format.Convert("a.yaml", []byte(src), format.HCL)
		if diags.HasErrors() {
			t.Fatalf("%v\n%s", diags, src)
		}
		for _, c := range []string{"# before", "# apart", "# beside"} {
			if strings.Count(string(there), c) != strings.Count(src, c) {
				t.Fatalf("comments %q were lost or doubled\n%s\nof\n%s", c, there, src)
			}
		}
		back, diags := format.Convert("a.hcl", there, format.YAML)
		if diags.HasErrors() {
			t.Fatalf("%v\n%s", diags, there)
		}
		again, diags := format.Convert("a.yaml", back, format.HCL)
		if diags.HasErrors() {
			t.Fatalf("%v\n%s", diags, back)
		}
		if last, diags := format.Convert("a.hcl", again, format.YAML); diags.HasErrors() ||
			bare(last) != bare(back) {
			t.Fatalf("the second time there and back: %v\n%s\nthe first time\n%s", diags, last, back)
		}
	})
}
