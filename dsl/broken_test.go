package dsl

import (
	"errors"
	"io/fs"
	"maps"
	"strings"
	"testing"
)

// A broken input is a piece of a scenario in both syntaxes, if possible, with marks around the
// characters of its only diagnostic.
type broken struct {
	place     string // root, run, defaults or variable: where the piece stands
	yaml, hcl string // «…» marks the place; "" if the syntax cannot express it
	summary   string
	says      string // part of the detail or the hint
}

// frames surround a piece. Lines of a piece are indented as in the frame.
var frames = map[string]struct{ yaml, hcl, indent string }{
	"root": {"scenario: s\n%\nruns:\n  a: {workload: transfer, options: {block_size: 4KiB}}\n  b: {workload: transfer, options: {block_size: 4KiB}}\n",
		"scenario \"s\" {\n%\nrun \"a\" {\nworkload = \"transfer\"\noptions { block_size = 4096 }\n}\nrun \"b\" {\nworkload = \"transfer\"\noptions { block_size = 4096 }\n}\n}\n",
		""},
	"run": {"scenario: s\nruns:\n  a:\n    workload: transfer\n    options: {block_size: 4KiB}\n%\n  b: {workload: transfer, options: {block_size: 4KiB}}\n",
		"scenario \"s\" {\nrun \"a\" {\nworkload = \"transfer\"\noptions { block_size = 4096 }\n%\n}\nrun \"b\" {\nworkload = \"transfer\"\noptions { block_size = 4096 }\n}\n}\n",
		"    "},
	"defaults": {"scenario: s\ndefaults:\n%\nruns:\n  a: {workload: transfer, options: {block_size: 4KiB}}\n",
		"scenario \"s\" {\ndefaults {\n%\n}\nrun \"a\" {\nworkload = \"transfer\"\noptions { block_size = 4096 }\n}\n}\n",
		"  "},
	"variable": {"scenario: s\nvariables:\n  n:\n%\n  m: {type: number, default: 5}\nruns:\n  a: {workload: transfer, options: {block_size: 4KiB}}\n",
		"scenario \"s\" {\nvariable \"n\" {\n%\n}\nvariable \"m\" {\ntype = \"number\"\ndefault = 5\n}\nrun \"a\" {\nworkload = \"transfer\"\noptions { block_size = 4096 }\n}\n}\n",
		"    "},
	"traffic": {"scenario: s\nruns:\n  a:\n    workload: traffic\n%\n",
		"scenario \"s\" {\nrun \"a\" {\nworkload = \"traffic\"\n%\n}\n}\n", "    "},
	"sequence": {"scenario: s\nruns:\n  a:\n    workload: traffic_sequence\n%\n",
		"scenario \"s\" {\nrun \"a\" {\nworkload = \"traffic_sequence\"\n%\n}\n}\n", "    "},
	"": {"%", "%", ""},
}

// framed returns the whole file without marks, and the text between the marks.
func framed(place, extension, piece string) (src, marked string) {
	f := frames[place]
	if extension == ".hcl" {
		src = strings.Replace(f.hcl, "%", piece, 1)
	} else {
		src = strings.Replace(f.yaml, "%", f.indent+strings.ReplaceAll(piece, "\n", "\n"+f.indent), 1)
	}
	before, rest, _ := strings.Cut(src, "«")
	marked, after, _ := strings.Cut(rest, "»")
	return before + marked + after, marked
}

// memory is a file system in memory.
func memory(files map[string]string) func(string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		if src, ok := files[path]; ok {
			return []byte(src), nil
		}
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
}

