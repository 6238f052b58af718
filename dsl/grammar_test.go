package dsl

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/dsl/grammar"
)

// A sample is a key of the grammar with a value that has an effect.
type sample struct{ place, yaml, hcl string }

// samples has every form of every key, by the key's path. Forms of the same key are numbered. The
// keys of a sweep have their own tests.
var samples = map[string]sample{
	"description":  {"root", "description: d", "description = \"d\""},
	"include":      {"root", "include: other.yaml", "include = \"other.yaml\""},
	"include 2":    {"root", "include: {file: other.yaml, as: y}", "include { \nfile = \"other.yaml\"\nas = \"y\"\n}"},
	"include 3":    {"root", "include: [other.yaml]", "include = [\"other.yaml\"]"},
	"include.file": {"root", "include: [{file: other.yaml}]", "include = [{ file = \"other.yaml\" }]"},

	"include.as": {"root", "include: [{file: other.yaml, as: x}]", "include = [{ file = \"other.yaml\", as = \"x\" }]"},
	"include.runs": {"root", "include: [{file: other.yaml, runs: [o]}]",
		"include = [{ file = \"other.yaml\", runs = [\"o\"] }]"},

	"include.variables": {"root", "include: [{file: other.yaml, as: x, variables: {size: 8KiB}}]",
		"include = [{ file = \"other.yaml\", as = \"x\", variables = { size = \"8KiB\" } }]"},
	"variables": {"root", "variables: {v: {default: 1}}", "variable \"v\" { default = 1 }"},
	"variables.type": {"root", "variables: {v: {default: 1, type: number}}",
		"variable \"v\" {\ndefault = 1\ntype = number\n}"},
	"variables.default": {"root", "variables: {v: {default: 2}}", "variable \"v\" { default = 2 }"},

	"variables.default 2": {"root", "variables: {v: {type: list, default: [a]}}",
		"variable \"v\" {\ntype = \"list\"\ndefault = [\"a\"]\n}"},

	"variables.description": {"root", "variables: {v: {default: 1, description: d}}",
		"variable \"v\" {\ndefault = 1\ndescription = \"d\"\n}"},
	"variables.validation": {"root", "variables: {v: {default: a, validation: {condition: var.v == \"b\"}}}",
		"variable \"v\" {\ndefault = \"a\"\nvalidation { condition = var.v == \"b\" }\n}"},

	"variables.validation 2": {"root", "variables: {v: {default: a, validation: [{condition: true}, {condition: var.v == \"b\"}]}}",
		"variable \"v\" {\ndefault = \"a\"\nvalidation = [{ condition = true }, { condition = var.v == \"b\" }]\n}"},

	"variables.validation.condition": {"root",
		"variables: {v: {default: a, validation: {condition: '${var.v == \"b\"}'}}}",
		"variable \"v\" {\ndefault = \"a\"\nvalidation { condition = var.v == \"b\" }\n}"},

	"variables.validation.message": {"root",
		"variables: {v: {default: a, validation: {condition: var.v == \"b\", message: m}}}",
		"variable \"v\" {\ndefault = \"a\"\nvalidation {\ncondition = var.v == \"b\"\nmessage = \"m\"\n}\n}"},
	"cluster":                {"root", "cluster: {nodes: 3}", "cluster { nodes = 3 }"},
	"cluster.nodes":          {"root", "cluster: {nodes: 2}", "cluster = { nodes = 2 }"},
	"cluster.distinct_hosts": {"root", "cluster: {distinct_hosts: true}", "cluster { distinct_hosts = true }"},

	"cluster.gpus_per_node": {"root", "cluster: {gpus_per_node: 1}", "cluster { gpus_per_node = 1 }"},

	"defaults":            {"root", "defaults: {launches: 7}", "defaults { launches = 7 }"},
	"defaults.launches":   {"root", "defaults: {launches: 8}", "defaults { launches = 8 }"},
	"defaults.launches 2": {"root", "defaults: {launches: [2, 3]}", "defaults { launches = [2, 3] }"},
	"defaults.timeout":    {"root", "defaults: {timeout: 1m}", "defaults { timeout = \"1m\" }"},
	"defaults.timeout 2":  {"root", "defaults: {timeout: {verify: 1m}}", "defaults {\ntimeout { verify = \"1m\" }\n}"},
	"defaults.retry":      {"root", "defaults: {retry: 2}", "defaults { retry = 2 }"},
	"defaults.retry 2":    {"root", "defaults: {retry: {times: 3}}", "defaults {\nretry { times = 3 }\n}"},
	"defaults.env":        {"root", "defaults: {env: {A: 1}}", "defaults { env = { A = 1 } }"},
	"defaults.options": {"root", "defaults: {options: {transfer: {warmup: 3}}}",
		"defaults {\noptions {\ntransfer = { warmup = 3 }\n}\n}"},
	"references":    {"root", "references: table.yaml", "references = \"table.yaml\""},
	"references 2":  {"root", "references: {a: [{bandwidth: 1}]}", "references {\na = [{ bandwidth = 1 }]\n}"},
	"baseline":      {"root", "baseline: old.json", "baseline = \"old.json\""},
	"baseline 2":    {"root", "baseline: {file: old.json}", "baseline { file = \"old.json\" }"},
	"baseline.file": {"root", "baseline: {file: older.json}", "baseline { file = \"older.json\" }"},
	"baseline.missing": {"root", "baseline: {file: old.json, missing: skip}",
		"baseline {\nfile = \"old.json\"\nmissing = \"skip\"\n}"},
	"inconclusive":        {"root", "inconclusive: warn", "inconclusive = \"warn\""},
	"inconclusive 2":      {"root", "inconclusive: {streak: 3}", "inconclusive { streak = 3 }"},
	"inconclusive.as":     {"root", "inconclusive: {as: pass}", "inconclusive { as = \"pass\" }"},
	"inconclusive.streak": {"root", "inconclusive: {streak: 4}", "inconclusive { streak = 4 }"},
	"checks":              {"root", "checks: {c: {command: [x]}}", "check \"c\" { command = [\"x\"] }"},
	"checks.on": {"root", "checks: {d: {on: every node, command: [x]}}",
		"check \"d\" {\non = \"every node\"\ncommand = [\"x\"]\n}"},
	"cluster.nics_per_node": {"root", "cluster: {nics_per_node: 2}", "cluster { nics_per_node = 2 }"},
	"cluster.nics_per_node 2": {"root", "cluster: {nics_per_node: {count: 3}}",
		"cluster {\nnics_per_node = { count = 3 }\n}"},
	"cluster.nics_per_node.count": {"root", "cluster: {nics_per_node: {count: 4}}",
		"cluster {\nnics_per_node { count = 4 }\n}"},
	"cluster.nics_per_node.driver": {"root", "cluster: {nics_per_node: {count: 4, driver: efa}}",
		"cluster {\nnics_per_node {\ncount = 4\ndriver = \"efa\"\n}\n}"},
	"cluster.huge_pages": {"root", "cluster: {huge_pages: {2MiB: 2GiB}}",
		"cluster {\nhuge_pages = { \"2MiB\" = \"2GiB\" }\n}"},
	"cluster.locked_memory": {"root", "cluster: {locked_memory: unlimited}",
		"cluster { locked_memory = \"unlimited\" }"},
	"checks.launcher": {"root", "checks: {c: {command: [x], launcher: ssh}}",
		"check \"c\" {\ncommand = [\"x\"]\nlauncher = \"ssh\"\n}"},
	"checks.when": {"root", "checks: {c: {command: [x], when: true}}",
		"check \"c\" {\ncommand = [\"x\"]\nwhen = true\n}"},
	"checks.gpu": {"root", "checks: {c: {gpu: {processes: 1}}}", "check \"c\" {\ngpu { processes = 1 }\n}"},
	"checks.gpu.processes": {"root", "checks: {c: {gpu: {processes: 0}}}",
		"check \"c\" {\ngpu { processes = 0 }\n}"},
	"checks.gpu.memory_free": {"root", "checks: {c: {gpu: {memory_free: 75GiB}}}",
		"check \"c\" {\ngpu { memory_free = \"75GiB\" }\n}"},
	"runs.assert.when": {"run", "assert: [{that: bandwidth >= 7, when: true}]",
		"assert = [{ that = \"bandwidth >= 7\", when = true }]"},
	"checks.command":    {"root", "checks: {c: {command: [y]}}", "check \"c\" { command = [\"y\"] }"},
	"cluster.labels":    {"root", "cluster: {labels: {zone: a}}", "cluster {\nlabels = { zone = \"a\" }\n}"},
	"cluster.exclusive": {"root", "cluster: {exclusive: true}", "cluster { exclusive = true }"},
	"checks.severity": {"root", "checks: {c: {command: [x], severity: skip}}",
		"check \"c\" {\ncommand = [\"x\"]\nseverity = \"skip\"\n}"},
	"checks.remedy": {"root", "checks: {c: {command: [x], remedy: install it}}",
		"check \"c\" {\ncommand = [\"x\"]\nremedy = \"install it\"\n}"},
	"artifacts": {"root", "artifacts: {a: {command: [x]}}", "artifact \"a\" { command = [\"x\"] }"},
	"artifacts.on": {"root", "artifacts: {a: {command: [x], on: first node}}",
		"artifact \"a\" {\ncommand = [\"x\"]\non = \"first node\"\n}"},
	"artifacts.command": {"root", "artifacts: {a: {command: [x, y]}}", "artifact \"a\" { command = [\"x\", \"y\"] }"},
	"artifacts.file": {"root", "artifacts: [{name: a, file: \"/var/log/*.log\"}]",
		"artifact \"a\" { file = \"/var/log/*.log\" }"},
	"artifacts.at": {"root", "artifacts: {a: {command: [x], at: start}}",
		"artifact \"a\" {\ncommand = [\"x\"]\nat = \"start\"\n}"},
	"artifacts.required": {"root", "artifacts: {a: {command: [x], required: true}}",
		"artifact \"a\" {\ncommand = [\"x\"]\nrequired = true\n}"},
	"artifacts.timeout": {"root", "artifacts: {a: {command: [x], timeout: 7s}}",
		"artifact \"a\" {\ncommand = [\"x\"]\ntimeout = \"7s\"\n}"},
	"tags":       {"root", "tags: [x]", "tags = [\"x\"]"},
	"runs.tags":  {"run", "tags: [x, y]", "tags = [\"x\", \"y\"]"},
	"runs.stage": {"run", "stage: 2 NIXL", "stage = \"2 NIXL\""},
	"runs.may_fail": {"run", "may_fail: {reason: r, until: 2026-01-31}",
		"may_fail {\nreason = \"r\"\nuntil = \"2026-01-31\"\n}"},
	"runs.may_fail.reason": {"run", "may_fail: {reason: s, until: 2026-01-31}",
		"may_fail = { reason = \"s\", until = \"2026-01-31\" }"},
	"runs.may_fail.until": {"run", "may_fail: {reason: r, until: 2020-01-31}",
		"may_fail { \nreason = \"r\"\nuntil = \"2020-01-31\"\n}"},
	"runs.may_fail.match": {"run", "may_fail: {reason: r, until: 2026-01-31, match: libnixl}",
		"may_fail = { reason = \"r\", until = \"2026-01-31\", match = \"libnixl\" }"},
	"runs.may_fail.strict": {"run", "may_fail: {reason: r, until: 2026-01-31, strict: true}",
		"may_fail = { reason = \"r\", until = \"2026-01-31\", strict = true }"},
	"runs.place":                {"run", "place: {nodes: 2}", "place { nodes = 2 }"},
	"runs.place.nodes":          {"run", "place: {nodes: 3}", "place = { nodes = 3 }"},
	"runs.place.ranks_per_node": {"run", "place: {ranks_per_node: 2}", "place { ranks_per_node = 2 }"},
	"runs.place.distinct_hosts": {"run", "place: {distinct_hosts: false}", "place { distinct_hosts = false }"},

	"runs.place.labels":        {"run", "place: {labels: {zone: a}}", "place {\nlabels { zone = \"a\" }\n}"},
	"runs.place.gpus_per_rank": {"run", "place: {gpus_per_rank: 1}", "place { gpus_per_rank = 1 }"},
	"runs.place.nics_per_rank": {"run", "place: {nics_per_rank: 1}", "place { nics_per_rank = 1 }"},
	"runs.place.cpus_per_rank": {"run", "place: {cpus_per_rank: 1}", "place { cpus_per_rank = 1 }"},

	"claims": {"root",
		"claims: [{run: a, metric: bandwidth, value: 46 GB/s, source: d}]",
		"claims = [{ run = \"a\", metric = \"bandwidth\", value = \"46 GB/s\", source = \"d\" }]"},
	"claims.run": {"root",
		"claims: [{run: b, metric: bandwidth, value: 46 GB/s, source: d}]",
		"claims = [{ run = \"b\", metric = \"bandwidth\", value = \"46 GB/s\", source = \"d\" }]"},
	"claims.metric": {"root",
		"claims: [{run: a, metric: latency.p50, value: 46us, source: d}]",
		"claims = [{ run = \"a\", metric = \"latency.p50\", value = \"46us\", source = \"d\" }]"},
	"claims.value": {"root",
		"claims: [{run: a, metric: bandwidth, value: 47, source: d}]",
		"claims = [{ run = \"a\", metric = \"bandwidth\", value = 47, source = \"d\" }]"},
	"claims.where": {"root",
		"claims: [{run: a, metric: bandwidth, value: 46 GB/s, source: d, where: batch == 1}]",
		"claims = [{ run = \"a\", metric = \"bandwidth\", value = \"46 GB/s\", source = \"d\", where = \"batch == 1\" }]"},
	"claims.tolerance": {"root",
		"claims: [{run: a, metric: bandwidth, value: 46 GB/s, source: d, tolerance: 5%}]",
		"claims = [{ run = \"a\", metric = \"bandwidth\", value = \"46 GB/s\", source = \"d\", tolerance = \"5%\" }]"},
	"claims.date": {"root",
		"claims: [{run: a, metric: bandwidth, value: 46 GB/s, source: d, date: 2025-11-20}]",
		"claims = [{ run = \"a\", metric = \"bandwidth\", value = \"46 GB/s\", source = \"d\", date = \"2025-11-20\" }]"},
	"claims.configuration": {"root",
		"claims: [{run: a, metric: bandwidth, value: 46 GB/s, source: d, configuration: P5}]",
		"claims = [{ run = \"a\", metric = \"bandwidth\", value = \"46 GB/s\", source = \"d\", configuration = \"P5\" }]"},
	"claims.status": {"root",
		"claims: [{run: a, metric: bandwidth, value: 46 GB/s, source: d, status: recommended}]",
		"claims = [{ run = \"a\", metric = \"bandwidth\", value = \"46 GB/s\", source = \"d\", status = \"recommended\" }]"},
	"claims.plausible": {"root",
		"claims: [{run: a, metric: bandwidth, value: 46 GB/s, source: d, plausible: 12.5 GB/s}]",
		"claims = [{ run = \"a\", metric = \"bandwidth\", value = \"46 GB/s\", source = \"d\", plausible = \"12.5 GB/s\" }]"},
	"claims.requires": {"root",
		"claims: [{run: a, metric: bandwidth, value: 46 GB/s, source: d, requires: [batch == 1]}]",
		"claims = [{ run = \"a\", metric = \"bandwidth\", value = \"46 GB/s\", source = \"d\", requires = [\"batch == 1\"] }]"},
	"claims.source": {"root",
		"claims: [{run: a, metric: bandwidth, value: 46 GB/s, source: e}]",
		"claims = [{ run = \"a\", metric = \"bandwidth\", value = \"46 GB/s\", source = \"e\" }]"},
	"claims.gain": {"",
		"scenario: s\nvariants: {baseline: x, x: {options: {block_size: 1}}, y: {options: {block_size: 2}}, z: {options: {block_size: 3}}}\nclaims: [{run: a, metric: bandwidth, gain: 62%, variant: y, source: d}]\nruns: {a: {workload: transfer, sweep: {variant: [x, y, z]}}}",
		"scenario \"s\" {\nvariants = { baseline = \"x\", x = { options = { block_size = 1 } }, y = { options = { block_size = 2 } }, z = { options = { block_size = 3 } } }\nclaims = [{ run = \"a\", metric = \"bandwidth\", gain = \"62%\", variant = \"y\", source = \"d\" }]\nrun \"a\" {\nworkload = \"transfer\"\nsweep { variant = [\"x\", \"y\", \"z\"] }\n}\n}"},
	"claims.variant": {"",
		"scenario: s\nvariants: {baseline: x, x: {options: {block_size: 1}}, y: {options: {block_size: 2}}, z: {options: {block_size: 3}}}\nclaims: [{run: a, metric: bandwidth, gain: 62%, variant: z, source: d}]\nruns: {a: {workload: transfer, sweep: {variant: [x, y, z]}}}",
		"scenario \"s\" {\nvariants = { baseline = \"x\", x = { options = { block_size = 1 } }, y = { options = { block_size = 2 } }, z = { options = { block_size = 3 } } }\nclaims = [{ run = \"a\", metric = \"bandwidth\", gain = \"62%\", variant = \"z\", source = \"d\" }]\nrun \"a\" {\nworkload = \"transfer\"\nsweep { variant = [\"x\", \"y\", \"z\"] }\n}\n}"},
	"claims.against": {"",
		"scenario: s\nvariants: {baseline: x, x: {options: {block_size: 1}}, y: {options: {block_size: 2}}, z: {options: {block_size: 3}}}\nclaims: [{run: a, metric: bandwidth, gain: 62%, variant: y, source: d, against: z}]\nruns: {a: {workload: transfer, sweep: {variant: [x, y, z]}}}",
		"scenario \"s\" {\nvariants = { baseline = \"x\", x = { options = { block_size = 1 } }, y = { options = { block_size = 2 } }, z = { options = { block_size = 3 } } }\nclaims = [{ run = \"a\", metric = \"bandwidth\", gain = \"62%\", variant = \"y\", source = \"d\", against = \"z\" }]\nrun \"a\" {\nworkload = \"transfer\"\nsweep { variant = [\"x\", \"y\", \"z\"] }\n}\n}"},
	"setup":         {"root", "setup: [[x]]", "setup = [[\"x\"]]"},
	"setup.name":    {"root", "setup: [{command: [x], name: y}]", "setup = [{ command = [\"x\"], name = \"y\" }]"},
	"setup.command": {"root", "setup: [{command: [x, y]}]", "setup = [{ command = [\"x\", \"y\"] }]"},
	"setup.on": {"root", "setup: [{command: [x], on: first node}]",
		"setup = [{ command = [\"x\"], on = \"first node\" }]"},
	"setup.scope": {"root", "setup: [{command: [x], scope: run}, {command: [y], scope: launch}]",
		"setup = [{ command = [\"x\"], scope = \"run\" }, { command = [\"y\"], scope = \"launch\" }]"},
	"setup.env": {"root", "setup: [{command: [x], env: {A: b, S: '${secret(\"T\")}'}}]",
		"setup = [{ command = [\"x\"], env = { A = \"b\", S = secret(\"T\") } }]"},
	"setup.timeout": {"root", "setup: [{command: [x], timeout: 2m}]",
		"setup = [{ command = [\"x\"], timeout = \"2m\" }]"},
	"teardown": {"root", "teardown: [[x]]", "teardown = [[\"x\"]]"},
	"runs": {"", "scenario: u\nruns: {a: {workload: transfer, options: {block_size: 1}}}",
		"scenario \"u\" {\nrun \"a\" {\nworkload = \"transfer\"\noptions = { block_size = 1 }\n}\n}"},
	"runs.workload": {"", "scenario: t\nruns: {a: {workload: transfer, options: {block_size: 1}}}",
		"scenario \"t\" {\nrun \"a\" {\nworkload = \"transfer\"\noptions { block_size = 1 }\n}\n}"},
	"runs.options": {"", "scenario: s\nruns: {a: {workload: transfer, options: {block_size: 1}}}",
		"scenario \"s\" {\nrun \"a\" {\nworkload = \"transfer\"\noptions = { block_size = 1 }\n}\n}"},
	"runs.env":   {"run", "env: {A: b, S: '${secret(\"file:/t\")}'}", "env = { A = \"b\", S = secret(\"file:/t\") }"},
	"runs.sweep": {"run", "sweep: {batch: [1, 2]}", "sweep { batch = [1, 2] }"},
	"runs.metrics": {"", "scenario: s\nruns: {a: {workload: command, options: {roles: {r: {command: [x]}}, parse: {of: r, lines: '(?<x>.)'}}, metrics: {x: {better: lower}}}}",
		"scenario \"s\" {\nrun \"a\" {\nworkload = \"command\"\noptions {\nroles = { r = { command = [\"x\"] } }\nparse = { of = \"r\", lines = \"(?<x>.)\" }\n}\nmetrics = { x = { better = \"lower\" } }\n}\n}"},
	"runs.needs":      {"run", "needs: b", "needs = \"b\""},
	"runs.needs 2":    {"run", "needs: {run: b}", "needs { run = \"b\" }"},
	"runs.needs 3":    {"run", "needs: [{run: b, on: always}]", "needs = [{ run = \"b\", on = \"always\" }]"},
	"runs.needs.run":  {"run", "needs: [{run: b}]", "needs = [{ run = \"b\" }]"},
	"runs.needs.on":   {"run", "needs: {run: b, on: failed}", "needs {\nrun = \"b\"\non = \"failed\"\n}"},
	"runs.while":      {"run", "while: b", "while = \"b\""},
	"runs.when":       {"run", "when: batch == 1", "when = \"batch == 1\""},
	"runs.launches":   {"run", "launches: 4", "launches = 4"},
	"runs.launches 2": {"run", "launches: [4, 5]", "launches = [4, 5]"},
	"runs.timeout":    {"run", "timeout: 6s", "timeout = \"6s\""},
	"runs.timeout 2":  {"run", "timeout: {ready: 1s}", "timeout = { ready = \"1s\" }"},
	"runs.retry":      {"run", "retry: 1", "retry = 1"},
	"runs.retry 2":    {"run", "retry: {times: 9}", "retry { times = 9 }"},
	"runs.setup": {"run", "setup: [[x], {command: [x], scope: launch}]",
		"setup = [[\"x\"], { command = [\"x\"], scope = \"launch\" }]"},
	"runs.teardown": {"run", "teardown: [[x], {command: [x], scope: launch}]",
		"teardown = [[\"x\"], { command = [\"x\"], scope = \"launch\" }]"},
	"runs.assert":      {"run", "assert: [bandwidth >= 2]", "assert = [\"bandwidth >= 2\"]"},
	"runs.assert.that": {"run", "assert: [{that: bandwidth >= 3}]", "assert = [{ that = \"bandwidth >= 3\" }]"},
	"runs.assert.name": {"run", "assert: [{that: bandwidth >= 1, name: n}]",
		"assert = [{ that = \"bandwidth >= 1\", name = \"n\" }]"},
	"runs.assert.severity": {"run", "assert: [{that: bandwidth >= 1, severity: warn}]",
		"assert = [{ that = \"bandwidth >= 1\", severity = \"warn\" }]"},
	"runs.assert.halo": {"run", "assert: [{that: bandwidth >= 1, halo: 5%}]",
		"assert = [{ that = \"bandwidth >= 1\", halo = \"5%\" }]"},
	"runs.assert.multiple": {"run", "assert: [{that: bandwidth >= 1, multiple: holm}]",
		"assert = [{ that = \"bandwidth >= 1\", multiple = \"holm\" }]"},
	"runs.assert.decide": {"run", "assert: [{that: bandwidth >= 1, decide: {on_inconclusive: warn}}]",
		"assert = [{ that = \"bandwidth >= 1\", decide = { on_inconclusive = \"warn\" } }]"},

	"runs.assert.decide.confidence": {"run", "assert: [{that: bandwidth >= 1, decide: {confidence: 99%}}]",
		"assert = [{ that = \"bandwidth >= 1\", decide = { confidence = \"99%\" } }]"},
	"runs.assert.xfail": {"run", "assert: [{that: bandwidth >= 1, xfail: {reason: r, until: 2026-01-31}}]",
		"assert = [{ that = \"bandwidth >= 1\", xfail = { reason = \"r\", until = \"2026-01-31\" } }]"},
	"runs.assert.xfail.reason": {"run", "assert: [{that: bandwidth >= 1, xfail: {reason: s, until: 2026-01-31}}]",
		"assert = [{ that = \"bandwidth >= 1\", xfail = { reason = \"s\", until = \"2026-01-31\" } }]"},
	"runs.assert.xfail.ceiling": {"run",
		"assert: [{that: bandwidth >= 1, xfail: {reason: r, until: 2026-01-31, ceiling: 20%}}]",
		"assert = [{ that = \"bandwidth >= 1\", xfail = { reason = \"r\", until = \"2026-01-31\", ceiling = \"20%\" } }]"},
	"runs.assert.xfail.link": {"run",
		"assert: [{that: bandwidth >= 1, xfail: {reason: r, until: 2026-01-31, link: l}}]",
		"assert = [{ that = \"bandwidth >= 1\", xfail = { reason = \"r\", until = \"2026-01-31\", link = \"l\" } }]"},
	"runs.assert.xfail.until": {"run", "assert: [{that: bandwidth >= 1, xfail: {reason: r, until: 2020-01-31}}]",
		"assert = [{ that = \"bandwidth >= 1\", xfail = { reason = \"r\", until = \"2020-01-31\" } }]"},

	"runs.assert.decide.on_inconclusive": {"run", "assert: [{that: bandwidth >= 1, decide: {on_inconclusive: fail}}]",
		"assert = [{ that = \"bandwidth >= 1\", decide = { on_inconclusive = \"fail\" } }]"},
}

