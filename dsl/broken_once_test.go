package dsl

import "testing"

const onlyRun = "scenario: s\nruns:\n  a:\n    workload: transfer\n    options: {block_size: 4KiB}\n"

// onceReported are faults that had a second, false error beside the true one, or a misleading place or hint.
var onceReported = map[string]broken{
	"misspelt/retry": {"run", "retry: {«tims»: 2}", "retry { «tims» = 2 }", "Unknown key", "times"},
	"misspelt/setup": {"run", "setup: [{«comand»: [a]}]", "setup = [{ «comand» = [\"a\"] }]", "Unknown key",
		"command"},
	"divided/that": {"run", "assert: [{«metric»: bandwidth}]", "assert = [{ «metric» = \"bandwidth\" }]", "Unknown key",
		"An assertion is a text: that"},
	"item/range": {"run", "sweep: {in_flight: [«1..8»]}", "sweep { in_flight = [«\"1..8\"»] }", "Invalid value",
		"in_flight: 1..8 x2"},
	"misspelt/that":     {"run", "assert: [{«bandwidth»: 5}]", "assert = [{ «bandwidth» = 5 }]", "Unknown key", "that"},
	"misspelt/workload": {"", onlyRun + "  b: {«workloda»: transfer}\n", "", "Unknown key", "workload"},
	"misspelt/default": {"root", "variables: {v: {«defalt»: 1}}", "variable \"v\" { «defalt» = 1 }", "Unknown key",
		"default"},
	"misspelt/gpu": {"root", "checks: {e: {gpu: {«procs»: 1}}}", "check \"e\" {\n gpu { «procs» = 1 }\n}",
		"Unknown key",
		"processes"},
	"misspelt/check": {"root", "checks: {e: {«comand»: [a]}}", "check \"e\" { «comand» = [\"a\"] }", "Unknown key",
		"command"},
	"misspelt/order": {"run", "sweep: {batch: [1, 2], «ordr»: random}",
		"sweep {\nbatch = [1, 2]\n«ordr» = \"random\"\n}",
		"Unknown key", `Did you mean "order"?`},
	"misspelt/exclude": {"run", "sweep: {batch: [1, 2], «exlude»: [{when: batch == 1}]}", "", "Unknown key",
		`Did you mean "exclude"?`},
	"no mapping/xfail": {"run", "assert: [{that: bandwidth >= 1 GB/s, xfail: «yes»}]",
		"assert = [{ that = \"bandwidth >= 1 GB/s\", xfail = «\"yes\"» }]", "Not a mapping", "xfail"},
	"no mapping/options": {"", "scenario: s\nruns:\n  a:\n    workload: transfer\n    options: «block_size=4»\n", "",
		"Not a mapping", "options"},
	"no mapping/variable": {"root", "variables: {v: «5»}", "", "Not a mapping", "Write v: {default: 5}."},
	"no file/references": {"", onlyRun + "    assert: [bandwidth >= reference.bandwidth]\nreferences: «no.yaml»\n", "",
		"Cannot read the references", "no.yaml"},
	"set/option": {"run", "assert: [batch «==» 16]", "assert = [\"batch «==» 16\"]", "Invalid assertion",
		"where batch =="},
	"range/steps": {"run", "sweep: {in_flight: «1..9000 +1»}", "sweep { in_flight = «\"1..9000 +1\"» }",
		"Invalid value",
		"4097"},
	"range/factor": {"run", "sweep: {in_flight: «1..9999999999999999999999 x2»}",
		"sweep { in_flight = «\"1..9999999999999999999999 x2\"» }", "Invalid value", "8192"},
	"hint/type": {"root", "variables: {v: {type: «int», default: 1}}",
		"variable \"v\" {\ntype = «\"int\"»\ndefault = 1\n}", "Unknown type", "type number"},
	"hint/percent": {"run", "assert: [{that: bandwidth >= 1 GB/s, decide: {confidence: «0.96»}}]",
		"assert = [{ that = \"bandwidth >= 1 GB/s\", decide = { confidence = «0.96» } }]", "Invalid value", "96%"},
	"hint/two names": {"run",
		"assert: [{that: bandwidth >= 1 B/s, name: a}, {that: «bandwidth >= 2 B/s», name: a}]", "",
		"Duplicate assertion", "another name"},
	"hint/only run": {"", onlyRun + "    needs: «b»\n", "", "Unknown run", "no other runs"},
	"hint/space":    {"run", "env: {}\nplace: {«per_node:2»}", "", "Unknown key", ""},
	"hint/option space": {"",
		"scenario: s\nruns:\n  a:\n    workload: transfer\n    options: {block_size: 1, «batch:2»}\n", "",
		"Unknown option", "batch: 2."},
	"hint/key space": {"", onlyRun + "    «stage:»x\n", "", "Invalid YAML", "space after the colon"},
	"hint/template":  {"run", "env: {A: 'x ${«»'}", "", "Missing expression", "the end of the text"},
	"hint/list": {"run", "when: host.fabrics «==» \"sim\"", "when = \"host.fabrics «==» 'sim'\"",
		"Invalid condition", `"sim" in host.fabrics`},
	"hint/variable": {"run", "when: «var.v» == 1", "when = \"«var.v» == 1\"", "Invalid condition", "Write ${var.v}"},
	"hint/variable 2": {"run", "assert: [bandwidth >= «var.v»]", "assert = [\"bandwidth >= «var.v»\"]",
		"Invalid assertion", "Write ${var.v}"},
	"hint/comma": {"run", "assert: ['bandwidth >= 1 where batch == 2«,» threads == 1']", "",
		"Invalid assertion", "by and"},
	"place/no runs":      {"", "scenario: s\n«runs»: {}\n", "", "No runs", ""},
	"place/runs of null": {"", "scenario: s\n«runs»:\n", "", "No runs", ""},
	"place/anchor":       {"run", "launches: «*x»", "", "Invalid YAML", "no anchor &x"},
	"place/trailing":     {"root", "inconclusive: {as: fail} «trailing»", "", "Invalid YAML", "remove what follows"},
	"place/quote":        {"", onlyRun + "    stage: «\"x»\n", "", "Invalid YAML", "No quote closes"},
	"place/heredoc":      {"", "", "scenario \"s\" {\n  description = «<<EOT»\n  text\n}\n", "Unclosed text", "EOT"},
	"unquoted/time":      {"run", "", "timeout = 5«m»", "Text without quotes", `"5m"`},
	"unquoted/rate":      {"run", "", "env { A = 5 «GB»/s }", "Text without quotes", `"5 GB/s"`},
	"unquoted/base":      {"run", "", "env {\nA = 0«x10»\n}", "Text without quotes", `"0x10"`},
	"unquoted/range":     {"run", "", "sweep {\nbatch = «1..8» +1\n}", "Text without quotes", `"1..8 +1"`},
	"unquoted/list":      {"run", "", "sweep {\nblock_size = [4«KiB», 8KiB]\n}", "Text without quotes", `"4KiB"`},
	"unquoted/address":   {"run", "", "env {\nA = «10.0.0.1»\n}", "Text without quotes", `"10.0.0.1"`},
	"computed/date": {"run", "", "env {\nDATE = «2027-01-31»\n}", "Number that changes",
		`Quote it: "2027-01-31"`},
	"computed/slashes":    {"run", "", "env {\nDATE = «31/01/2027»\n}", "Number that changes", `Quote it`},
	"computed/processors": {"run", "", "env { CPUS = «0-7» }", "Number that changes", `Quote it: "0-7"`},
	"colon in HCL":        {"run", "", "«stage»: \"x\"", "Argument or block definition required", "equals sign"},
}

func TestContextEndsAtTopLevelKeys(t *testing.T) {
	for _, last := range []string{"scenario: t\n", "bogus: 1\n"} {
		_, sources, diags := Load("x.yaml", []byte(onlyRun+last), Options{})
		if len(diags) != 1 {
			t.Fatal(diags)
		}
		if r := makeReport(diags[0], sources, maxSnippet); r.Context != "" {
			t.Errorf("%q is in %s", last, r.Context)
		}
	}
}