var brokenInputs = map[string]broken{
	"template/format of another program": {"root", "description: '%{«time_total»}'",
		"description = \"%{«time_total»}\"",
		"Invalid template control keyword", "%%{time_total}"},
	// claims
	"claims/unknown run": {"root",
		"claims: [{run: «c», metric: bandwidth, value: 1, source: d}]",
		"claims = [{ run = «\"c\"», metric = \"bandwidth\", value = 1, source = \"d\" }]", "Unknown run", "a, b"},
	"claims/unknown metric": {"root",
		"claims: [{run: a, metric: «bandwith», value: 1, source: d}]",
		"claims = [{ run = \"a\", metric = «\"bandwith\"», value = 1, source = \"d\" }]",
		"Unknown metric", "bandwidth"},
	"claims/unit": {"root",
		"claims: [{run: a, metric: bandwidth, value: «5ms», source: d}]",
		"claims = [{ run = \"a\", metric = \"bandwidth\", value = «\"5ms\"», source = \"d\" }]",
		"Invalid value", "is a time"},
	"claims/no source": {"root",
		"claims: [«{run: a, metric: bandwidth, value: 1}»]",
		"claims = [«{ run = \"a\", metric = \"bandwidth\", value = 1 }»]", "Missing key", "Add source"},
	"claims/no value": {"root",
		"claims: [«{run: a, metric: bandwidth, source: d}»]",
		"claims = [«{ run = \"a\", metric = \"bandwidth\", source = \"d\" }»]", "Missing key", "Add value"},
	"claims/date": {"root",
		"claims: [{run: a, metric: bandwidth, value: 1, source: d, date: «yesterday»}]",
		"claims = [{ run = \"a\", metric = \"bandwidth\", value = 1, source = \"d\", date = «\"yesterday\"» }]",
		"Invalid value", "not a date"},
	"claims/gain without variants": {"root",
		"claims: [«{run: a, metric: bandwidth, gain: 5%, source: d}»]",
		"claims = [«{ run = \"a\", metric = \"bandwidth\", gain = \"5%\", source = \"d\" }»]",
		"Missing key", "variant"},
	"claims/where": {"root",
		"claims: [{run: a, metric: bandwidth, value: 1, source: d, where: «bach» == 1}]",
		"claims = [{ run = \"a\", metric = \"bandwidth\", value = 1, source = \"d\", where = \"«bach» == 1\" }]",
		"Invalid condition", "batch"},
	"claims/requires": {"root",
		"claims: [{run: a, metric: bandwidth, value: 1, source: d, requires: [«bach» == 1]}]",
		"claims = [{ run = \"a\", metric = \"bandwidth\", value = 1, source = \"d\", requires = [\"«bach» == 1\"] }]",
		"Invalid condition", "batch"},
	"claims/requires one text": {"root",
		"claims: [{run: a, metric: bandwidth, value: 1, source: d, requires: «batch == 1»}]",
		"claims = [{ run = \"a\", metric = \"bandwidth\", value = 1, source = \"d\", requires = «\"batch == 1\"» }]",
		"Invalid value", "list of conditions"},
	"claims/plausible of a time": {"root",
		"claims: [{run: a, metric: latency.p50, value: 1us, source: d, plausible: «2us»}]",
		"claims = [{ run = \"a\", metric = \"latency.p50\", value = \"1us\", source = \"d\", plausible = «\"2us\"» }]",
		"Invalid value", "more is better"},
	// variables.validation
	"validation/default": {"variable", "{type: number, default: «-1», validation: {condition: var.n > 0, message: n counts things}}",
		"type = \"number\"\ndefault = «-1»\nvalidation {\ncondition = var.n > 0\nmessage = \"n counts things\"\n}",
		"Invalid value", "N counts things."},
	"validation/second": {"variable", "type: number\ndefault: «9»\nvalidation:\n  - {condition: var.n > 0}\n  - {condition: \"${var.n < var.m}\"}",
		"type = \"number\"\ndefault = «9»\nvalidation {\ncondition = var.n > 0\n}\nvalidation {\ncondition = var.n < var.m\n}",
		"Invalid value", "must satisfy var.n < var.m"},
	"validation/no condition": {"variable", "default: 1\n«validation»:\n  message: m",
		"default = 1\n«validation» {\nmessage = \"m\"\n}", "Missing key", "Add condition"},
	"validation/not bool": {"variable", "{type: number, default: 1, validation: {condition: «var.n + 1»}}",
		"type = \"number\"\ndefault = 1\nvalidation { condition = «var.n + 1» }", "Invalid condition",
		"neither true nor false"},
	"validation/quoted in HCL": {"variable", "", "default = 1\nvalidation { condition = «\"var.n > 0\"» }",
		"Invalid condition", "without quotes"},
	"validation/env": {"variable", "{default: a, validation: {condition: '«env.HOME» == \"a\"'}}",
		"default = \"a\"\nvalidation { condition = «env.HOME» == \"a\" }", "Unknown name", "var.NAME only"},
	"validation/unknown name": {"variable", "{default: a, validation: {condition: '«var.k» == \"a\"'}}",
		"default = \"a\"\nvalidation { condition = «var.k» == \"a\" }", "Unknown name", "no variable \"k\""},
	"validation/syntax": {"variable", "{default: a, validation: {condition: var.n «>»> 2}}", "",
		"Invalid expression", "Expected"},
	"validation/unknown key": {"variable", "{default: 1, validation: {condition: true, «massage»: m}}",
		"default = 1\nvalidation {\ncondition = true\n«massage» = \"m\"\n}", "Unknown key",
		"Did you mean \"message\"?"},
	"validation/scalar": {"variable", "{default: 1, validation: «var.n > 0»}",
		"default = 1\nvalidation = «true»", "Not a mapping", "condition"},

	// keys of other tools, or at another level
	"misplaced/option": {"run", "«fabric»: shm", "«fabric» = \"shm\"", "Unknown key", "It is an option"},
	"misplaced/misspelt option": {"run", "«fabrc»: shm", "«fabrc» = \"shm\"", "Unknown key",
		"Did you mean the option fabric? Then write it below options"},
	"misplaced/synonym":   {"run", "«with»: {}", "«with» {}", "Unknown key", "weir's name for it is options"},
	"misplaced/hosts":     {"run", "«hosts»: [a, b]", "«hosts» = [\"a\"]", "Unknown key", "weir run --hosts"},
	"misplaced/top level": {"run", "«variables»: {}", "«variables» {}", "Unknown key", "It belongs at the top level"},
	"misplaced/synonym at the top": {"run", "«vars»: {}", "«vars» {}", "Unknown key",
		"weir's name for it is variables. It belongs at the top level"},
	"misplaced/of an assertion": {"run", "«xfail»: {}", "«xfail» {}", "Unknown key", "It belongs in assert"},
	"misplaced/of a place":      {"run", "«nodes»: 2", "«nodes» = 2", "Unknown key", "It belongs in place"},
	"misplaced/environment": {"run", "«UCX_TLS»: rc", "«UCX_TLS» = \"rc\"", "Unknown key",
		"An environment variable belongs in env"},
	"misplaced/severity": {"run", "assert: [{that: bandwidth >= 1, «warn»: true}]",
		"assert = [{ that = \"bandwidth >= 1\", «warn» = true }]", "Unknown key", "It is a value of severity"},

	// timeout
	"timeout/unknown phase": {"run", "timeout: {«conect»: 1s}", "timeout { «conect» = \"1s\" }", "Unknown key",

		"Did you mean \"connect\"?"},
	"timeout/no unit": {"run", "timeout: {ready: «30»}", "timeout { ready = «30» }", "Invalid value", "has no unit"},
	"timeout/zero":    {"run", "timeout: {ready: «0s»}", "timeout { ready = «\"0s\"» }", "Invalid value", "above zero"},
	"timeout/beyond launch": {"run", "timeout: {launch: 1m, verify: «90s»}",
		"timeout {\nlaunch = \"1m\"\nverify = «\"90s\"»\n}", "Deadline without effect", "may take 1m30s"},

	"timeout/beyond default": {"defaults", "timeout: {run: «1h»}", "timeout { run = «\"1h\"» }",
		"Deadline without effect", "may take"},
	"timeout/list": {"run", "timeout: «[1s]»", "timeout = «[\"1s\"]»", "Invalid value", "is a list"},

	// retry
	"retry/negative": {"run", "retry: «-1»", "retry = «-1»", "Invalid value", "at least 0"},
	"retry/too many": {"run", "retry: «101»", "retry = «101»", "Invalid value", "at most 100"},
	"retry/no times": {"run", "«retry»: {wait: 1s}", "«retry» {\nwait = \"1s\"\n}", "Missing key", "Add times"},
	"retry/kind": {"run", "retry: {times: 2, on: [setup, «crashh»]}",
		"retry {\ntimes = 2\non = [\"setup\", «\"crashh\"»]\n}", "Invalid value", "Did you mean \"crash\"?"},
	"retry/kind twice": {"run", "retry: {times: 2, on: [lost, «lost»]}",
		"retry {\ntimes = 2\non = [\"lost\", «\"lost\"»]\n}", "Duplicate value", "already named"},
	"retry/on nothing": {"run", "retry: {times: 2, on: «[]»}", "retry {\ntimes = 2\non = «[]»\n}", "Invalid value",
		"empty"},
	"retry/on scalar": {"run", "retry: {times: 2, on: «lost»}", "retry {\ntimes = 2\non = «\"lost\"»\n}",
		"Not a list", "kinds of failures"},
	"retry/wait": {"defaults", "retry: {times: 2, wait: «-1s»}", "retry {\ntimes = 2\nwait = «\"-1s\"»\n}",
		"Invalid value", "zero or above"},
	"retry/unknown key": {"run", "retry: {times: 2, «every»: 1s}", "retry {\ntimes = 2\n«every» = \"1s\"\n}",
		"Unknown key", "times, on, wait"},

	// needs and while
	"needs/unknown": {"run", "needs: «c»", "needs = «\"c\"»", "Unknown run", "no run \"c\""},
	"needs/long unknown": {"run", "needs: {run: «c», on: failed}", "needs {\nrun = «\"c\"»\non = \"failed\"\n}",

		"Unknown run", "The other runs are b"},
	"needs/on": {"run", "needs: [{run: b, on: «faild»}]", "needs = [{ run = \"b\", on = «\"faild\"» }]",
		"Invalid value", "Did you mean \"failed\"?"},
	"needs/no run": {"run", "needs: [«{on: failed}»]", "needs = [«{ on = \"failed\" }»]", "Missing key", "Add run"},
	"needs/unknown key": {"run", "needs: {run: b, «where»: x}", "needs {\nrun = \"b\"\n«where» = 1\n}", "Unknown key",
		"run, on"},
	"needs/itself": {"run", "needs: [«a»]", "needs = [«\"a\"»]", "Run needs itself", "wait for itself"},
	"needs/twice": {"run", "needs: [b, {run: «b», on: always}]",
		"needs = [\"b\", { run = «\"b\"», on = \"always\" }]", "Duplicate need", "already in needs"},
	"needs/list in list": {"run", "needs: [«[[b]]»]", "needs = [«[[\"b\"]]»]", "Invalid value", "is a list"},
	"needs/null":         {"run", "needs: [«~»]", "needs = [«null»]", "Invalid need", "needs names runs"},
	"while/unknown":      {"run", "while: «c»", "while = «\"c\"»", "Unknown run", "The other runs are b"},
	"while/itself":       {"run", "while: «a»", "while = «\"a\"»", "Run needs itself", "its own background load"},
	"while/list":         {"run", "while: «[b]»", "while = «[\"b\"]»", "Invalid value", "is a list"},
	"while/and needs": {"run", "while: b\nneeds: «b»", "while = \"b\"\nneeds = «\"b\"»", "Load comes after its run",
		"cannot wait for its end"},

	"while/needed by run": {"", "scenario: s\ndefaults: {options: {transfer: {block_size: 1}}}\nruns: {a: {workload: transfer, while: b}, b: {workload: transfer, needs: «a»}}",
		"scenario \"s\" {\ndefaults {\noptions = { transfer = { block_size = 1 } }\n}\nrun \"a\" {\nworkload = \"transfer\"\nwhile = \"b\"\n}\nrun \"b\" {\nworkload = \"transfer\"\nneeds = [«\"a\"»]\n}\n}",
		"Run comes after its load", "Remove this need"},
	"while/of a load": {"", "scenario: s\ndefaults: {options: {transfer: {block_size: 1}}}\nruns: {a: {workload: transfer, while: «b»}, b: {workload: transfer, while: c}, c: {workload: transfer}}",
		"scenario \"s\" {\ndefaults {\noptions = { transfer = { block_size = 1 } }\n}\nrun \"a\" {\nworkload = \"transfer\"\nwhile = «\"b\"»\n}\nrun \"b\" {\nworkload = \"transfer\"\nwhile = \"c\"\n}\nrun \"c\" {\nworkload = \"transfer\"\n}\n}",
		"Load of a load", "itself background load"},

	// setup and teardown
	"setup/not a list": {"root", "setup: «echo»", "setup = «\"echo\"»", "Not a list", "Write each as an item"},
	"setup/text item": {"root", "setup: [«echo hello»]", "setup = [«\"echo hello\"»]", "Not a list",
		"no shell is used"},
	"setup/empty": {"run", "setup: [«[]»]", "setup = [«[]»]", "Missing command", "has no program"},
	"setup/empty program": {"run", "teardown: [«[\"\", x]»]", "teardown = [«[\"\", \"x\"]»]", "Missing command",
		"has no program"},
	"setup/NUL": {"run", "setup: [[echo, «\"a\\0b\"»]]", "setup = [[\"echo\", «\"a\\u0000b\"»]]",
		"Invalid value", "NUL"},
	"role/NUL": {"", "scenario: s\nruns:\n  a:\n    workload: command\n    options: {roles: {r: {command: [echo, «\"a\\0b\"»]}}}\n",
		"scenario \"s\" {\nrun \"a\" {\nworkload = \"command\"\noptions {\nroles = { r = { command = [\"echo\", «\"a\\u0000b\"»] } }\n}\n}\n}\n",
		"Invalid value", "It contains a NUL character, which arguments cannot contain."},
	"role/NUL beside a name": {"", "scenario: s\nruns:\n  a:\n    workload: command\n    options: {roles: {r: {command: [echo, «\"\\0${port.a}\\0\"»]}}}\n",
		"scenario \"s\" {\nrun \"a\" {\nworkload = \"command\"\noptions {\nroles = { r = { command = [\"echo\", «\"\\u0000${port.a}\\u0000\"»] } }\n}\n}\n}\n",
		"Invalid value", "It contains a NUL character, which arguments cannot contain."},
	"setup/no command": {"root", "teardown: [«{name: x}»]", "teardown = [«{ name = \"x\" }»]", "Missing key",
		"Add command"},
	"setup/on": {"root", "setup: [{command: [x], on: «last node»}]",
		"setup = [{ command = [\"x\"], on = «\"last node\"» }]", "Invalid value", "every node, first node"},
	"setup/scope": {"root", "setup: [{command: [x], scope: «case»}]",
		"setup = [{ command = [\"x\"], scope = «\"case\"» }]", "Invalid value", "session, run, launch"},
	"setup/session in run": {"run", "setup: [{command: [x], scope: «session»}]",
		"setup = [{ command = [\"x\"], scope = «\"session\"» }]", "Invalid value", "Move it to setup of the scenario"},
	"setup/timeout": {"root", "setup: [{command: [x], timeout: «0s»}]",
		"setup = [{ command = [\"x\"], timeout = «\"0s\"» }]", "Invalid value", "above zero"},
	"setup/env name": {"root", "setup: [{command: [x], env: {«A-B»: 1}}]",
		"setup = [{ command = [\"x\"], env = { «\"A-B\"» = 1 } }]", "Invalid name", "environment variable"},
	"setup/axis": {"run", "setup: [[echo, \"${«axis.x»}\"]]", "setup = [[\"echo\", «axis.x»]]",
		"Unknown name", "no value here"},
	"setup/unknown key": {"root", "setup: [{command: [x], «scop»: run}]",
		"setup = [{ command = [\"x\"], «scop» = \"run\" }]", "Unknown key", "Did you mean \"scope\"?"},
	"setup/names": {"root", "setup: [{name: x, command: [a]}, «{name: x, command: [b]}»]",
		"setup = [{ name = \"x\", command = [\"a\"] }, «{ name = \"x\", command = [\"b\"] }»]", "Duplicate command",
		"Rename one"},
	"setup/empty name": {"root", "setup: [{name: «\"\"», command: [a]}]",
		"setup = [{ name = «\"\"», command = [\"a\"] }]", "Invalid name", "empty"},

	// assert
	"assert/halo bare": {"run", "assert: [{that: bandwidth >= 1, halo: «5»}]",
		"assert = [{ that = \"bandwidth >= 1\", halo = «5» }]", "Invalid value", "Write it as 10%"},
	"assert/halo above": {"run", "assert: [{that: bandwidth >= 1, halo: «100%»}]",
		"assert = [{ that = \"bandwidth >= 1\", halo = «\"100%\"» }]", "Invalid value", "below 100%"},
	"assert/multiple": {"run", "assert: [{that: bandwidth >= 1, multiple: «bonferroni»}]",
		"assert = [{ that = \"bandwidth >= 1\", multiple = «\"bonferroni\"» }]", "Invalid value", "none, holm"},
	"assert/confidence": {"run", "assert: [{that: bandwidth >= 1, decide: {confidence: «40%»}}]",
		"assert = [{ that = \"bandwidth >= 1\", decide = { confidence = «\"40%\"» } }]",
		"Invalid value", "at least 50%"},
	"assert/inconclusive": {"run", "assert: [{that: bandwidth >= 1, decide: {on_inconclusive: «fial»}}]",
		"assert = [{ that = \"bandwidth >= 1\", decide = { on_inconclusive = «\"fial\"» } }]", "Invalid value",
		"Did you mean \"fail\"?"},
	"assert/decide scalar": {"run", "assert: [{that: bandwidth >= 1, decide: «95%»}]",
		"assert = [{ that = \"bandwidth >= 1\", decide = «\"95%\"» }]", "Not a mapping", "must be a mapping"},

	"assert/decide key": {"run", "assert: [{that: bandwidth >= 1, decide: {«level»: 95%}}]",
		"assert = [{ that = \"bandwidth >= 1\", decide = { «level» = \"95%\" } }]", "Unknown key",
		"confidence, on_inconclusive"},
	"stage/empty": {"run", "stage: «\" \"»", "stage = «\" \"»", "Invalid value", "no name"},
	"may_fail/day": {"run", "may_fail: {reason: r, until: «soon»}",
		"may_fail = { reason = \"r\", until = «\"soon\"» }", "Invalid value", "not a date"},
	"may_fail/reason": {"run", "may_fail: {reason: «\" \"», until: 2026-02-01}",
		"may_fail = { reason = «\" \"», until = \"2026-02-01\" }", "Invalid value", "Write a reason"},
	"may_fail/match": {"run", "may_fail: {reason: r, until: 2099-02-01, match: «'(etcd'»}",
		"may_fail = { reason = \"r\", until = \"2099-02-01\", match = «\"(etcd\"» }",
		"Invalid value", "regular expression"},
	"may_fail/match empty": {"run", "may_fail: {reason: r, until: 2099-02-01, match: «\"\"»}",
		"may_fail = { reason = \"r\", until = \"2099-02-01\", match = «\"\"» }",
		"Invalid value", "would match every error"},
	"may_fail/strict": {"run", "may_fail: {reason: r, until: 2099-02-01, strict: «1»}",
		"may_fail = { reason = \"r\", until = \"2099-02-01\", strict = «1» }", "Invalid value", "true or false"},
	"may_fail/until": {"run", "«may_fail»: {reason: r}", "«may_fail» = { reason = \"r\" }", "Missing key", "Add until"},
	"may_fail/unknown": {"run", "may_fail: {reason: r, «til»: 2026-02-01, until: 2026-02-01}",
		"may_fail = { reason = \"r\", «til» = \"x\", until = \"2026-02-01\" }", "Unknown key", "until"},
	"assert/xfail day": {"run", "assert: [{that: bandwidth >= 1, xfail: {reason: r, until: «2026-02-30»}}]",
		"assert = [{ that = \"bandwidth >= 1\", xfail = { reason = \"r\", until = «\"2026-02-30\"» } }]",
		"Invalid value", "not a date"},
	"assert/xfail reason": {"run", "assert: [{that: bandwidth >= 1, xfail: {reason: «\" \"», until: 2026-02-01}}]",
		"assert = [{ that = \"bandwidth >= 1\", xfail = { reason = «\" \"», until = \"2026-02-01\" } }]",
		"Invalid value", "Write a reason"},
	"assert/xfail until": {"run", "assert: [{that: bandwidth >= 1, xfail: «{reason: r}»}]",
		"assert = [{ that = \"bandwidth >= 1\", xfail = «{ reason = \"r\" }» }]", "Missing key", "Add until"},
	"assert/name": {"run", "assert: [{that: bandwidth >= 1, name: «\"\"»}]",
		"assert = [{ that = \"bandwidth >= 1\", name = «\"\"» }]", "Invalid name", "empty"},

	// references and baseline
	"references/run": {"root", "references: {«c»: [{bandwidth: 1}]}", "references { «c» = [{ bandwidth = 1 }] }",
		"Unknown run", "no run \"c\""},
	"references/column": {"root", "references: {a: [{«bandwith»: 1}]}", "references { a = [{ «bandwith» = 1 }] }",
		"Unknown column", "Did you mean \"bandwidth\"?"},
	"references/dimension": {"root", "references: {a: [{bandwidth: «5us»}]}",
		"references { a = [{ bandwidth = «\"5us\"» }] }", "Invalid value", "is a time"},
	"references/option": {"root", "references: {a: [{block_size: «5us», bandwidth: 1}]}",
		"references { a = [{ block_size = «\"5us\"», bandwidth = 1 }] }", "Invalid value", "Option block_size"},
	"references/no metric": {"root", "references: {a: [«{block_size: 4KiB}»]}",
		"references { a = [«{ block_size = \"4KiB\" }»] }", "Row without values", "no metric"},
	"references/twice": {"root", "references: {a: [{block_size: 4KiB, bandwidth: 1}, «{block_size: 4096, bandwidth: 2}»]}",
		"references { a = [{ block_size = \"4KiB\", bandwidth = 1 }, «{ block_size = 4096, bandwidth = 2 }»] }",
		"Duplicate row", "already has a row"},
	"references/rows": {"root", "references: {a: «{bandwidth: 1}»}", "references { a = «{ bandwidth = 1 }» }",
		"Not a list", "list of rows"},
	"references/not there": {"root", "references: «none.yaml»", "references = «\"none.yaml\"»",
		"Cannot read the references", "There is no file none.yaml.\nIt was looked for in "},
	"references/extension": {"root", "references: «table.csv»", "references = «\"table.csv\"»", "Unknown kind of file",
		".json"},
	"references/NaN": {"root", "references: {a: [{bandwidth: «nan»}]}",
		"references { a = [{ bandwidth = «\"nan\"» }] }", "Invalid value", "not a number"},
	"references/noise": {"root", "references: {a: [{bandwidth: 1, noise: {launch: «2»}}]}",
		"references { a = [{ bandwidth = 1, noise = { launch = «2» } }] }", "Invalid value", "percentage below 100%"},
	"references/part of noise": {"root", "references: {a: [{bandwidth: 1, noise: {launch: 2%, «day»: 1%}}]}",
		"references { a = [{ bandwidth = 1, noise = { launch = \"2%\", «day» = \"1%\" } }] }", "Unknown key",
		"There is no key"},
	"references/noise of sessions": {"root", "references: {a: [{bandwidth: 1, noise: «{session: 1%}»}]}",
		"references { a = [{ bandwidth = 1, noise = «{ session = \"1%\" }» }] }", "Incomplete noise",
		"how launches vary"},
	"baseline/empty": {"root", "baseline: «\"\"»", "baseline = «\"\"»", "Invalid value", "names no file"},
	"baseline/list":  {"root", "baseline: «[a]»", "baseline = «[\"a\"]»", "Invalid value", "is a list"},

	// include
	"include/not there": {"root", "include: «none.yaml»", "include = «\"none.yaml\"»",
		"Cannot read the included file", "There is no file none.yaml.\nIt was looked for in "},
	"include/no file": {"root", "include: [«{as: x}»]", "include = [«{ as = \"x\" }»]", "Missing key", "Add file"},
	"include/unknown key": {"root", "include: [{file: other.yaml, «prefix»: x}]",
		"include = [{ file = \"other.yaml\", «prefix» = \"x\" }]", "Unknown key", "file, as, runs, variables"},
	"include/as": {"root", "include: [{file: other.yaml, as: «a.b»}]",
		"include = [{ file = \"other.yaml\", as = «\"a.b\"» }]", "Invalid name", "prefix of run names"},
	"include/as empty": {"root", "include: [{file: other.yaml, as: «''»}]",
		"include = [{ file = \"other.yaml\", as = «\"\"» }]", "Invalid name", "prefix of run names"},
	"include/runs empty": {"root", "include: [{file: other.yaml, runs: «[]»}]",
		"include = [{ file = \"other.yaml\", runs = «[]» }]", "Empty list", "leave runs out"},
	"zip/row twice": {"run", "sweep: {zip: {batch: [1, 2, 2, «1»], in_flight: [1, 1, 2, 1]}}",
		"sweep {\nzip {\nbatch = [1, 2, 2, «1»]\nin_flight = [1, 1, 2, 1]\n}\n}", "Duplicate row",
		"has the row batch=1, in_flight=1"},
	"zip/list, row twice": {"run", "sweep: {zip: [{env.A: [x, x, «x»]}, {iterations: [1, 2, 1]}]}",
		"sweep { zip = [{ \"env.A\" = [\"x\", \"x\", «\"x\"»] }, { iterations = [1, 2, 1] }] }", "Duplicate row",
		"has the row env.A=x, iterations=1"},
	"zip/one axis": {"run", "sweep: {zip: {batch: [1, «1»]}}", "sweep {\nzip {\nbatch = [1, «1»]\n}\n}",
		"Duplicate value", "already has the value 1"},
	"zip/product in it": {"run", "sweep: {zip: [{batch: [1, «1»], in_flight: [1, 2]}, {iterations: [1, 2, 3, 4]}]}",
		"sweep { zip = [{ batch = [1, «1»], in_flight = [1, 2] }, { iterations = [1, 2, 3, 4] }] }", "Duplicate value",
		"already has the value 1"},
	"concat/value twice": {"run", "sweep: {concat: [{batch: [1, «1»]}]}", "sweep { concat = [{ batch = [1, «1»] }] }",
		"Duplicate value", "already has the value 1"},
	"order/seed": {"run", "sweep: {batch: [1, 2], order: {by: interleave, axis: batch, «seed»: 3}}",
		"sweep {\nbatch = [1, 2]\norder = { by = \"interleave\", axis = \"batch\", «seed» = 3 }\n}",
		"Key without effect", "by: random"},
	"order/axis": {"run", "sweep: {batch: [1, 2], order: {by: random, «axis»: batch}}",
		"sweep {\nbatch = [1, 2]\norder = { by = \"random\", «axis» = \"batch\" }\n}", "Key without effect",
		"by: interleave"},
	"include/as twice": {"root", "include: [{file: other.yaml, as: x}, {file: third.yaml, as: «x»}]",
		"include = [{ file = \"other.yaml\", as = \"x\" }, { file = \"third.yaml\", as = «\"x\"» }]",
		"Duplicate prefix", "Choose another"},
	"include/run": {"root", "include: [{file: other.yaml, runs: [«far»]}]",
		"include = [{ file = \"other.yaml\", runs = [«\"far\"»] }]", "Unknown run", "The runs are o, p"},
	"include/runs scalar": {"root", "include: [{file: other.yaml, runs: «o»}]",
		"include = [{ file = \"other.yaml\", runs = «\"o\"» }]", "Not a list", "the runs to take"},
	"include/variable": {"root", "include: [{file: other.yaml, variables: {sise: «1»}}]",
		"include = [{ file = \"other.yaml\", variables = { sise = «1» } }]", "Unknown variable",
		"Did you mean \"size\"?"},

	"include/variable type": {"root", "include: [{file: other.yaml, variables: {size: «5us»}}]",
		"include = [{ file = \"other.yaml\", variables = { size = «\"5us\"» } }]", "Invalid value",
		"does not fit type size"},
	"include/variable list": {"root", "include: [{file: other.yaml, variables: {size: «[1]»}}]",
		"include = [{ file = \"other.yaml\", variables = { size = «[1]» } }]", "Invalid value", "not a list"},

	"include/variable checks": {"root", "include: [{file: other.yaml, variables: {size: «3»}}]",
		"include = [{ file = \"other.yaml\", variables = { size = «3» } }]", "Invalid value", "A block is even."},

	"include/clash": {"", "scenario: s\ninclude: other.yaml\nruns: {«o»: {workload: transfer, options: {block_size: 1}}}",
		"scenario \"s\" {\ninclude = \"other.yaml\"\nrun «\"o\"» {\nworkload = \"transfer\"\noptions { block_size = 1 }\n}\n}",
		"Duplicate run", "other.yaml:6"},
	"include/clash of two": {"root", "include: [other.yaml, «third.yaml»]",
		"include = [\"other.yaml\", «\"third.yaml\"»]", "Duplicate run",
		"Run \"o\" of third.yaml:2 is also at other.yaml:6"},
	"include/check": {"root", "include: [other.yaml, {file: «checks.yaml»}]",
		"include = [\"other.yaml\", { file = «\"checks.yaml\"» }]", "Duplicate check", "differs from that"},
	"include/itself": {"root", "include: «main.yaml»", "include = «\"main.hcl\"»", "Files include each other", " → "},
	"include/kind":   {"root", "include: «x.txt»", "include = «\"x.txt\"»", "Unknown kind of file", ".hcl"},

	// matrices
	"matrix/cell": {"traffic", "options: {matrix: [[0, «5x»], [1, 0]]}",
		"options { matrix = [[0, «\"5x\"»], [1, 0]] }", "Not a size", "\"5x\" ends with \"x\""},
	"matrix/negative": {"traffic", "options: {matrix: [[0, «-1»], [1, 0]]}",
		"options { matrix = [[0, «-1»], [1, 0]] }", "Not a size", "negative"},
	"matrix/cell with parts": {"traffic", "options: {matrix: [[0, «[1]»], [1, 0]]}",
		"options { matrix = [[0, «[1]»], [1, 0]] }", "Invalid value", "a cell is a list"},

	"matrix/own cell": {"traffic", "options: {own_cells: error, matrix: [[0, 1], [1, «4K»]]}",
		"options {\nown_cells = \"error\"\nmatrix = [[0, 1], [1, «\"4K\"»]]\n}", "Own cell", "Rank 1 sends to itself"},
	"matrix/long row": {"traffic", "options: {matrix: [[0, 1], «[1, 0, 2]»]}",
		"options { matrix = [[0, 1], «[1, 0, 2]»] }", "Not a square", "Row 2"},
	"matrix/row": {"traffic", "options: {matrix: [[0, 1], «4K»]}",
		"options { matrix = [[0, 1], «\"4K\"»] }", "Not a square", "Row 2"},
	"matrix/zero": {"traffic", "options: {matrix: «[[0, 0], [0, 0]]»}",
		"options { matrix = «[[0, 0], [0, 0]]» }", "Invalid matrix", "nothing would be sent"},
	"matrix/one rank": {"traffic", "options: {matrix: «[[0]]»}", "options { matrix = «[[0]]» }",
		"Invalid matrix", "Traffic between 1 ranks"},
	"matrix/empty": {"traffic", "options: {matrix: «[]»}", "options { matrix = «[]» }", "Invalid matrix", "0 ranks"},
	"matrix/overflow": {"traffic", "options: {matrix: «[[0, 9223372036854775807], [1, 0]]»}",
		"options { matrix = «[[0, 9223372036854775807], [1, 0]]» }", "Invalid matrix", "2^63"},
	"matrix/of the point": {"traffic", "sweep: {n: [1, 2]}\noptions: {matrix: [[0, '${«axis.n»}'], [1, 0]], shards: '${axis.n}'}",
		"sweep { n = [1, 2] }\noptions {\nmatrix = [[0, «axis.n»], [1, 0]]\nshards = axis.n\n}", "Depends on the point",
		"Sweep matrix_file or generate"},
	"matrix/text": {"traffic", "options: {matrix: «'0 1'»}", "options { matrix = «\"0 1\"» }",
		"Invalid value", "Option matrix: line 1, column 1: The matrix ends after 1 rows"},
	"matrix/mapping": {"traffic", "options: {matrix: «{a: 1}»}", "options { matrix = «{ a = 1 }» }",
		"Invalid value", "is a mapping"},
	"matrix/list of others": {"traffic", "options: {matrix: '2: 0>1=5', shards: «[1]»}",
		"options {\nmatrix = \"2: 0>1=5\"\nshards = «[1]»\n}", "Invalid value", "is a list"},
	"matrix/none": {"", "scenario: s\nruns: {«a»: {workload: traffic}}",
		"scenario \"s\" {\nrun «\"a\"» { workload = \"traffic\" }\n}", "Missing option",
		"none of the options matrix, matrix_file, generate"},
	"matrix/misspelt": {"traffic", "options: {«matrx»: '2: 0>1=5'}", "options { «matrx» = \"2: 0>1=5\" }",
		"Unknown option", "Did you mean \"matrix\"?"},
	"matrix/two": {"traffic", "options: {matrix: '2: 0>1=5', «generate»: ring 1KiB, ranks: 2}",
		"options {\nmatrix = \"2: 0>1=5\"\n«generate» = \"ring 1KiB\"\nranks = 2\n}", "Given twice",
		"\"generate\" and \"matrix\" are both set"},
	"matrix/and file": {"traffic", "options: {matrix: '2: 0>1=5', «matrix_file»: good.txt}",
		"options {\nmatrix = \"2: 0>1=5\"\n«matrix_file» = \"good.txt\"\n}", "Given twice", "only one of"},
	"matrix/and axis": {"traffic", "sweep: {generate: [ring 1KiB, ring 2KiB]}\noptions: {«matrix_file»: good.txt, ranks: 2}",
		"sweep { generate = [\"ring 1KiB\", \"ring 2KiB\"] }\noptions {\n«matrix_file» = \"good.txt\"\nranks = 2\n}",
		"Given twice", "and \"generate\" are both set"},
	"matrix/two axes": {"traffic", "sweep: {matrix_file: [good.txt], «generate»: [ring 1KiB, ring 2KiB]}\noptions: {ranks: 2}",
		"sweep {\nmatrix_file = [\"good.txt\"]\n«generate» = [\"ring 1KiB\", \"ring 2KiB\"]\n}\noptions { ranks = 2 }",
		"Given twice", "and \"matrix_file\" are both set"},
	"matrix/ranks": {"traffic", "options: {matrix: [[0, 1], [1, 0]], ranks: «3»}",
		"options {\nmatrix = [[0, 1], [1, 0]]\nranks = «3»\n}", "Wrong number of ranks", "the matrix has 2 ranks"},
	"matrix_file/ranks": {"traffic", "options: {matrix_file: good.txt, ranks: «4»}",
		"options {\nmatrix_file = \"good.txt\"\nranks = «4»\n}", "Wrong number of ranks", "Ranks is 4"},
	"matrix_file/absent": {"traffic", "options: {matrix_file: «absent.txt»}",
		"options { matrix_file = «\"absent.txt\"» }", "Cannot read the matrix", "relative to the file"},
	"matrix_file/zeros": {"traffic", "options: {matrix_file: «zeros.txt»}",
		"options { matrix_file = «\"zeros.txt\"» }", "Invalid matrix", "Of zeros.txt: all cells are 0"},
	"matrix_file/axis": {"traffic", "sweep: {matrix_file: [good.txt, «absent.txt»]}",
		"sweep { matrix_file = [\"good.txt\", «\"absent.txt\"»] }", "Cannot read the matrix", "absent.txt"},
	"matrix_file/list": {"traffic", "options: {matrix_file: «[good.txt]»}",
		"options { matrix_file = «[\"good.txt\"]» }", "Invalid value", "is a list"},
	"matrix_file/of point": {"traffic", "sweep: {n: [1, 2]}\noptions: {matrix_file: '${«axis.n»}.txt', shards: '${axis.n}'}",
		"sweep { n = [1, 2] }\noptions {\nmatrix_file = \"${«axis.n»}.txt\"\nshards = axis.n\n}",
		"Depends on the point", "cannot depend on the point"},
	"generate/no ranks": {"", "scenario: s\nruns: {«a»: {workload: traffic, options: {generate: ring 4KiB}}}",
		"scenario \"s\" {\nrun «\"a\"» {\nworkload = \"traffic\"\noptions { generate = \"ring 4KiB\" }\n}\n}",
		"Missing option", "Add ranks"},
	"generate/unknown": {"traffic", "options: {generate: «rong 4KiB», ranks: 2}",
		"options {\ngenerate = «\"rong 4KiB\"»\nranks = 2\n}", "Invalid value", "there is no generator \"rong\""},
	"generate/axis": {"traffic", "sweep: {generate: [ring 4KiB, «ring»]}\noptions: {ranks: 2}",
		"sweep { generate = [\"ring 4KiB\", «\"ring\"»] }\noptions { ranks = 2 }", "Invalid value", "ring has no size"},
	"generate/twice": {"traffic", "sweep: {generate: [ring 4KiB, «ring 4096»]}\noptions: {ranks: 2}",
		"sweep { generate = [\"ring 4KiB\", «\"ring 4096\"»] }\noptions { ranks = 2 }", "Duplicate value", "ring 4KiB"},

	// secrets
	"secret/in a text": {"run", "env: {TOKEN: 'Bearer ${«secret(»\"T\")}'}",
		"env = { TOKEN = \"Bearer ${«secret(»\"T\")}\" }", "Misplaced secret", "whole value"},
	"secret/in an option": {"run", "needs: ${«secret(»\"T\")}", "needs = «secret(»\"T\")", "Misplaced secret",
		"in env of a run"},
	"secret/in argv": {"run", "setup: [[echo, '${«secret(»\"T\")}']]", "setup = [[\"echo\", «secret(»\"T\")]]",
		"Misplaced secret", "whole value"},
	"secret/in a variable": {"variable", "default: ${«secret(»\"T\")}", "default = «secret(»\"T\")",
		"Misplaced secret", "whole value"},
	"secret/in an axis": {"run", "sweep: {env.TOKEN: ['${«secret(»\"T\")}']}",
		"sweep = { \"env.TOKEN\" = [«secret(»\"T\")] }", "Misplaced secret", "whole value"},
	"secret/chosen": {"run", "env: {T: '${true ? «secret(»\"T\") : \"\"}'}",
		"env = { T = true ? «secret(»\"T\") : \"\" }", "Misplaced secret", "whole value"},
	"secret/in assert": {"run", "assert: ['bandwidth >= ${«secret(»\"T\")}']",
		"assert = [\"bandwidth >= ${«secret(»\"T\")}\"]", "Misplaced secret", "whole value"},
	"secret/description": {"root", "description: ${«secret(»\"T\")}", "description = «secret(»\"T\")",
		"Misplaced secret", "whole value"},
	"secret/name": {"run", "env: {T: '«${secret(\"a b\")}»'}", "env = { T = «secret(\"a b\")» }",
		"Invalid secret", "neither the name"},
	"secret/no path": {"run", "env: {T: '«${secret(\"file:\")}»'}", "env = { T = «secret(\"file:\")» }",
		"Invalid secret", "file:PATH"},
	"secret/two names": {"run", "env: {T: '«${secret(\"a\", \"b\")}»'}", "env = { T = «secret(\"a\", \"b\")» }",
		"Invalid secret", "takes one name"},
	"secret/bare name": {"run", "env: {T: \"${secret(«TOKEN»)}\"}", "env = { T = secret(«TOKEN») }",
		"Unknown name", "in quotes"},
	"secret/and axis": {"run", "sweep: {env.T: [a, b]}\nenv: {«T»: '${secret(\"T\")}'}",
		"sweep = { \"env.T\" = [\"a\", \"b\"] }\nenv = { «T» = secret(\"T\") }", "Variable and axis", "axis env.T"},
	"secret/variable name": {"run", "env: {«A-B»: '${secret(\"T\")}'}", "env = { «\"A-B\"» = secret(\"T\") }",
		"Invalid name", "environment variable"},
	"secret/in a reference": {"root", "references: {a: [{bandwidth: '${«secret(»\"T\")}'}]}",
		"references { a = [{ bandwidth = «secret(»\"T\") }] }", "Misplaced secret", "whole value"},
}

