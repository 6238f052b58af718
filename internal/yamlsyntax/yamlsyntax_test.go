package yamlsyntax

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// document parses `values:` and returns its attributes.
func document(t *testing.T, src string) hcl.Attributes {
	t.Helper()
	file, diags := Parse([]byte(src), "t.yaml", "doc")
	if diags.HasErrors() {
		t.Fatalf("%v in\n%s", diags, src)
	}
	content, diags := file.Body.Content(&hcl.BodySchema{
		Blocks: []hcl.BlockHeaderSchema{{Type: "doc", LabelNames: []string{"name"}}},
	})
	if diags.HasErrors() || len(content.Blocks) != 1 || content.Blocks[0].Labels[0] != "x" {
		t.Fatal(diags, content)
	}
	attrs, diags := content.Blocks[0].Body.JustAttributes()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return attrs
}

func TestScalarsAreRawTextAtExactPlaces(t *testing.T) {
	for written, text := range map[string]string{
		"0777": "0777", "no": "no", "1.10": "1.10", "0x1F": "0x1F", "1e3": "1e3", "2001-01-01": "2001-01-01",
		"yes please": "yes please",
		`"a\tb"`:     "a\tb", `"plain"`: "plain", `'it''s'`: "it's", `''`: "", "a#b": "a#b", "µs ümläut": "µs ümläut",
		"a:b": "a:b", "-5": "-5", `"\u00b5"`: "µ",
	} {
		for _, frame := range []string{
			"doc: x\nkey: %\n", "doc: x\nkey: % # comment\nafter: 1\n", "\ufeffdoc: x\r\nä: [a, b]\r\nkey: %\r\n",
			"key: %\ndoc: x", "doc: x\nkey: &anchor %\n", "doc: x\nkey:\n\n    %\n", "doc: x\nkey: &a # c\n  %\n",
			"doc: x\nkey:\t%\n",
		} {
			src := strings.Replace(frame, "%", written, 1)
			a := document(t, src)["key"]
			v, diags := a.Expr.Value(nil)
			if diags.HasErrors() || v.IsNull() || v.AsString() != text {
				t.Errorf("%q: %#v, %v", src, v, diags)
			}
			if got := string(a.Expr.Range().SliceBytes([]byte(src))); got != written {
				t.Errorf("%q: the range covers %q", src, got)
			}
			if got := string(a.NameRange.SliceBytes([]byte(src))); got != "key" {
				t.Errorf("%q: the key's range covers %q", src, got)
			}
		}
	}
}

func TestPrivateCharactersAreTextLikeAnyOther(t *testing.T) {
	for written, text := range map[string]string{"\uE041": "\uE041", `"\uE041"`: "\uE041", `"\U0000e041"`: "\uE041"} {
		for _, frame := range []string{"doc: x\nkey: %\n", "doc: x\nother: ${a}\nkey: %\n"} {
			src := strings.Replace(frame, "%", written, 1)
			if v, diags := document(t, src)["key"].Expr.Value(nil); diags.HasErrors() || v.AsString() != text {
				t.Errorf("%q: %#v, %v", src, v, diags)
			}
		}
	}
}

// A block scalar ends at the column of its key, also after dashes; then a value follows, in which
// ${…} may contain anything.
func TestTemplatesAfterBlocksOfLines(t *testing.T) {
	for _, head := range []string{
		"k: |\n  x\n", "k:\n  - |\n   x: y z\n", "k:\n  - - a: |\n       x: y z\n      b: %\n",
		"k:\n  -   a: >-\n        x: y z\n      b: %\n", "k:\n- a: |\n   x: y z\n  b: %\n",
		"k:\n  - &x |\n    x: y z\n",
	} {
		src := "doc: x\n" + strings.ReplaceAll(head, "%", `${var.n > 1 ? "a" : "b"}`) +
			`key: ${var.n > 1 ? "a" : "b"}` + "\n"
		if _, diags := ParseTree([]byte(src), "t.yaml"); diags.HasErrors() {
			t.Errorf("%v in\n%s", diags, src)
		}
	}
}

func TestPlacesOfCollections(t *testing.T) {
	src := "doc: x\nflow: [a, {b: c, d: [e]} , f]\nmap: {a: 'x, }', b: \"]\" }\nblock:\n  - a\n  -  - b\n     - c: d\nempty: []\n"
	attrs := document(t, src)
	for key, want := range map[string]string{
		"flow": "[a, {b: c, d: [e]} , f]", "map": `{a: 'x, }', b: "]" }`, "block": "- a\n  -  - b\n     - c: d",
		"empty": "[]",
	} {
		if got := string(attrs[key].Expr.Range().SliceBytes([]byte(src))); got != want {
			t.Errorf("%s covers %q, want %q", key, got, want)
		}
	}
}

