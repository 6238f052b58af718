package docs

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/dsl/expression"
	"github.com/weir-bench/weir/dsl/grammar"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/test/golden"
)

// keyTable is a mapping of scenarios with a list of its own on a page. Other mappings stand below their key.
type keyTable struct {
	title string
	keys  []grammar.Key
}

// keyTables are those of each page about the language.
var keyTables = map[string][]keyTable{
	"language.md":           {{"A scenario", grammar.Scenario}},
	"language/axes.md":      {{"`sweep`", grammar.SweepKeys}},
	"language/variables.md": {{"An entry of `variables`", grammar.Variable}},
	"language/runs.md": {
		{"An entry of `runs`", grammar.Run}, {"`timeout`", grammar.Timeouts}, {"`retry`", grammar.Retry},
		{"`place`", grammar.Place}, {"`cluster`", grammar.Cluster}, {"`defaults`", grammar.Defaults},
	},
	"language/assertions.md": {
		{"An entry of `assert`", grammar.Assert}, {"`may_fail`", grammar.MayFail},
		{"`inconclusive`", grammar.Inconclusive},
	},
	"language/baselines.md": {{"`baseline`", grammar.Baseline}, {"An entry of `claims`", grammar.Claim}},
	"language/setup.md": {
		{"An entry of `setup` or `teardown`", grammar.Command}, {"An entry of `checks`", grammar.Check},
		{"An entry of `artifacts`", grammar.Artifact},
	},
	"services.md": {
		{"An entry of `services`", grammar.Service}, {"`ready`", grammar.Ready}, {"`stop`", grammar.Stop},
		{"`place`", grammar.OwnPlace}, {"An entry of `metrics`", grammar.Observe}, {"`proof`", grammar.Proof},
		{"`kubernetes`", grammar.InCluster}, {"`tunnel`", grammar.Tunnel}, {"`helm`", grammar.Helm},
	},
}

// prose are the pages that explain the keys of a scenario of which the grammar has no list.
var prose = map[string]string{"references": "language/baselines.md", "variants": "language/variants.md"}

// Pages about the language have their lists of keys from the grammar.
func TestKeysOfTheLanguage(t *testing.T) {
	for _, p := range languagePages(t) {
		marker, got := "## Keys\n\n", keysOf(p.File)
		switch p.Name {
		case "language":
			marker, got = "## Sections\n\n", sections(t)+"\n## Keys\n\n"+got
		case "units":
			marker, got = "## Units\n\n", unitTable()
		case "functions":
			marker, got = "## Functions\n\n", functionList()
		case "assertions":
			marker, got = "## Forms\n\n", formList()+"\n## Keys\n\n"+got
		}
		if got != "" {
			golden.After(t, p.File, marker, Fill(got, 100))
		}
	}
}

// Each page about the language has a whole scenario, which test/pages checks.
func TestPagesOfTheLanguageHaveAScenario(t *testing.T) {
	for _, p := range languagePages(t) {
		text, err := p.Text()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, "\nscenario: ") {
			t.Errorf("%s shows no scenario", p.File)
		}
	}
}

// Every mapping that has a list of its own is linked from the key that has such a mapping.
func TestTablesOfKeysAreReached(t *testing.T) {
	reached := map[*grammar.Key]bool{&grammar.Scenario[0]: true}
	var walk func(keys []grammar.Key)
	walk = func(keys []grammar.Key) {
		for _, k := range keys {
			if inner := innerKeys(k.Forms); len(inner) > 0 {
				reached[&inner[0]] = true
				walk(inner)
			}
		}
	}
	walk(grammar.Scenario)
	for file, tables := range keyTables {
		for _, table := range tables {
			if !reached[&table.keys[0]] {
				t.Errorf("%s: %s is the form of no key", file, table.title)
			}
		}
	}
}

// Types of keys are written so that a person reads them: nested ones have a short form.
func TestTypesOfKeysAreShort(t *testing.T) {
	var walk func(keys []grammar.Key)
	walk = func(keys []grammar.Key) {
		for _, k := range keys {
			if text := cmp.Or(k.Written, formsText(k.Forms)); len(text) > 120 {
				t.Errorf("%s: %s", k.Name, text)
			}
			walk(innerKeys(k.Forms))
		}
	}
	walk(grammar.Scenario)
}

func languagePages(t *testing.T) []Page {
	for _, g := range Index {
		if g.Title == Language {
			return g.Pages
		}
	}
	t.Fatal("Index has no pages about the language")
	return nil
}