var brokenNeighbours = map[string]string{
	"other.yaml":  "scenario: other\nvariables:\n  size: {type: size, default: 4KiB, validation: {condition: \"size(var.size) % 2 == 0\", message: a block is even}}\nchecks: {c: {command: [true]}}\nruns:\n  o: {workload: transfer, options: {block_size: \"${var.size}\"}}\n  p: {workload: transfer, options: {block_size: 1}, needs: o}\n",
	"third.yaml":  "scenario: third\nruns: {o: {workload: transfer, options: {block_size: 1}}}\n",
	"checks.yaml": "scenario: checks\nchecks: {c: {command: [false]}}\nruns: {q: {workload: transfer, options: {block_size: 1}}}\n",
	"table.csv":   "a,b",
	"x.txt":       "",
	"good.txt":    "0 4K\n1 0\n",
	"three.txt":   "0 4K 0\n1 0 0\n0 0 0\n",
	"model.json":  "{\"num_hidden_layers\": 4, \"hidden_size\": 64, \"num_attention_heads\": 4, \"torch_dtype\": \"bfloat16\"}",
	"trace.jsonl": "{\"timestamp\": 0, \"input_length\": 100}\n{\"timestamp\": 9, \"input_length\": 200}\n",
	"ct.yaml":     "traffic_patterns:\n- matrix_file: good.txt\n  sleep_before_launch_sec: 0.5\n",
	"zeros.txt":   "0 0\n0 0\n",
}