func TestNullsAndFoldedTexts(t *testing.T) {
	attrs := document(t, "doc: x\na:\nb: ~\nc: null\nd: \"null\"\ne: |\n  one\n  two\nf: >-\n  one\n  two\ng: one\n  two # c\nh: \"one\n  two\"\n")
	for key, want := range map[string]string{
		"d": "null", "e": "one\ntwo\n", "f": "one two", "g": "one two", "h": "one two",
	} {
		if v, _ := attrs[key].Expr.Value(nil); v.IsNull() || v.AsString() != want {
			t.Errorf("%s = %#v", key, v)
		}
	}
	for _, key := range []string{"a", "b", "c"} {
		if v, _ := attrs[key].Expr.Value(nil); !v.IsNull() {
			t.Errorf("%s = %#v", key, v)
		}
	}
}

// The punctuation of YAML has no meaning inside ${…}, in any context.
func TestTemplates(t *testing.T) {
	ctx := &hcl.EvalContext{
		Variables: map[string]cty.Value{
			"var": cty.ObjectVal(map[string]cty.Value{
				"p": cty.True, "n": cty.NumberIntVal(5), "s": cty.StringVal("é"),
			}),
		},
	}
	for written, want := range map[string]cty.Value{
		`${var.p ? "0" : "1"}`:             cty.StringVal("0"),
		`${var.n}`:                         cty.NumberIntVal(5),
		`"${var.n}"`:                       cty.NumberIntVal(5),
		`'${var.n + 1}'`:                   cty.NumberIntVal(6),
		`a ${var.n} b ${var.s}`:            cty.StringVal("a 5 b é"),
		`${ {a: 1, b: "}"}.b }`:            cty.StringVal("}"),
		`${[1, 2][1]}`:                     cty.NumberIntVal(2),
		`${"a #b"}`:                        cty.StringVal("a #b"),
		`${"x${var.p ? "y: z" : ""}"}`:     cty.StringVal("xy: z"),
		`"${var.p ? \"0\" : \"1\"}"`:       cty.StringVal("0"),
		`'${var.p ? "it''s" : ""}'`:        cty.StringVal("it's"),
		`$${var.n}`:                        cty.StringVal("${var.n}"),
		`price $5`:                         cty.StringVal("price $5"),
		"|-\n    ${var.p ? \"a\" : \"b\"}": cty.StringVal("a"),
	} {
		for _, frame := range []string{"doc: x\nk: %\nz: 'a'\n", "doc: x\nq: [\"it's\", {k: 1}]\nk: % # '\n"} {
			src := strings.Replace(frame, "%", written, 1)
			if strings.HasPrefix(written, "|") && strings.Contains(frame, "# '") {
				continue
			}
			v, diags := document(t, src)["k"].Expr.Value(ctx)
			if diags.HasErrors() || !v.RawEquals(want) {
				t.Errorf("%s: %#v, %v", src, v, diags)
			}
		}
		if !strings.HasPrefix(written, "|") && !strings.Contains(written, " b ") {
			src := "doc: x\nk: [1, {a: " + written + " }, 2]\n"
			v, diags := document(t, src)["k"].Expr.Value(ctx)
			if diags.HasErrors() || v.LengthInt() != 3 || !v.Index(cty.NumberIntVal(1)).GetAttr("a").RawEquals(want) {
				t.Errorf("%s: %#v, %v", src, v, diags)
			}
		}
	}
}

func TestTemplateErrorsPointAtTheirCharacters(t *testing.T) {
	ctx := &hcl.EvalContext{Variables: map[string]cty.Value{}}
	for src, want := range map[string]string{
		"doc: x\nk: ü ${nope}\n":            "nope",
		"doc: x\nk: 'ü ${nope.x}'\n":        "nope",
		"doc: x\nk: [1, \"${nope}\"]\n":     "nope",
		"doc: x\nk: \"\\t${nope}\"\n":       `"\t${nope}"`, // unescaped, so the whole scalar
		"doc: x\nk: >-\n  ${nope}\n":        ">-",
		"doc: x\r\nk: {a: ${nope + 1}}\r\n": "nope",
	} {
		e := document(t, src)["k"].Expr
		_, diags := e.Value(ctx)
		if !diags.HasErrors() {
			t.Fatal(src)
		}
		if got := string(diags[0].Subject.SliceBytes([]byte(src))); got != want {
			t.Errorf("%q: the error is at %q, want %q", src, got, want)
		}
		refs := e.Variables()
		if got := string(refs[0].SourceRange().SliceBytes([]byte(src))); len(refs) != 1 ||
			!strings.HasPrefix(got, want) {
			t.Errorf("%q: the reference is at %q", src, got)
		}
	}
}

