package format_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/dsl/format"
	"github.com/weir-bench/weir/internal/yamlsyntax"
	"github.com/weir-bench/weir/test/phase"
)

// yamlReader is a YAML library of another language. Its script defines load; the common code reads
// a JSON list of documents from stdin and writes a list of {"data"} or {"error"}.
type yamlReader struct{ name, program, flag, load, rest string }

// PyYAML reads YAML 1.1, where the key `on` is true; only that is corrected here.
const inPython = `
import json, sys
def named(v):
    if isinstance(v, dict): return {("on" if k is True else k): named(x) for k, x in v.items()}
    if isinstance(v, list): return [named(x) for x in v]
    return v
def one(text):
    try: return {"data": named(load(text))}
    except Exception as e: return {"error": type(e).__name__ + ": " + str(e)}
json.dump([one(t) for t in json.load(sys.stdin)], sys.stdout, default=repr)
`

const inNode = `
const one = text => { try { return {data: load(text)} } catch (e) { return {error: String(e)} } };
process.stdout.write(JSON.stringify(JSON.parse(require("fs").readFileSync(0)).map(one)));
`

var yamlReaders = []yamlReader{
	{"PyYAML", "/usr/bin/python3", "-c", "import yaml\nload = yaml.safe_load", inPython},
	{"ruamel.yaml", "/usr/bin/python3", "-c",
		"import ruamel.yaml\nload = lambda t: ruamel.yaml.YAML(typ='safe', pure=True).load(t)", inPython},
	{"js-yaml", "node", "-e", `const load = require("js-yaml").load;`, inNode},
	{"npm yaml", "node", "-e", `const parse = require("yaml").parse, load = t => parse(t, {merge: true});`, inNode},
}

func (r yamlReader) run(script string, stdin []byte) ([]byte, error) {
	cmd := exec.Command(r.program, r.flag, script)
	cmd.Env = append(os.Environ(), "NODE_PATH=/usr/share/nodejs")
	cmd.Stdin = bytes.NewReader(stdin)
	return cmd.Output()
}

type reading struct {
	Data  any
	Error string
}

// readByOthers returns what each installed reader reads of each document.
func readByOthers(t *testing.T, documents []string) map[string][]reading {
	t.Helper()
	stdin, err := json.Marshal(documents)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]reading{}
	for _, r := range yamlReaders {
		t.Run(r.name, func(t *testing.T) {
			if _, err := r.run(r.load, nil); err != nil {
				t.Skipf("no %s (scripts/setup browser installs it)", r.name)
			}
			out, err := r.run(r.load+"\n"+r.rest, stdin)
			if err != nil {
				t.Fatal(err)
			}
			var read []reading
			if err := json.Unmarshal(out, &read); err != nil || len(read) != len(documents) {
				t.Fatalf("%d of %d documents: %v", len(read), len(documents), err)
			}
			all[r.name] = read
		})
	}
	return all
}