// sections are the pages, with the keys of their lists.
func sections(t *testing.T) string {
	var b strings.Builder
	for _, p := range languagePages(t)[1:] {
		fmt.Fprintf(&b, "- [%s](%s): %s.", p.Name, p.File, p.About)
		var names []string
		for _, table := range keyTables[p.File] {
			names = append(names, namesOf(table.keys)...)
		}
		if len(names) > 0 {
			fmt.Fprintf(&b, " Keys: %s.", strings.Join(unique(names), " · "))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// namesOf are the keys of a list, with those of the mappings in it that have no list of their own.
func namesOf(keys []grammar.Key) (names []string) {
	for _, k := range keys {
		names = append(names, "`"+k.Name+"`")
		if inner := innerKeys(k.Forms); len(inner) > 0 {
			if page, _ := tableOf(inner); page == "" {
				names = append(names, namesOf(inner)...)
			}
		}
	}
	return names
}

func unique(names []string) (out []string) {
	seen := map[string]bool{}
	for _, n := range names {
		if !seen[n] {
			out = append(out, n)
		}
		seen[n] = true
	}
	return out
}

// keysOf are the lists of a page.
func keysOf(file string) string {
	var b strings.Builder
	for i, table := range keyTables[file] {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "### %s\n\n", table.title)
		writeKeys(&b, file, table.keys, 0)
	}
	return b.String()
}

func writeKeys(b *strings.Builder, file string, keys []grammar.Key, depth int) {
	var ofRuns []string
	for _, k := range keys {
		if &keys[0] == &grammar.Defaults[0] && asInRuns(k) {
			ofRuns = append(ofRuns, "`"+k.Name+"`")
			continue
		}
		form := cmp.Or(k.Written, formsText(k.Forms))
		if k.Singular != "" {
			form += fmt.Sprintf("; in HCL `%s \"NAME\" { … }`", k.Singular)
		}
		if note := k.Note(); note != "" {
			form += "; " + strings.Trim(note, " ()")
		}
		fmt.Fprintf(b, "%s- `%s` (%s): %s", strings.Repeat("  ", depth), k.Name, form, k.Doc)
		inner := innerKeys(k.Forms)
		page, title := tableOf(inner)
		if page == "" && &keys[0] == &grammar.Scenario[0] {
			page = prose[k.Name]
		}
		switch {
		case page == file:
			fmt.Fprintf(b, "; see %s below\n", strings.ToLower(title[:1])+title[1:])
			continue
		case page != "":
			fmt.Fprintf(b, " ([%s](%s))\n", strings.TrimSuffix(path.Base(page), ".md"), relative(file, page))
			continue
		}
		b.WriteByte('\n')
		writeKeys(b, file, inner, depth+1)
	}
	if ofRuns != nil {
		fmt.Fprintf(b, "- %s: as of a run\n", strings.Join(ofRuns, ", "))
	}
}

// asInRuns is whether a run has the same key.
func asInRuns(k grammar.Key) bool {
	same, is := grammar.Find(grammar.Run, k.Name)
	return is && same.Doc == k.Doc
}

// tableOf finds the list of a mapping.
func tableOf(keys []grammar.Key) (file, title string) {
	if len(keys) == 0 {
		return "", ""
	}
	for file, tables := range keyTables {
		for _, table := range tables {
			if &table.keys[0] == &keys[0] {
				return file, table.title
			}
		}
	}
	return "", ""
}

// relative is the link from one page to another.
func relative(from, to string) string {
	switch {
	case path.Dir(from) == path.Dir(to):
		return path.Base(to)
	case path.Dir(from) == ".":
		return to
	}
	return "../" + to
}

// innerKeys are the keys that a value may have. All forms of a value that have keys have the same ones.
func innerKeys(forms []grammar.Form) []grammar.Key {
	for _, f := range forms {
		if len(f.Keys) > 0 {
			return f.Keys
		}
		if keys := innerKeys(f.Item); keys != nil {
			return keys
		}
		if keys := innerKeys(f.Value); keys != nil {
			return keys
		}
	}
	return nil
}

// formsText describes the forms of a value.
func formsText(forms []grammar.Form) string {
	var parts []string
	for _, f := range forms {
		parts = append(parts, formText(f))
	}
	return strings.Join(parts, ", or ")
}

func formText(f grammar.Form) string {
	switch f.Shape {
	case grammar.List:
		return "list of (" + formsText(f.Item) + ")"
	case grammar.Section:
		return "keys"
	case grammar.Named:
		return "entries with names"
	case grammar.Map:
		return "mapping of " + f.Names + " to " + formsText(f.Value)
	case grammar.Sweep:
		return "axes"
	}
	if len(f.Values) > 0 {
		return strings.Join(f.Values, " | ")
	}
	return string(f.Type)
}

func unitTable() string {
	var b strings.Builder
	b.WriteString("| of | units |\n|---|---|\n")
	for _, d := range quantity.Units() {
		symbols, also := d.Symbols, ""
		if d.Dim == quantity.RateDim {
			also = "a size with `/s`, as `GB/s`; "
			symbols = slices.DeleteFunc(slices.Clone(symbols), func(symbol string) bool {
				return strings.HasSuffix(symbol, "/s")
			})
		}
		fmt.Fprintf(&b, "| %s | %s`%s` |\n", d.Dim, also, strings.Join(symbols, "` `"))
	}
	return b.String()
}

func functionList() string {
	var b strings.Builder
	for _, f := range dsl.Functions() {
		fmt.Fprintf(&b, "- `%s`: %s", f.Signature, f.Doc)
		if v, err := dsl.EvaluateExample(f.Example); f.Example != "" && err == nil {
			fmt.Fprintf(&b, ". `%s` is `%s`", f.Example, v)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "\nAssertions have functions of their own: `%s` ([assertions](assertions.md)).\n",
		strings.Join(expression.Functions(), "`, `"))
	return b.String()
}

func formList() string {
	var b strings.Builder
	for _, f := range dsl.AssertionForms() {
		fmt.Fprintf(&b, "- `%s`: %s. Example: `%s`\n", f.Form, f.Doc, f.Example)
	}
	return b.String()
}
