package dsl

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

// A message names each invisible character, and the source line marks it in its column.
func TestInvisibleCharactersAreNamed(t *testing.T) {
	const run = "scenario: s\nruns:\n  a:\n    workload: transfer\n    options: {block_size: 1}\n"
	const block = "scenario \"s\" {\nrun \"a\" {\nworkload = \"transfer\"\noptions { block_size = 1 }\n"
	for name, c := range map[string]struct{ file, src, says, line string }{
		"a key": {
			"x.yaml", run + "    nee\u200Bds: [a]\n", `no "nee<U+200B>ds" in a run`, "nee\uFFFDds: [a]",
		},
		"a name in quotes": {
			"x.yaml", run + "    needs: [\"b\u00A0\"]\n", `no run "b<U+00A0>"`, "[\"b\uFFFD\"]",
		},
		"a blank after a colon": {
			"x.yaml", strings.Replace(run, "workload: t", "workload:\u00A0t", 1),
			"Line 4 has the character <U+00A0>, which is no blank", "options",
		},
		"a key of HCL": {
			"x.hcl", block + "need\u00A0s = [\"a\"]\n}\n}\n", "<U+00A0> is for texts in quotes", "need\uFFFDs = ",
		},
		"a sign of HCL": {
			"x.hcl", block + "needs \u00A7 [\"a\"]\n}\n}\n", `(U+00A7) is for texts in quotes`,
			"needs \u00A7 ",
		},
		"a soft hyphen": {"x.yaml", run + "    ne\u00ADeds: [a]\n", `"ne<U+00AD>eds"`, "ne\uFFFDeds"},
	} {
		s, sources, diags := Load(c.file, []byte(c.src), Options{Env: testEnv})
		var b bytes.Buffer
		if err := WriteDiagnostics(&b, "text", diags, sources); err != nil {
			t.Fatal(err)
		}
		if s != nil || !strings.Contains(b.String(), c.says) || !strings.Contains(b.String(), c.line) {
			t.Errorf("%s: %s", name, b.String())
		}
	}
}

// A number of HCL that a program or a name would not get as it is written is warned of.
func TestNumbersThatChangeAreWarnedOf(t *testing.T) {
	for line, written := range map[string]string{
		`env = { V = 1.10 }`:                                                       "1.10",
		`env = { V = 0644 }`:                                                       "0644",
		`env = { V = true ? 2.0 : 3 }`:                                             "2.0",
		"sweep = { v = [1.9, 1.50] }\nenv = { V = axis.v }":                        "1.50",
		`env = { V = "1.10", W = 1.1, X = 10, Y = -1.5 }`:                          "",
		"sweep = { v = [1.9, 123456789012345678901234567] }\nenv = { V = axis.v }": "",
	} {
		src := "scenario \"s\" {\nrun \"a\" {\nworkload = \"transfer\"\noptions { block_size = 1 }\n" + line +
			"\n}\n}\n"
		s, _, diags := Load("x.hcl", []byte(src), Options{Env: testEnv})
		if s == nil || len(diags) != len(written[:min(1, len(written))]) {
			t.Errorf("%s: %v", line, diags)
			continue
		}
		if written != "" && (diags[0].Severity != hcl.DiagWarning || diags[0].Subject.Start.Line != 5 ||
			!strings.Contains(diags[0].Detail, "HCL reads "+written+" as the number ")) {
			t.Errorf("%s: %v", line, diags)
		}
	}
	serving := "scenario \"s\" {\nrun \"a\" {\nworkload = \"serving\"\noptions {\nurl = \"http://h\"\nmodel = \"m\"\n" +
		"requests = 1\ntime_scale = 1.50\n}\n}\n}\n"
	if s, _, diags := Load("x.hcl", []byte(serving), Options{Env: testEnv}); s == nil || len(diags) > 0 {
		t.Errorf("an option that is a number is warned of: %v", diags)
	}
}