// timeouts and retry have the same keys everywhere.
func init() {
	for i, phase := range []string{"launch", "ready", "connect", "run", "verify", "teardown"} {
		for place, in := range map[string]string{"defaults": "defaults", "runs": "run"} {
			samples[place+".timeout."+phase] = sample{
				in, fmt.Sprintf("timeout: {%s: %ds}", phase, 10+i),
				fmt.Sprintf("timeout {\n%s = \"%ds\"\n}", phase, 10+i),
			}
		}
	}
	for place, in := range map[string]string{"defaults": "defaults", "runs": "run"} {
		samples[place+".retry.times"] = sample{in, "retry: {times: 11}", "retry { times = 11 }"}
		samples[place+".retry.on"] = sample{
			in, "retry: {times: 2, on: [fault]}", "retry {\ntimes = 2\non = [\"fault\"]\n}",
		}
		samples[place+".retry.wait"] = sample{in, "retry: {times: 2, wait: 1s}", "retry {\ntimes = 2\nwait = \"1s\"\n}"}
	}
	for _, key := range []string{"name", "command", "on", "scope", "env", "timeout"} {
		root := samples["setup."+key]
		teardown := strings.NewReplacer("setup", "teardown")
		samples["teardown."+key] = sample{"root", teardown.Replace(root.yaml), teardown.Replace(root.hcl)}
		for _, hook := range []string{"setup", "teardown"} {
			s := samples[hook+"."+key]
			samples["runs."+hook+"."+key] = sample{"run", s.yaml, s.hcl}
		}
	}
}

