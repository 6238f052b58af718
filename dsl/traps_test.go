package dsl

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

const trapped = "scenario: s\nruns:\n  a:\n    workload: transfer\n    options: {block_size: 1}\n%"

// What YAML would take a text for does not matter: its place decides.
func TestScalarsAreReadByTheirPlace(t *testing.T) {
	for _, written := range []string{"no", "yes", "on", "0777", "1.10", "0o17", "0x1F", "1e3", "2026-01-01", "1_000", ".5", "+1", "12:30:45", "=", "<<", "!x"} {
		piece := "    env: {V: " + written + ", on: 1, no: 2}\n    when: true\n"
		if strings.HasPrefix(written, "!") {
			piece = strings.Replace(piece, written, "'"+written+"'", 1)
		}
		s := loadText(t, strings.Replace(trapped, "%", piece, 1), nil, nil)
		resolved, diags := s.Runs[0].At(nil)
		if diags.HasErrors() || resolved.Env["V"] != written || resolved.Env["on"] != "1" || resolved.Env["no"] != "2" {
			t.Errorf("%s: %v, %v", written, resolved.Env, diags)
		}
	}
	for place, wrong := range map[string][]string{
		"options: {block_size: 1, batch: %}": {"no", "1.10", "0x1F", "0o17", "~"},
		"launches: %":                        {"1.10", "no", "0x1F", "1e1"},
		"retry: %":                           {"no", "1.0"},
		"timeout: %":                         {"10", "12:30", "no"},
	} {
		for _, w := range wrong {
			src := "scenario: s\nruns:\n  a:\n    workload: transfer\n    " + strings.Replace(place, "%", w, 1) + "\n"
			if !strings.HasPrefix(place, "options") {
				src += "    options: {block_size: 1}\n"
			}
			if s, _, diags := Load("x.yaml", []byte(src), Options{}); s != nil || len(diags) != 1 {
				t.Errorf("%s: %v", src, diags)
			}
		}
	}
}

func TestTrapsOfYAML(t *testing.T) {
	const run = "runs: {a: {workload: transfer, options: {block_size: 1}}}\n"
	bomb := "scenario: s\na: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'j'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	for name, c := range map[string]struct{ src, summary, says string }{
		"duplicate key":            {"scenario: s\n" + run + "scenario: t\n", "Duplicate key", "line 1"},
		"duplicate in flow":        {"scenario: s\nruns: {a: {workload: transfer, workload: transfer, options: {block_size: 1}}}\n", "Duplicate key", "workload"},
		"duplicate run":            {"scenario: s\nruns:\n  a: {workload: transfer, options: {block_size: 1}}\n  a: {workload: transfer, options: {block_size: 1}}\n", "Duplicate key", "line 3"},
		"duplicate quoted":         {"scenario: s\n'description': a\ndescription: b\n" + run, "Duplicate key", "line 2"},
		"alias cycle":              {"scenario: s\nruns: &r {a: *r}\n", "Alias inside itself", "for ever"},
		"merge cycle":              {"scenario: s\nruns: {a: &a {<<: *a}}\n", "Alias inside itself", "for ever"},
		"alias bomb":               {bomb + run, "Too large", "aliases"},
		"merge of a text":          {"scenario: s\ndescription: &b x\nruns: {a: {workload: transfer, options: {block_size: 1, <<: *b}}}\n", "Invalid merge", "takes a mapping"},
		"several documents":        {"scenario: s\n" + run + "---\nscenario: t\n" + run, "Several documents in one file", "own file"},
		"tab as indentation":       {"scenario: s\nruns:\n\ta: {}\n", "Invalid YAML", "tab"},
		"UTF-16":                   {"\xff\xfes\x00c\x00", "Not UTF-8", "UTF-16"},
		"Latin-1":                  {"scenario: caf\xe9\n" + run, "Not UTF-8", "0xE9"},
		"overlong":                 {"scenario: \xc0\x80\n" + run, "Not UTF-8", "0xC0"},
		"tag":                      {"scenario: s\nruns: {a: {workload: !!str transfer, options: {block_size: 1}}}\n", "Tags are not used", "!!str"},
		"key that is a list":       {"scenario: s\n? [a]\n: b\n" + run, "Invalid key", "plain text"},
		"unknown anchor":           {"scenario: *s\n" + run, "Invalid YAML", "nknown anchor"},
		"version":                  {"%YAML 1.2\n---\nscenario: s\n" + run, "Invalid YAML", "Remove the line"},
		"control character":        {"scenario: \"s\x01\"\n" + run, "Invalid YAML", "ontrol characters"},
		"unclosed quote":           {"scenario: \"s\n" + run, "Invalid YAML", ""},
		"document marker in block": {"scenario: s\n" + run + "...\nmore\n", "Invalid YAML", "document"},
	} {
		s, sources, diags := Load("x.yaml", []byte(c.src), Options{Env: testEnv})
		if s != nil || len(diags) == 0 || diags[0].Summary != c.summary || !strings.Contains(diags[0].Detail, c.says) {
			t.Errorf("%s: %v", name, diags)
			continue
		}
		if name != "alias bomb" && len(diags) != 1 {
			t.Errorf("%s: more than one error: %v", name, diags)
		}
		checkPlaces(t, sources, diags)
	}
}

