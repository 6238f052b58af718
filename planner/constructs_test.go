package planner

import (
	"slices"
	"strings"
	"testing"
)

const twoLevels = `
scenario: s
runs:
  up:
    workload: transfer
    options: {block_size: 1KiB}
    sweep: {fabric: [shm, tcp]}
  down:
    workload: transfer
    options: {block_size: 1KiB}
    sweep: {fabric: [shm, tcp]}
    needs: %
`

func TestNeedsSayOnWhatOutcome(t *testing.T) {
	for needs, on := range map[string]map[string]string{
		"up":                      nil,
		"[up]":                    nil,
		"{run: up, on: success}":  nil,
		"{run: up, on: failed}":   {"up[fabric=shm]": "failed"},
		"[{run: up, on: always}]": {"up[fabric=shm]": "always"},
	} {
		p := build(t, strings.Replace(twoLevels, "%", needs, 1))
		c := p.Case("down[fabric=shm]")
		equal(t, needs, c.Needs, []string{"up[fabric=shm]"})
		equal(t, needs, c.NeedsOn, on)
		equal(t, needs, p.Groups[2].Needs, []string{"up[fabric=shm]"})
	}
}

// An assertion that names another run does not order launches: compared runs alternate.
func TestAssertionsOrderNoLaunches(t *testing.T) {
	p := build(t, strings.Replace(twoLevels, "needs: %", `assert: [bandwidth >= 0.9 * run("up").bandwidth]`, 1))
	c := p.Case("down[fabric=tcp]")
	equal(t, "needs", c.Needs, []string{})
	equal(t, "lowered", c.Assertions[0].Lowered, "bandwidth / bandwidth@up[fabric=tcp] in [0.9, ∞)")
	equal(t, "compared", p.Compared(), [][]string{{"up", "down"}})
	shows(t, p, "up and down are compared: their launches alternate (A B B A)")
	if err := p.Select(parse(t, "down[fabric=tcp]"), nil); err != nil {
		t.Fatal(err)
	}
	equal(t, "selected with it", p.Case("up[fabric=tcp]").Status, Planned)
	equal(t, "the rest", p.Case("up[fabric=shm]").Status, Skipped)
}

// The cases of an assertion over all cases of a run are selected only with the whole run.
func TestSelectionsKeepWhatIsCompared(t *testing.T) {
	text := strings.Replace(twoLevels, "needs: %", `assert: [geomean(bandwidth / run("up").bandwidth) >= 0.9]`, 1)
	for only, want := range map[string]string{"down": Planned, "down[fabric=tcp]": Skipped} {
		p := build(t, text)
		if err := p.Select(parse(t, only), nil); err != nil {
			t.Fatal(err)
		}
		equal(t, only, p.Case("up[fabric=tcp]").Status, want)
	}
}

func TestComparedRuns(t *testing.T) {
	const with = `assert: ['bandwidth >= run("%s").bandwidth']`
	for name, test := range map[string]struct {
		a, b, c string
		want    [][]string
	}{
		"none": {"", "", "", [][]string{}},
		"two":  {"", strings.Replace(with, "%s", "a", 1), "", [][]string{{"a", "b"}}},
		"each other": {strings.Replace(with, "%s", "b", 1), strings.Replace(with, "%s", "a", 1), "",
			[][]string{{"a", "b"}}},
		"by way of others": {"", strings.Replace(with, "%s", "a", 1), strings.Replace(with, "%s", "b", 1),
			[][]string{{"a", "b", "c"}}},

		"of all cases": {"", "", `assert: ['geomean(bandwidth / run("a").bandwidth) >= 1']`, [][]string{{"a", "c"}}},
	} {
		text := "scenario: s\nruns:\n"
		for run, assert := range map[string]string{"a": test.a, "b": test.b, "c": test.c} {
			text += "  " + run + ": {workload: transfer, options: {block_size: 1}, " + assert + "}\n"
		}
		p := build(t, text)
		got := p.Compared()
		for _, runs := range got {
			slices.Sort(runs) // the order of a map
		}
		equal(t, name, got, test.want)
	}
}

// A run that needs another comes after it, even if they are compared.
func TestNeedsOrderComparedRuns(t *testing.T) {
	p := build(t, `
scenario: s
runs:
  a: {workload: transfer, options: {block_size: 1}, assert: ['bandwidth >= run("b").bandwidth']}
  b: {workload: transfer, options: {block_size: 1}, needs: [a]}
`)
	equal(t, "needs", p.Case("b").Needs, []string{"a"})
	shows(t, p, "a and b are compared but do not alternate: b needs a")
}