// checks of the cluster have one key each.
func init() {
	for key, value := range map[string][2]string{
		"daemonset": {"d", `"d"`}, "deployment": {"e", `"e"`}, "crd": {"f", `"f"`}, "labels": {"{a: b}", `{ a = "b" }`},
		"allocatable": {"{cpu: 1}", `{ cpu = 1 }`}, "partition": {"p", `"p"`}, "features": {"[g]", `["g"]`},
		"gres": {"{gpu: 8}", `{ gpu = 8 }`},
	} {
		samples["checks.cluster."+key] = sample{"root", fmt.Sprintf("checks: {c: {cluster: {%s: %s}}}", key, value[0]),
			fmt.Sprintf("check \"c\" {\ncluster {\n%s = %s\n}\n}", key, value[1])}
	}
	for key, value := range map[string][2]string{
		"namespace": {"n", `"n"`}, "ready": {"false", "false"}, "nodes": {"3", "3"},
	} {
		samples["checks.cluster."+key] = sample{"root",
			fmt.Sprintf("checks: {c: {cluster: {daemonset: d, %s: %s}}}", key, value[0]),
			fmt.Sprintf("check \"c\" {\ncluster {\ndaemonset = \"d\"\n%s = %s\n}\n}", key, value[1])}
	}
	samples["checks.cluster"] = sample{"root", "checks: {c: {cluster: {daemonset: x}}}",
		"check \"c\" {\ncluster { daemonset = \"x\" }\n}"}
}