func TestAliasesAndMerges(t *testing.T) {
	attrs := document(t, "doc: x\nbase: &b {a: 1, b: 2}\nmore: &m {b: 3, c: 4}\none: {<<: *b, b: 9}\ntwo: {<<: [*m, *b]}\nsame: *b\n")
	for key, want := range map[string]map[string]string{
		"one": {"a": "1", "b": "9"}, "two": {"a": "1", "b": "3", "c": "4"}, "same": {"a": "1", "b": "2"},
	} {
		v, _ := attrs[key].Expr.Value(nil)
		if v.LengthInt() != len(want) {
			t.Errorf("%s = %#v", key, v)
		}
		for k, w := range want {
			if got := v.GetAttr(k).AsString(); got != w {
				t.Errorf("%s.%s = %s, want %s", key, k, got, w)
			}
		}
	}
}

func TestBodiesFollowTheSchema(t *testing.T) {
	file, diags := Parse([]byte("doc: x\nruns:\n  a: {k: 1}\n  b:\nchecks: [{name: c, k: 2}]\noptions: {o: 1}\nenv: {e: 1}\nplain: [1]\nextra: 1\n"),
		"t.yaml", "doc")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	root, _ := file.Body.Content(&hcl.BodySchema{
		Blocks: []hcl.BlockHeaderSchema{{Type: "doc", LabelNames: []string{"name"}}},
	})
	schema := &hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{
			{Name: "env"}, {Name: "plain"}, {Name: "options"}, {Name: "absent", Required: true},
		},
		Blocks: []hcl.BlockHeaderSchema{
			{Type: "run", LabelNames: []string{"name"}}, {Type: "check", LabelNames: []string{"name"}},
			{Type: "options"}, {Type: "plain"},
		},
	}
	content, rest, diags := root.Blocks[0].Body.PartialContent(schema)
	if len(diags) != 1 || diags[0].Summary != "Missing required argument" {
		t.Error(diags)
	}
	var blocks []string
	for _, b := range content.Blocks {
		blocks = append(blocks, b.Type+":"+strings.Join(b.Labels, ","))
	}
	if got := strings.Join(blocks, " "); got != "run:a run:b check:c options:" {
		t.Error(got)
	}
	if _, isAttribute := content.Attributes["options"]; isAttribute || content.Attributes["env"] == nil ||
		content.Attributes["plain"] == nil {
		t.Error(content.Attributes)
	}
	left, _ := rest.JustAttributes()
	if len(left) != 1 || left["extra"] == nil {
		t.Error(left)
	}
	if _, diags := rest.Content(&hcl.BodySchema{}); len(diags) != 1 {
		t.Error(diags)
	}
}

func TestKeywordsAreReadAsReferences(t *testing.T) {
	attrs := document(t, "doc: x\na: list\nb: ''\nc: a b\nd: run.first\n")
	if hcl.ExprAsKeyword(attrs["a"].Expr) != "list" || hcl.ExprAsKeyword(attrs["b"].Expr) != "" ||
		hcl.ExprAsKeyword(attrs["c"].Expr) != "" {
		t.Error("keywords")
	}
	if tr, diags := hcl.AbsTraversalForExpr(attrs["d"].Expr); diags.HasErrors() || len(tr) != 2 {
		t.Error(tr, diags)
	}
}

func TestSyntaxErrorsNameTheirLine(t *testing.T) {
	for src, line := range map[string]int{
		"doc: x\na: 1\nb: c: d\ne: 1\n":                    3,
		"doc: x\na:\n  - b\n c: d\n":                       4,
		"doc: x\na: 1\n\tb: 2\n":                           3,
		"doc: x\nb: 'open\nc: 1\n":                         2,
		"doc: x\nb: %bad\n":                                2,
		"doc: x\nlist: [a, b\nc: d\n":                      2,
		"doc: x\na: 1\nb: *none\nc: 3\n":                   3,
		"doc: x\ndeep:\n  a:\n    b: 1\n   c: 2\nend: 1\n": 5,
	} {
		_, diags := Parse([]byte(src), "t.yaml", "doc")
		if len(diags) != 1 || diags[0].Subject.Start.Line != line {
			t.Errorf("%q: want line %d, got %v", src, line, diags)
		}
	}
}