// Every YAML file of the repository, those of the tests after formatting, and conversions from HCL:
// all readers read the same data.
func TestOtherReadersOfYAMLReadWhatIsShippedAndWritten(t *testing.T) {
	phase.Long(t)
	var names, documents []string
	add := func(name string, src []byte) {
		names, documents = append(names, name), append(documents, string(src))
	}
	for _, root := range []string{"../../scenarios", "../../examples"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if format.SyntaxOf(path) == format.YAML {
				add(path, read(t, path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range shipped(t) {
		src := read(t, file)
		if format.SyntaxOf(file) == format.YAML {
			out, diags := format.Format(file, src)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			add("formatted "+file, out)
			if src, diags = format.Convert(file, src, format.HCL); diags.HasErrors() {
				t.Fatal(diags)
			}
			file += ".hcl"
		}
		out, diags := format.Convert(file, src, format.YAML)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		add("converted "+file, out)
	}
	all := readByOthers(t, documents)
	for i, name := range names {
		var first string
		for _, r := range yamlReaders {
			read, ok := all[r.name]
			if !ok {
				continue
			}
			if read[i].Error != "" {
				t.Errorf("%s does not read %s: %s", r.name, name, read[i].Error)
				continue
			}
			if first == "" {
				first = r.name
			}
			if !reflect.DeepEqual(all[first][i].Data, read[i].Data) {
				t.Errorf("%s: %s reads %v\nand %s reads %v", name, first, all[first][i].Data, r.name, read[i].Data)
			}
		}
	}
}

// Texts that some version of YAML does not read as text, and texts of the characters with a meaning
// there.
func nastyTexts() []string {
	texts := []string{
		"", "y", "N", "yes", "NO", "on", "Off", "true", "False", "null", "~", "=", "<<", "<", "=x",
		"-", "?", ":", "a:", ":a", "?a", "-a", "- a", "? a", ": a", "---", "...", "--- a", "a...",
		"1_000", "0o7", "017", "0x1F", "0b11", "1:30", "1:30:00.5", "190:20:30", "+1", "-0", "1.", ".5",
		"1e3", "1E+3", "1.5e-3", "6.02e23", ".inf", "-.INF", ".NaN", "12345678901234567890", "0.1000000000000000055",
		"2026-01-31", "2026-1-3", "2026-01-31 10:00:00", "2001-12-14t21:59:43.10-05:00", "2026-01-31x", "1,000",
		"a: b", "a #b", "a#b", "#a", "a,b", "[a", "a]", "{a", "a}", "${a ? b : c}", "${f({a = 1})}", "%{if a}b%{endif}",
		"%a", "@a", "`a", "&a", "*a", "!a", "|", ">", "|a", "'a", `"a`, `a"b`, "a'b", `a\b`, " a", "a ", "a\tb", "a\nb",
		"a\u0085b", "a\u2028b", "a\u00a0b", "µs", "日本", "\U0001F600", "\ufeffa", "a\x7fb",
	}
	const letters = "ayn01e_.:-+?#,[]{}&*!|>'\"%@`=<~$\\ \t/xo"
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		b := make([]byte, 1+random.IntN(6))
		for i := range b {
			b[i] = letters[random.IntN(len(letters))]
		}
		texts = append(texts, string(b))
	}
	return texts
}

// A text written with or without quotes is the same text for all readers; an unquoted number is the
// same number.
func TestTextsAreReadAlikeByOtherReaders(t *testing.T) {
	phase.Long(t)
	var documents []string
	var want []any
	add := func(document string, value any) {
		documents, want = append(documents, document), append(want, map[string]any{"v": value})
	}
	for _, text := range append(nastyTexts(), "0", "-7", "1.50", "46.48", "123456789012345", "TRUE", "Null") {
		quoted := yamlsyntax.Quote(text)
		add("v: "+quoted+"\n", text)
		add("v: {"+quoted+": ["+quoted+"]}\n", map[string]any{text: []any{text}})
		var value any = text
		if !yamlsyntax.IsPlain(text, true) && yamlsyntax.ReadAlike(text, true) &&
			json.Unmarshal([]byte(strings.ToLower(text)), &value) != nil {
			continue // no reader starts a plain text with these characters
		}
		if yamlsyntax.IsPlain(text, false) || value != any(text) {
			add("v: "+text+"\n", value)
		}
		if yamlsyntax.IsPlain(text, true) || value != any(text) {
			add("v: ["+text+"]\n", []any{value})
		}
	}
	for name, read := range readByOthers(t, documents) {
		for i, r := range read {
			if r.Error != "" || !reflect.DeepEqual(r.Data, want[i]) {
				t.Errorf("%s reads %q as %#v, want %#v %s", name, documents[i], r.Data, want[i], r.Error)
			}
		}
	}
}

// An unquoted text that only weir can read gives a warning at its characters, with the quoted text.
// Other texts give none.
func TestWhatOtherReadersRefuseIsWarnedOf(t *testing.T) {
	type line struct{ yaml, text, quoted string } // no quoted text: no warning
	lines := []line{
		{`a: ${x ? 1 : 0}`, `${x ? 1 : 0}`, `"${x ? 1 : 0}"`},
		{`a: ${x == "y" ? 1 : 0}`, `${x == "y" ? 1 : 0}`, `'${x == "y" ? 1 : 0}'`},
		{`a: ${f("x #b")}`, `${f("x #b")}`, `'${f("x #b")}'`},
		{`a: {b: ${x}}`, `${x}`, `"${x}"`},
		{`a: [${x}, b]`, `${x}`, `"${x}"`},
		{`${x ? 1 : 0}: b`, `${x ? 1 : 0}`, `"${x ? 1 : 0}"`},
		{`a: =`, `=`, `"="`},
		{`a: ${max(x, y)}`, "", ""},
		{`a: ${x ? 1:0}`, "", ""},
		{`a: "${x ? 1 : 0}"`, "", ""},
		{`a: {b: "${x}", c: 'b ? c'}`, "", ""},
		{"a: |\n  ${x ? 1 : 0} #b", "", ""},
	}
	documents := make([]string, len(lines))
	for i, l := range lines {
		documents[i] = "scenario: s\n" + l.yaml + "\n"
		_, diags := dsl.CheckSyntax("s.yaml", []byte(documents[i]))
		switch {
		case l.quoted == "" && len(diags) == 0:
		case l.quoted != "" && len(diags) == 1 && diags[0].Severity == hcl.DiagWarning &&
			strings.HasSuffix(diags[0].Detail, "Quote it: "+l.quoted):
			if at := diags[0].Subject; documents[i][at.Start.Byte:at.End.Byte] != l.text {
				t.Errorf("%s: the warning is about %q", l.yaml, documents[i][at.Start.Byte:at.End.Byte])
			}
		default:
			t.Errorf("%s: %v", l.yaml, diags)
		}
	}
	all := readByOthers(t, documents)
	for i, l := range lines {
		var refused []string
		for name, read := range all {
			if read[i].Error != "" || strings.Contains(l.text, " #") &&
				!strings.Contains(fmt.Sprint(read[i].Data), "#") {
				refused = append(refused, name)
			}
		}
		if len(all) == len(yamlReaders) && (len(refused) > 0) != (l.quoted != "") {
			t.Errorf("%s is refused by %v", l.yaml, refused)
		}
		out, diags := format.Format("s.yaml", []byte(documents[i]))
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if _, diags := dsl.CheckSyntax("s.yaml", out); len(diags) > 0 {
			t.Errorf("formatted, %s still is %s: %v", l.yaml, out, diags)
		}
	}
}