// paths returns the paths of all keys of a table, with a number for each further form.
func paths(keys []grammar.Key, prefix string, out map[string]grammar.Key) {
	for _, k := range keys {
		if prefix == "" && k.Name == "scenario" {
			continue
		}
		for i, f := range k.Forms {
			name := prefix + k.Name
			if i > 0 {
				name += fmt.Sprint(" ", i+1)
			}
			out[name] = k
			for _, inner := range append([]grammar.Form{f}, f.Item...) {
				if inner.Shape != grammar.Sweep {
					paths(inner.Keys, prefix+k.Name+".", out)
				}
			}
		}
	}
}

// TestEveryKeyOfTheGrammarHasAnEffect checks for each form of each key that both syntaxes accept
// it, with the same meaning, and that it changes the scenario.
func TestEveryKeyOfTheGrammarHasAnEffect(t *testing.T) {
	known := map[string]grammar.Key{}
	paths(grammar.Scenario, "", known)
	if d := cmp.Diff(slices.Sorted(maps.Keys(known)), slices.Sorted(maps.Keys(samples))); d != "" {
		t.Fatalf("-grammar +samples %s", d)
	}
	without := map[string]string{}
	for place := range frames {
		for extension := range map[string]bool{".yaml": true, ".hcl": true} {
			if place != "" && place != "variable" {
				src, _ := framed(place, extension, "")
				without[place+extension] = outline("main"+extension, src)
			}
		}
	}
	for path, s := range samples {
		var seen []string
		for extension, piece := range map[string]string{".yaml": s.yaml, ".hcl": s.hcl} {
			src, _ := framed(s.place, extension, piece)
			got := outline("main"+extension, src)
			if strings.Contains(got, "Unknown key") {
				t.Errorf("%s%s: %s", path, extension, got)
			}
			if got == without[s.place+extension] && path != "references" && path != "references 2" {
				t.Errorf("%s%s changes nothing: %s\n%s", path, extension, src, got)
			}
			seen = append(seen, got)
		}
		if seen[0] != seen[1] {
			t.Errorf("%s differs between the syntaxes: %s", path,
				cmp.Diff(strings.Split(seen[0], " "), strings.Split(seen[1], " ")))
		}
	}
}

