package dsl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

// serviceKeys has each key of a service in both syntaxes.
var serviceKeys = map[string][2]string{
	"command":    {"command: [y]", `command = ["y"]`},
	"node":       {"command: [x], node: 1", "command = [\"x\"]\nnode = 1"},
	"env":        {"command: [x], env: {A: b}", "command = [\"x\"]\nenv = { A = \"b\" }"},
	"place":      {"command: [x], place: {numa: 0}", "command = [\"x\"]\nplace { numa = 0 }"},
	"place.numa": {"command: [x], place: {numa: 1}", "command = [\"x\"]\nplace = { numa = 1 }"},
	"place.cpus_per_rank": {"command: [x], place: {cpus_per_rank: 1}",
		"command = [\"x\"]\nplace = { cpus_per_rank = 1 }"},
	"place.gpus_per_rank": {"command: [x], place: {gpus_per_rank: 1}",
		"command = [\"x\"]\nplace = { gpus_per_rank = 1 }"},
	"place.nics_per_rank": {"command: [x], place: {nics_per_rank: 1}",
		"command = [\"x\"]\nplace = { nics_per_rank = 1 }"},
	"after":         {"command: [x], after: o", "command = [\"x\"]\nafter = \"o\""},
	"after 2":       {"command: [x], after: [o]", "command = [\"x\"]\nafter = [\"o\"]"},
	"ready":         {"command: [x], ready: {file: f}", "command = [\"x\"]\nready { file = \"f\" }"},
	"url":           {"command: [x], url: u", "command = [\"x\"]\nurl = \"u\""},
	"fresh":         {"command: [x], fresh: launch", "command = [\"x\"]\nfresh = \"launch\""},
	"stop":          {"command: [x], stop: {within: 1s}", "command = [\"x\"]\nstop { within = \"1s\" }"},
	"stop.signal":   {"command: [x], stop: {signal: INT}", "command = [\"x\"]\nstop = { signal = \"INT\" }"},
	"stop.within":   {"command: [x], stop: {within: 2s}", "command = [\"x\"]\nstop = { within = \"2s\" }"},
	"ready.command": {"command: [x], ready: {command: [z]}", "command = [\"x\"]\nready = { command = [\"z\"] }"},
	"ready.within": {"command: [x], ready: {file: f, within: 3s}",
		"command = [\"x\"]\nready {\nfile = \"f\"\nwithin = \"3s\"\n}"},
	"metrics": {"command: [x], metrics: {m: {log: e, count: true, better: lower}}",
		"command = [\"x\"]\nmetrics = { m = { log = \"e\", count = true, better = \"lower\" } }"},
	"proof":      {"command: [x], proof: {log: e}", "command = [\"x\"]\nproof { log = \"e\" }"},
	"proof.log":  {"command: [x], proof: {log: f}", "command = [\"x\"]\nproof = { log = \"f\" }"},
	"proof.file": {"command: [x], proof: {file: f}", "command = [\"x\"]\nproof = { file = \"f\" }"},
	"ready.contains": {
		"command: [x], ready: {http: u, contains: c}", "command = [\"x\"]\nready {\nhttp = \"u\"\ncontains = \"c\"\n}",
	},
}

// aManifest is a manifest on one line, valid in both syntaxes.
const aManifest = `"kind: A\napiVersion: v1\nmetadata: {name: a}\n"`