// shows fails unless the plan's text has a line.
func shows(t *testing.T, p *Plan, line string) {
	t.Helper()
	if text := textOf(t, p); !strings.Contains(text, line) {
		t.Errorf("no %q in\n%s", line, text)
	}
}

func TestSkippedUpstreamSkipsUnlessAlways(t *testing.T) {
	const text = `
scenario: s
runs:
  up: {workload: transfer, options: {block_size: 1KiB}, when: block_size > 1KiB}
  down: {workload: transfer, options: {block_size: 1KiB}, needs: %}
`
	for needs, want := range map[string]string{
		"up": Skipped, "{run: up, on: failed}": Skipped, "{run: up, on: always}": Planned,
	} {
		p := build(t, strings.Replace(text, "%", needs, 1))
		equal(t, needs, p.Case("down").Status, want)
	}
}

const loaded = `
scenario: s
runs:
  front:
    workload: transfer
    options: {fabric: shm}
    sweep: {block_size: [1KiB, 1MiB], ranks: [2, 4]}
  noise:
    workload: transfer
    options: {fabric: tcp, block_size: 1MiB}
    sweep: {ranks: [2, 4]}
    while: front
`

func TestBackgroundLoadFollowsItsRun(t *testing.T) {
	p := build(t, loaded)
	during := map[string][]string{}
	for _, g := range p.Groups {
		during[g.ID] = g.During
	}
	equal(t, "during", during, map[string][]string{
		"front[ranks=2]": nil, "front[ranks=4]": nil, "noise[ranks=2]": {"front[ranks=2]"},
		"noise[ranks=4]": {"front[ranks=4]"},
	})
	// A measurement under load differs from one without.
	alone := build(t, strings.Replace(loaded, "    while: front\n", "", 1))
	busier := build(t, strings.Replace(loaded, "tcp, block_size: 1MiB", "tcp, block_size: 4MiB", 1))
	key := "front[block_size=1KiB,ranks=2]"
	// A selection changes which cases run, but not their ids.
	chosen := build(t, loaded)
	if err := chosen.Select(parse(t, key), nil); err != nil {
		t.Fatal(err)
	}
	equal(t, "id of the only case chosen", chosen.Case(key).ID, p.Case(key).ID)
	equal(t, "skipped load", chosen.Case("noise[ranks=4]").Status, Skipped)
	unloaded := build(t, strings.Replace(loaded, "    while: front", "    when: ranks > 9\n    while: front", 1))
	equal(t, "id beside a load that its when skips", unloaded.Case(key).ID, alone.Case(key).ID)
	if id := p.Case(key).ID; id == alone.Case(key).ID || id == busier.Case(key).ID {
		t.Error("the load is not part of the case's id")
	}
}

// An axis that processes use through an expression divides launches like one that names an option.
func TestBackgroundLoadFollowsAnAxisThatSettingsUse(t *testing.T) {
	const text = `
scenario: s
runs:
  front:
    workload: transfer
    options: {fabric: shm, block_size: 1KiB}
    env: {MODE: "${axis.tune}"}
    sweep: {tune: [fast, slow]}
  noise:
    workload: transfer
    options: {fabric: tcp, block_size: 1MiB}
    env: {MODE: "${axis.tune}"}
    sweep: {tune: [fast, slow]}
    while: front
`
	p := build(t, text)
	for _, g := range p.Groups[2:] {
		equal(t, g.ID, g.During, []string{strings.Replace(g.ID, "noise", "front", 1)})
	}
	// A run with both values in one launch cannot follow either.
	for _, run := range []string{"front", "noise"} {
		before, after, _ := strings.Cut(text, "  "+run+":")
		mixed := before + "  " + run + ":" + strings.Replace(after, `    env: {MODE: "${axis.tune}"}`,
			`    env: {MODE: '${axis.tune == "" ? 1 : 2}'}`, 1)
		mentions(t, refuse(t, mixed), 14, "axis tune", "run \""+run+"\"")
	}
}

func TestLoadsThatCannotFollow(t *testing.T) {
	for name, c := range map[string]struct {
		old, new string
		words    []string
	}{
		"axis within launches": {"tcp, block_size: 1MiB}\n    sweep: {ranks: [2, 4]}",
			"tcp}\n    sweep: {block_size: [1KiB, 1MiB]}", []string{"axis block_size", "in one launch"}},
		"several groups": {"sweep: {ranks: [2, 4]}\n    while",
			"sweep: {fabric: [tcp, shm], ranks: [2, 4]}\n    while", []string{
				"noise[fabric=shm,ranks=2]", "several launch groups",
			}},
		"simulated front": {"fabric: shm", "fabric: sim", []string{"simulated"}},
		"simulated load":  {"fabric: tcp", "fabric: sim", []string{"simulated"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(loaded, c.old, c.new, 1)
			if name == "several groups" {
				text = strings.Replace(text, "fabric: tcp, ", "", 1)
			}
			mentions(t, refuse(t, text), strings.Count(text[:strings.Index(text, "while:")], "\n")+1, c.words...)
		})
	}
}