// TestUnknownKeysAreErrorsEverywhere puts an unknown key beside each key.
func TestUnknownKeysAreErrorsEverywhere(t *testing.T) {
	last := regexp.MustCompile(`(\w+)(: | = | \{ ?)`)
	for path, s := range samples {
		name := path[strings.LastIndex(path, ".")+1:]
		if strings.Contains(path, " ") || path == "runs" || s.place == "" || name == "variables" || name == "checks" ||
			name == "artifacts" {
			continue
		}
		for extension, piece := range map[string]string{".yaml": s.yaml, ".hcl": s.hcl} {
			wrong := last.ReplaceAllStringFunc(piece, func(m string) string {
				word := last.FindStringSubmatch(m)
				if word[1] == name {
					return "qqq" + word[2]
				}
				return m
			})
			if wrong == piece {
				t.Fatalf("%s%s: the sample does not mention the key: %s", path, extension, piece)
			}
			src, _ := framed(s.place, extension, wrong)
			if got := outline("main"+extension, src); !strings.Contains(got, "Unknown key") &&
				!strings.Contains(got, "Unknown workload") {
				t.Errorf("%s%s: qqq is accepted: %s\n%s", path, extension, src, got)
			}
		}
	}
}

// outline returns everything in a scenario as text, or its errors.
func outline(file, src string) string {
	files := maps.Clone(brokenNeighbours)
	files["table.yaml"] = "reference: t\ntables: {a: [{bandwidth: 1}]}\n"
	s, _, diags := Load(file, []byte(src), Options{Env: testEnv, Read: memory(files)})
	if s == nil {
		var out []string
		for _, d := range diags {
			out = append(out, d.Summary+": "+d.Detail)
		}
		return strings.Join(out, "\n")
	}
	return describe(s)
}