func TestBrokenInputsHaveOneErrorAtItsCharacters(t *testing.T) {
	all := maps.Clone(brokenInputs)
	maps.Copy(all, onceReported)
	for name, b := range all {
		for extension, piece := range map[string]string{".yaml": b.yaml, ".hcl": b.hcl} {
			if piece == "" {
				continue
			}
			t.Run(name+extension, func(t *testing.T) {
				src, marked := framed(b.place, extension, piece)
				s, sources, diags := Load("main"+extension, []byte(src),
					Options{Env: testEnv, Read: memory(brokenNeighbours)})
				if s != nil || len(diags) != 1 {
					t.Fatalf("%d diagnostics: %v in\n%s", len(diags), diags, src)
				}
				checkPlaces(t, sources, diags)
				d := diags[0]
				hint, _ := d.Extra.(Hint)
				if d.Summary != b.summary || !strings.Contains(d.Detail+"\n"+string(hint), b.says) {
					t.Errorf("got %s: %s (%s)\nin\n%s", d.Summary, d.Detail, hint, src)
				}
				if d.Subject == nil {
					t.Fatal("it has no place")
				}
				at := string(d.Subject.SliceBytes(sources[d.Subject.Filename].Bytes))
				if d.Subject.Filename != "main"+extension || strings.Trim(at, `"'`) != strings.Trim(marked, `"'`) {
					t.Errorf("it points at %q of %s, not at %q: %s", at, d.Subject.Filename, marked, d.Summary)
				}
			})
		}
	}
	if len(brokenInputs) < 45 {
		t.Error(len(brokenInputs))
	}
}

func TestReadErrorsAreReported(t *testing.T) {
	read := func(string) ([]byte, error) { return nil, errors.New("the disk is gone") }
	_, _, diags := LoadFile("x.yaml", Options{Read: read})
	if len(diags) != 1 || diags[0].Detail != "the disk is gone" {
		t.Error(diags)
	}
}
