package planner

import (
	"testing"

	_ "weir/workload/serving"
)

// load is a run of workload serving with further keys.
func load(keys string) string {
	return `
scenario: load
defaults: {options: {serving: {url: "http://127.0.0.1:8000", model: m, requests: 20}}}
variables: {text: {default: 5}, number: {type: number, default: 5}}
runs:
  a:
    workload: serving
` + keys + "\n"
}

// A quoted scalar of the body is a text, whatever it looks like, and one without quotes is what it is.
func TestBodiesKeepTypes(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"plain", `{n: 0, b: true, f: 1.5, s: text}`, `{"b":"true","f":"1.5","n":"0","s":"text"}`},
		{"quoted", `{n: "0", b: 'true', s: "text", z: "null"}`,
			`{"b":"\"true\"","n":"\"0\"","s":"text","z":"\"null\""}`},
		{"null", `{a: null, b: ~, c: {d: null}, e: [null]}`, `{"a":"null","b":"null","c":{"d":"null"},"e":["null"]}`},
		{"deep", `{a: ["1", 1, {b: "2"}], c: {d: [["3"]]}}`, `{"a":["\"1\"","1",{"b":"\"2\""}],"c":{"d":[["\"3\""]]}}`},
		{"in quotes", `{a: '"5"'}`, `{"a":"\"\\\"5\\\"\""}`},
		{"values", `{a: "${var.text}", b: "${var.number}", c: "${1 + 1}"}`, `{"a":"\"5\"","b":"5","c":"2"}`},
	} {
		p := build(t, load("    options: {body: "+c.body+"}"))
		equal(t, c.name, p.Cases[0].Options["body"], any(c.want))
	}
}

// The same body in HCL is the same.
func TestBodiesKeepTypesInHCL(t *testing.T) {
	p, diags := plan(t, "load.hcl", `
scenario "load" {
  run "a" {
    workload = "serving"
    options {
      url = "http://127.0.0.1:8000"
      model = "m"
      requests = 20
      body = { n = 0, q = "0", b = true, c = "true", z = null, l = ["1", 1, null] }
    }
  }
}
`)
	if diags.HasErrors() {
		t.Fatal(render(diags))
	}
	equal(t, "body", p.Cases[0].Options["body"],
		any(`{"b":"true","c":"\"true\"","l":["\"1\"","1","null"],"n":"0","q":"\"0\"","z":"null"}`))
}

// A plan shows the difference.
func TestPlansShowTypesOfBodies(t *testing.T) {
	shows(t, build(t, load(`    options: {body: {a: {n: 0, q: "0", s: text, z: null}}}`)),
		`  body     a: {n: 0, q: "0", s: text, z: null}`)
}