func TestWhatIsHarmlessInYAMLLoads(t *testing.T) {
	for name, src := range map[string]string{
		"byte order mark": "\ufeffscenario: s\nruns: {a: {workload: transfer, options: {block_size: 1}}}\n",
		"CRLF":            "scenario: s\r\nruns:\r\n  a:\r\n    workload: transfer\r\n    options: {block_size: 1}\r\n",
		"one document":    "---\nscenario: s\nruns: {a: {workload: transfer, options: {block_size: 1}}}\n",
		"document end":    "scenario: s\nruns: {a: {workload: transfer, options: {block_size: 1}}}\n...\n",
		"directive":       "%YAML 1.1\n---\nscenario: s\nruns: {a: {workload: transfer, options: {block_size: 1}}}\n",
		"merge":           "scenario: s\ndefaults: {env: &e {A: 1, B: 2}}\nruns: {a: {workload: transfer, options: {block_size: 1}, env: {<<: *e, B: 3}}}\n",
		"tab in a text":   "scenario: s\ndescription: \"a\tb\"\nruns: {a: {workload: transfer,\toptions: {block_size: 1}}}\n",
		"last line open":  "scenario: s\nruns: {a: {workload: transfer, options: {block_size: 1}}}",
	} {
		s := loadText(t, src, nil, nil)
		if s.Name != "s" || s.Runs[0].Name != "a" {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestTrapsOfHCL(t *testing.T) {
	const run = "run \"a\" {\nworkload = \"transfer\"\noptions { block_size = 1 }\n}\n"
	for name, c := range map[string]struct{ src, summary string }{
		"unclosed string":      {"scenario \"s\" {\ndescription = \"open\n" + run + "}\n", "Unclosed string"},
		"unclosed in a list":   {"scenario \"s\" {\nrun \"a\" {\nworkload = \"transfer\"\nneeds = [\"b, \"c\"]\noptions { block_size = 1 }\n}\n}\n", "Unclosed string"},
		"unclosed label":       {"scenario \"s {\n" + run + "}\n", "Unclosed string"},
		"attribute twice":      {"scenario \"s\" {\ndescription = \"a\"\ndescription = \"b\"\n" + run + "}\n", "Attribute redefined"},
		"UTF-16":               {"\xff\xfes\x00c\x00", ""},
		"block and attribute":  {"scenario \"s\" {\ncluster = { nodes = 1 }\ncluster { nodes = 2 }\n" + run + "}\n", ""},
		"needs with a label":   {"scenario \"s\" {\nrun \"a\" {\nworkload = \"transfer\"\nneeds \"b\" {}\noptions { block_size = 1 }\n}\n}\n", "Extraneous label for needs"},
		"two retries":          {"scenario \"s\" {\nrun \"a\" {\nworkload = \"transfer\"\nretry { times = 1 }\nretry { times = 2 }\noptions { block_size = 1 }\n}\n}\n", "Given twice"},
		"validation as a name": {"scenario \"s\" {\nvariable \"v\" {\ndefault = 1\nvalidation \"x\" { condition = true }\n}\n" + run + "}\n", "Extraneous label for validation"},
	} {
		s, sources, diags := Load("x.hcl", []byte(c.src), Options{Env: testEnv})
		if s != nil || len(diags) == 0 || c.summary != "" && (len(diags) != 1 || diags[0].Summary != c.summary) {
			t.Errorf("%s: %v", name, diags)
			continue
		}
		checkPlaces(t, sources, diags)
	}
	_, sources, diags := Load("x.hcl", []byte("\ufeffscenario \"s\" { descriptoin = 1 }\n"), Options{})
	if len(diags) != 1 || string(diags[0].Subject.SliceBytes(sources["x.hcl"].Bytes)) != "descriptoin" {
		t.Error("byte order mark", diags)
	}
	s, _, diags := Load("x.hcl", []byte(strings.ReplaceAll("scenario \"s\" {\n"+run+"}\n", "\n", "\r\n")), Options{})
	if diags.HasErrors() || s.Runs[0].Name != "a" {
		t.Error("CRLF", diags)
	}
}

// heavy are inputs of 64 KiB that ask for as much work as they can.
func heavy() map[string]string {
	const size = 64 << 10
	fill := func(head, unit string) string {
		var b strings.Builder
		b.WriteString(head)
		for i := 0; b.Len() < size-len(unit)-8; i++ {
			b.WriteString(strings.ReplaceAll(unit, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	return map[string]string{
		"runs.yaml":       fill("scenario: s\nruns:\n", "  r#: {workload: transfer, needs: x}\n"),
		"good.yaml":       fill("scenario: s\ndefaults: {options: {transfer: {block_size: 1}}, env: {A: 1}}\nruns:\n", "  r#: {workload: transfer}\n"),
		"needs.yaml":      fill("scenario: s\nruns:\n  a:\n    workload: transfer\n    needs:\n", "    - q#\n"),
		"keys.yaml":       fill("scenario: s\n", "k#: 1\n"),
		"variables.yaml":  fill("scenario: s\nvariables:\n", "  v#: {validation: {condition: x}}\n"),
		"commands.yaml":   fill("scenario: s\nsetup:\n", "  - [x]\n") + "runs: {a: {workload: transfer, options: {block_size: 1}}}\n",
		"scoped.yaml":     fill("scenario: s\ndefaults: {options: {transfer: {block_size: 1}}}\nsetup: ["+strings.Repeat("{command: [x], scope: run}, ", maxCommands)+"]\nruns:\n", "  r#: {workload: transfer}\n"),
		"references.yaml": fill("scenario: s\nruns: {a: {workload: transfer, options: {block_size: 1}}}\nreferences:\n  a:\n", "    - {batch: #, bandwidth: 1}\n"),
		"includes.yaml":   fill("scenario: s\ninclude:\n", "  - f#.yaml\n"),
		"condition.yaml":  "scenario: s\nvariables:\n  v: {default: 1, validation: {condition: '" + strings.Repeat("(", size/2) + "'}}\n",
		"unary.yaml":      "scenario: s\nvariables:\n  v: {default: 1, validation: {condition: '" + strings.Repeat("!", 15<<10) + "true'}}\n",
		"env.yaml":        fill("scenario: s\nruns: {a: {workload: transfer, options: {block_size: 1}, env: {\n", "  A#: '${secret(\"X\")}',\n") + "}}}\n",
		"asserts.yaml":    fill("scenario: s\nruns:\n  a:\n    workload: transfer\n    options: {block_size: 1}\n    assert:\n", "      - {that: bandwidth >= #, xfail: {reason: r, until: x}}\n"),
		"runs.hcl":        fill("scenario \"s\" {\n", "run \"r#\" {\nneeds { run = \"q\" }\n}\n") + "}\n",
		"needs.hcl":       fill("scenario \"s\" {\nrun \"a\" {\n", "needs { run = \"q#\" }\n") + "}\n}\n",
		"keys.hcl":        fill("scenario \"s\" {\n", "k# = 1\n") + "}\n",
		"commands.hcl":    fill("scenario \"s\" {\nsetup = [\n", "[\"x\"],\n") + "]\n}\n",
		"validations.hcl": fill("scenario \"s\" {\nvariable \"v\" {\ndefault = 1\n", "validation { condition = false }\n") + "}\n}\n",
		"spread.hcl":      "scenario \"s\" {\ndescription = join(\"\", [for a in [" + strings.Repeat("1,", 16<<10) + "]: \"x\"])\n}\n",
	}
}

// used is the processor time of this process: others' load does not count.
func used() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano())
}

func TestNoInputOf64KiBTakesLong(t *testing.T) {
	for name, src := range heavy() {
		if len(src) > 70<<10 {
			t.Fatal(name, len(src))
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := used()
		_, sources, diags := Load(name, []byte(src), Options{Env: testEnv, Read: memory(nil)})
		d := used() - start
		var b bytes.Buffer
		if err := WriteDiagnostics(&b, "text", diags, sources); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		t.Log(name, d, (after.TotalAlloc-before.TotalAlloc)>>20, "MiB", len(diags))
		if d > 5*time.Second { // a second, but for the race detector
			t.Errorf("%s took %v", name, d)
		}
		if live := after.HeapAlloc; live > 200<<20 {
			t.Errorf("%s holds %d MiB", name, live>>20)
		}
	}
}

// Expressions that would take hours, or all memory, are refused unevaluated.
func TestCostlyExpressionsAreRefused(t *testing.T) {
	for _, e := range []string{
		`1e300000000 % 7`, `floor(1e300000000)`, `ceil(1e-300000000)`, `"1e300000000" + 0`, `"${1e300000000}"`,
		`format("%900000000s", "x")`, `format("%d", 1e300000000)`, `format("%.*d" , 5)`,
		`[for a in [1]: [for b in [a]: b]]`, `replace("` + strings.Repeat("a", 2000) + `", "a", "` + strings.Repeat("a", 2000) + `")`,
	} {
		for file, src := range map[string]string{
			"x.hcl":  "scenario \"s\" {\ndescription = " + e + "\nrun \"a\" {\nworkload = \"transfer\"\noptions { block_size = 1 }\n}\n}\n",
			"x.yaml": "scenario: s\ndescription: '${" + e + "}'\nruns: {a: {workload: transfer, options: {block_size: 1}}}\n",
		} {
			start := time.Now()
			if s, _, diags := Load(file, []byte(src), Options{}); s != nil || !diags.HasErrors() || time.Since(start) > time.Second {
				t.Errorf("%s %.80s: %v", file, e, diags)
			}
		}
	}
	for e, want := range map[string]string{
		`"12e34567"`: "12e34567", `replace("aba", "a", "x")`: "xbx", `format("%5.1f|%s", 2, "x")`: "  2.0|x",
		`join("-", [for a in ["x", "y"]: upper(a)])`: "X-Y", `max(1e300, 2) > 1`: "true",
	} {
		s, _, diags := Load("x.hcl", []byte("scenario \"s\" {\ndescription = "+e+"\nrun \"a\" {\nworkload = \"transfer\"\noptions { block_size = 1 }\n}\n}\n"), Options{})
		if diags.HasErrors() || s.Description != want {
			t.Errorf("%s: %v", e, diags)
		}
	}
}