// clusterKeys has each key of a service in a cluster in both syntaxes.
func clusterKeys() map[string][2]string {
	all := map[string][2]string{
		"kubernetes": {"kubernetes: {apply: " + aManifest + "}", "kubernetes { apply = " + aManifest + " }"},
		"helm":       {"helm: {chart: repo/chart}", "helm { chart = \"repo/chart\" }"},
		"tunnel": {"tunnel: {service: s, port: 80}, kubernetes: {apply: " + aManifest + "}",
			"tunnel {\nservice = \"s\"\nport = 80\n}\nkubernetes { apply = " + aManifest + " }"},
		"tunnel.service": {"tunnel: {service: t, port: 80}", "tunnel = { service = \"t\", port = 80 }"},
		"tunnel.port":    {"tunnel: {service: t, port: http}", "tunnel = { service = \"t\", port = \"http\" }"},
		"proof.pod":      {"PROOF", "proof = { log = \"f\", pod = \"p\" }"},
	}
	for _, key := range []string{"tunnel.service", "tunnel.port"} {
		all[key] = [2]string{
			all[key][0] + ", kubernetes: {apply: " + aManifest + "}",
			all[key][1] + "\nkubernetes = { apply = " + aManifest + " }",
		}
	}
	all["proof.pod"] = [2]string{
		"proof: {log: f, pod: p}, kubernetes: {apply: " + aManifest + "}",
		"proof = { log = \"f\", pod = \"p\" }\nkubernetes = { apply = " + aManifest + " }",
	}
	for key, s := range map[string][2]string{
		"apply 2":          {"apply: [" + aManifest + "]", "apply = [" + aManifest + "]"},
		"apply":            {"apply: " + aManifest + ", keep: false", "apply = " + aManifest + ", keep = false"},
		"context":          {"context: c", `context = "c"`},
		"keep":             {"keep: true", `keep = true`},
		"namespace":        {"namespace: n", `namespace = "n"`},
		"patch":            {"patch: {image: i}", `patch = { image = "i" }`},
		"patch 2":          {"patch: " + aManifest, "patch = " + aManifest},
		"patch 3":          {"patch: [" + aManifest + "]", "patch = [" + aManifest + "]"},
		"patch.args":       {"patch: {args: [a]}", `patch = { args = ["a"] }`},
		"patch.containers": {"patch: {image: j, containers: [c]}", `patch = { image = "j", containers = ["c"] }`},
		"patch.env":        {"patch: {env: {A: b}}", `patch = { env = { A = "b" } }`},
		"patch.image":      {"patch: {image: k}", `patch = { image = "k" }`},
		"wait":             {"wait: {Pod/a: Ready, within: 1m}", `wait = { "Pod/a" = "Ready", within = "1m" }`},
		"tunnel":           {"tunnel: {service: s, port: 1}", `tunnel = { service = "s", port = 1 }`},
		"tunnel.port":      {"tunnel: {service: s, port: 2}", `tunnel = { service = "s", port = 2 }`},
		"tunnel.service":   {"tunnel: {service: u, port: 1}", `tunnel = { service = "u", port = 1 }`},
	} {
		yaml, hcl := "apply: "+aManifest+", "+s[0], "apply = "+aManifest+", "+s[1]
		if strings.HasPrefix(s[0], "apply") {
			yaml, hcl = s[0], s[1]
		}
		all["kubernetes."+key] = [2]string{"kubernetes: {" + yaml + "}", "kubernetes = { " + hcl + " }"}
	}
	for key, s := range map[string][2]string{
		"chart":    {"chart: oci://registry/c", `chart = "oci://registry/c"`},
		"release":  {"chart: c, release: r", `chart = "c", release = "r"`},
		"version":  {"chart: c, version: '1'", `chart = "c", version = "1"`},
		"values":   {`chart: c, values: "a: b\nc: d\n"`, `chart = "c", values = "a: b\nc: d\n"`},
		"values 2": {`chart: c, values: ["a: b\nc: d\n"]`, `chart = "c", values = ["a: b\nc: d\n"]`},
	} {
		all["helm."+key] = [2]string{"helm: {" + s[0] + "}", "helm = { " + s[1] + " }"}
	}
	return all
}

func init() {
	maps.Copy(serviceKeys, clusterKeys())
	for _, key := range []string{"listens", "http", "log", "file", "etcd"} {
		serviceKeys["ready."+key] = [2]string{
			fmt.Sprintf("command: [x], ready: {%s: '1'}", key),
			fmt.Sprintf("command = [\"x\"]\nready = { %s = \"1\" }", key),
		}
	}
	add := func(path, yaml, hcl string) {
		samples[path] = sample{
			"",
			"scenario: s\nservices:\n  w: {" + yaml + "}\n  o: {command: [x]}\nruns:\n  a: {workload: command, services: [w, o], options: {roles: {r: {command: [x]}}}}\n",
			"scenario \"s\" {\nservice \"w\" {\n" + hcl + "\n}\nservice \"o\" { command = [\"x\"] }\n" +
				"run \"a\" {\nworkload = \"command\"\nservices = [\"w\", \"o\"]\noptions {\nroles = { r = { command = [\"x\"] } }\n}\n}\n}",
		}
	}
	samples["variants"] = sample{
		"", "scenario: s\nvariants: {baseline: a, a: {env: {A: 1}}}\nruns: {r: {workload: transfer, options: {block_size: 1}, sweep: {variant: [a]}}}",
		"scenario \"s\" {\nvariants {\nbaseline = \"a\"\na = { env = { A = 1 } }\n}\nrun \"r\" {\nworkload = \"transfer\"\noptions { block_size = 1 }\nsweep { variant = [\"a\"] }\n}\n}",
	}
	for key, s := range serviceKeys {
		add("services."+key, s[0], s[1])
	}
	add("services", "command: [z]", `command = ["z"]`)
	add("runs.services", "command: [q]", `command = ["q"]`)
}

