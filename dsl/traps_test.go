package dsl

import (
	"fmt"
	"github.com/weir-bench/weir/dsl/deadline"
	"strings"
	"testing"
	"time"
)

const trapped = "scenario: s\nruns:\n  a:\n    workload: transfer\n    options: {block_size: 1}\n%"

// The type of a scalar depends on its place, not on YAML's rules.
func TestScalarsAreReadByTheirPlace(t *testing.T) {
	for _, written := range []string{
		"no", "yes", "on", "0777", "1.10", "0o17", "0x1F", "1e3", "2026-01-01", "1_000", ".5", "+1", "12:30:45", "=",
		"<<", "!x",
	} {
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
		bomb += fmt.Sprintf("%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", c, c, c-1, c-1, c-1, c-1, c-1,
			c-1, c-1, c-1, c-1)
	}
	for name, c := range map[string]struct{ src, summary, says string }{
		"duplicate key": {"scenario: s\n" + run + "scenario: t\n", "Duplicate key", "line 1"},
		"duplicate in flow": {"scenario: s\nruns: {a: {workload: transfer, workload: transfer, options: {block_size: 1}}}\n",
			"Duplicate key", "workload"},
		"duplicate run": {"scenario: s\nruns:\n  a: {workload: transfer, options: {block_size: 1}}\n  a: {workload: transfer, options: {block_size: 1}}\n",
			"Duplicate key", "line 3"},
		"duplicate quoted": {"scenario: s\n'description': a\ndescription: b\n" + run, "Duplicate key", "line 2"},
		"alias cycle":      {"scenario: s\nruns: &r {a: *r}\n", "Alias inside itself", "is inside of the value"},
		"merge cycle":      {"scenario: s\nruns: {a: &a {<<: *a}}\n", "Alias inside itself", "is inside of the value"},
		"alias bomb":       {bomb + run, "Too large", "aliases"},
		"merge of a text": {"scenario: s\ndescription: &b x\nruns: {a: {workload: transfer, options: {block_size: 1, <<: *b}}}\n",
			"Invalid merge", "needs a mapping"},
		"several documents": {"scenario: s\n" + run + "---\nscenario: t\n" + run, "Several documents in one file",
			"own file"},
		"tab as indentation": {"scenario: s\nruns:\n\ta: {}\n", "Invalid YAML", "tab"},
		"UTF-16":             {"\xff\xfes\x00c\x00", "Not UTF-8", "UTF-16"},
		"Latin-1":            {"scenario: caf\xe9\n" + run, "Not UTF-8", "0xE9"},
		"overlong":           {"scenario: \xc0\x80\n" + run, "Not UTF-8", "0xC0"},
		"tag": {"scenario: s\nruns: {a: {workload: !!str transfer, options: {block_size: 1}}}\n",
			"Tags are not used", "!!str"},
		"key that is a list": {"scenario: s\n? [a]\n: b\n" + run, "Invalid key", "plain text"},
		"unknown anchor":     {"scenario: *s\n" + run, "Invalid YAML", "no anchor &s"},
		"version":            {"%YAML 1.2\n---\nscenario: s\n" + run, "Invalid YAML", "Remove the line"},
		"control character":  {"scenario: \"s\x01\"\n" + run, "Invalid YAML", "ontrol characters"},
		"unclosed quote":     {"scenario: \"s\n" + run, "Invalid YAML", ""},

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
		"unclosed string": {"scenario \"s\" {\ndescription = \"open\n" + run + "}\n", "Unclosed string"},
		"unclosed in a list": {"scenario \"s\" {\nrun \"a\" {\nworkload = \"transfer\"\nneeds = [\"b, \"c\"]\noptions { block_size = 1 }\n}\n}\n",
			"Unclosed string"},
		"unclosed label": {"scenario \"s {\n" + run + "}\n", "Unclosed string"},
		"attribute twice": {"scenario \"s\" {\ndescription = \"a\"\ndescription = \"b\"\n" + run + "}\n",
			"Attribute redefined"},
		"UTF-16":              {"\xff\xfes\x00c\x00", ""},
		"block and attribute": {"scenario \"s\" {\ncluster = { nodes = 1 }\ncluster { nodes = 2 }\n" + run + "}\n", ""},
		"needs with a label": {"scenario \"s\" {\nrun \"a\" {\nworkload = \"transfer\"\nneeds \"b\" {}\noptions { block_size = 1 }\n}\n}\n",
			"Extraneous label for needs"},
		"two retries": {"scenario \"s\" {\nrun \"a\" {\nworkload = \"transfer\"\nretry { times = 1 }\nretry { times = 2 }\noptions { block_size = 1 }\n}\n}\n",
			"Given twice"},

		"validation as a name": {"scenario \"s\" {\nvariable \"v\" {\ndefault = 1\nvalidation \"x\" { condition = true }\n}\n" +
			run + "}\n", "Extraneous label for validation"},
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

// Reading a scenario stops at its deadline, and reports the place.
func TestReadingEndsAtTheDeadline(t *testing.T) {
	for file, src := range map[string]string{
		"x.hcl":  "scenario \"s\" {\ndescription = \"a\"\nrun \"a\" {\nworkload = \"transfer\"\noptions { block_size = 1 }\n}\n}\n",
		"x.yaml": "scenario: s\nruns: {a: {workload: transfer, options: {block_size: 1}}}\n",
	} {
		s, _, diags := Load(file, []byte(src), Options{Deadline: deadline.After(-1)})
		if s != nil || len(diags) != 1 || diags[0].Summary != "Planning takes too long" || diags[0].Subject == nil ||
			diags[0].Subject.Filename != file {
			t.Errorf("%s: %v", file, diags)
		}
		if s, _, diags := Load(file, []byte(src), Options{Deadline: deadline.After(time.Hour)}); diags.HasErrors() ||
			s.Deadline == nil {
			t.Errorf("%s: %v", file, diags)
		}
	}
}