func TestWhatIsContent(t *testing.T) {
	const text = "scenario: s\nruns:\n  a:\n    workload: transfer\n    options: {block_size: 1, ranks: 4}\n%"
	plain := build(t, strings.Replace(text, "%", "", 1))
	for _, c := range []struct {
		yaml         string
		id, digested bool
	}{
		{"    setup: [[sync]]\n", true, true},
		{"    setup: [{command: [sync], scope: launch}]\n", true, true},
		{"setup: [[sync]]\n", true, true},
		{"teardown: [[sync]]\n", false, true},
		{"    teardown: [[sync]]\n", false, true},
		{"    retry: 2\n", false, true},
		{"    timeout: {connect: 3s}\n", false, true},
		{"    env: {TOKEN: '${secret(\"T\")}'}\n", true, true},
		{"    place: {nodes: 2}\n", true, true},
		{"    place: {labels: {a: b}}\n", true, true},
		{"    place: {gpus_per_rank: 1}\n", true, true},
		{"    place: {nics_per_rank: 1}\n", true, true},
		{"    place: {cpus_per_rank: 1}\n", true, true},
		{"cluster: {labels: {a: b}}\n", true, true},
		{"cluster: {exclusive: true}\n", false, true},
		{"artifacts: {a: {command: [x]}}\n", false, true},
		{"checks: {c: {command: [x], severity: skip, remedy: r}}\n", false, true},
	} {
		p := build(t, strings.Replace(text, "%", c.yaml, 1))
		if got := p.Cases[0].ID != plain.Cases[0].ID; got != c.id {
			t.Errorf("%schanges the id: %v", c.yaml, got)
		}
		if got := p.Digest != plain.Digest; got != c.digested {
			t.Errorf("%schanges the digest: %v", c.yaml, got)
		}
		var diff strings.Builder
		if changes, same := Diff(plain, p); WriteDiff(&diff, changes, same) != nil ||
			!strings.Contains(diff.String(), "→") && !strings.Contains(diff.String(), "now: ") &&
				!strings.Contains(diff.String(), "is new") && !strings.Contains(diff.String(), "setup commands") {
			t.Errorf("%sis not in the difference: %s", c.yaml, &diff)
		}
	}
	session := func(yaml string) string {
		return build(t, strings.Replace(text, "%", yaml, 1)).Cases[0].ID
	}
	equal(t, "nor is that of a session's command", session("setup: [{name: flush, command: [sync], timeout: 5s}]\n"),
		session("setup: [[sync]]\n"))
	if session("setup: [[sync]]\n") == session("    setup: [[sync]]\n") {
		t.Error("setup of the session is setup of the run")
	}
	named := build(t, strings.Replace(text, "%", "    setup: [{name: flush, command: [sync], timeout: 5s}]\n", 1))
	short := build(t, strings.Replace(text, "%", "    setup: [[sync]]\n", 1))
	equal(t, "a command's name is no content of the case", named.Cases[0].ID, short.Cases[0].ID)
}

func TestSelectionKeepsLoadWithItsRun(t *testing.T) {
	status := func(only, skip string) map[string]string {
		p := build(t, loaded)
		if err := p.Select(parse(t, only), parse(t, skip)); err != nil {
			t.Fatal(err)
		}
		if err := p.Verify(); err != nil {
			t.Error(err)
		}
		return statuses(p)
	}
	got := status("front[block_size=1KiB,ranks=2]", "")
	for key, want := range map[string]string{
		"front[block_size=1KiB,ranks=2]": Planned, "noise[ranks=2]": Planned, "noise[ranks=4]": Skipped,
		"front[block_size=1MiB,ranks=2]": Skipped,
	} {
		equal(t, "only: "+key, got[key], want)
	}
	got = status("", "noise[ranks=4]")
	for key, want := range map[string]string{
		"front[block_size=1KiB,ranks=4]": Skipped, "front[block_size=1KiB,ranks=2]": Planned, "noise[ranks=2]": Planned,
	} {
		equal(t, "skip: "+key, got[key], want)
	}
}

func TestNothingSelectedSaysWhy(t *testing.T) {
	p := build(t, "scenario: s\nruns:\n  a: {workload: transfer, sweep: {block_size: [1, 2], exclude: [{when: 'true', reason: not today}]}}\n")
	if err := p.Select(nil, nil); err == nil || !strings.Contains(err.Error(), "2 cases excluded: not today") {
		t.Errorf("got %v", err)
	}
}