// A run has the services that it lists, or all if its options name one.
func TestServicesOfARun(t *testing.T) {
	const services = "scenario: s\nservices:\n  a: {command: [x], url: \"http://${port.p}\"}\n  b: {command: [y, \"${service.a.url}\"]}\nruns:\n  r:\n    workload: command\n"
	for run, want := range map[string]string{
		"    options: {roles: {c: {command: [x]}}}\n":                                             "{}",
		"    options: {roles: {c: {command: [x, \"${service.a.url}\"]}}}\n":                       "a b",
		"    services: [a]\n    options: {roles: {c: {command: [x, \"${service.a.port.p}\"]}}}\n": "a",
		"    services: [b, a]\n    options: {roles: {c: {command: [x]}}}\n":                       "a b",
		"    services: []\n    options: {roles: {c: {command: [x]}}}\n":                           "{}",
	} {
		s, _, diags := Load("s.yaml", []byte(services+run), Options{Env: testEnv})
		if diags.HasErrors() {
			t.Errorf("%s: %v", run, diags)
			continue
		}
		got := "{}"
		for _, setting := range s.Runs[0].Settings() {
			if v, _ := setting.Value(nil); setting.Name == servicesName && v != "{}" {
				text := v.(string)
				got = strings.TrimPrefix(text[:4], `{"`)[:1]
				if strings.Contains(text, `"b":`) {
					got += " b"
				}
			}
		}
		if got != want {
			t.Errorf("%s: %s", run, got)
		}
	}
}

func TestWhatIsWrongWithServices(t *testing.T) {
	const head = "scenario: s\nservices:\n  a: {command: [x]}\n  b: {command: [x]%s}\nruns:\n  r:\n    workload: command\n    services: [%s]\n    options: {roles: {c: {command: [x]}}%s}\n"
	for _, c := range []struct{ key, services, options, want string }{
		{"", "c", "", `The file has no service "c".`},
		{", fresh: often", "b", "", `"often" is not one of session, run, variant, launch`},
		{", after: [z]", "b", "", `it needs service "z"`},
		{", after: [a]", "b", "", `it needs service "a", but the services here are b`},
		{`, url: "${service.b.port.p}${role.c.address}"`, "b", "", `There is no "role" here`},
		{", node: x", "b", "", "is not a whole number from 0 to 65536"},
		{", stop: {within: 11m}", "b", "", "is more than 10m"},
		{", ready: {contains: x, file: f}", "b", "", "it is a part of the answer of http"},
		{"", "a", ", services: {a: {command: [x]}}", "services is not an option"},
	} {
		_, _, diags := Load("s.yaml", fmt.Appendf(nil, head, c.key, c.services, c.options), Options{Env: testEnv})
		found := false
		for _, d := range diags {
			found = found || strings.Contains(d.Detail, c.want)
		}
		if !found {
			t.Errorf("%+v: %v", c, diags)
		}
	}
}

// Services are checked whether a run uses them or not, and all of their errors are reported.
func TestUnusedServicesAreChecked(t *testing.T) {
	const run = "runs: {r: {workload: transfer, options: {block_size: 1}}}\n"
	for services, want := range map[string]string{
		"a: {command: [x]}": "",

		"a: {command: [x, '${axis.n}']}, b: {command: [y, '${service.a.url}'], after: a}": "",
		"a: {command: x}, b: {}": "services.a.command: it is a text; services.b: it has no command",
		"a: {command: [x], ready: {within: 5, listen: y}, stop: {signal: A}}": "ready.within; ready.listen; stop",
		"a: {command: x}, b: {command: ['${var.n}']}":                         "services.a.command; no variable \"n\"",
		"a: {command: [x], after: b}, b: {command: [y], after: a}":            "wait for each other",
		"a: {command: [x], after: b}":                                         "needs service \"b\"",
	} {
		_, _, diags := Load("s.yaml", []byte("scenario: s\nservices: {"+services+"}\n"+run), Options{Env: testEnv})
		wanted := strings.Split(want, "; ")
		if want == "" {
			wanted = nil
		}
		if len(diags) != len(wanted) {
			t.Errorf("%s: %v", services, diags)
			continue
		}
		for _, text := range wanted {
			if !slices.ContainsFunc(diags, func(d *hcl.Diagnostic) bool { return strings.Contains(d.Detail, text) }) {
				t.Errorf("%s: no %q in %v", services, text, diags)
			}
		}
	}
}

// A run reports the errors of all of its roles.
func TestRolesReportAllErrors(t *testing.T) {
	const text = "scenario: s\nruns: {r: {workload: command, options: {roles: {a: {command: x, bog: 1}, b: {}}, " +
		"parse: {bog: 1}}}}\n"
	_, _, diags := Load("s.yaml", []byte(text), Options{Env: testEnv})
	if len(diags) != 4 {
		t.Errorf("%d: %v", len(diags), diags)
	}
}
