package screen

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

func aPlan() *planner.Plan {
	return &planner.Plan{
		Cases: []*planner.Case{
			{
				Key: "a[n=1]", Run: "a", Workload: "transfer", AxisOrder: []string{"n"},
				Axes: map[string]any{"n": int64(1)},
			},
			{
				Key: "a[n=2]", Run: "a", Workload: "transfer", AxisOrder: []string{"n"},
				Axes: map[string]any{"n": int64(2)},
			},
			{Key: "b", Run: "b", Workload: "transfer"},
		},
		Groups: []*planner.LaunchGroup{
			{ID: "a", Cases: []string{"a[n=1]", "a[n=2]"}, Looks: []int{3, 5}},
			{ID: "b", Cases: []string{"b"}, Looks: []int{2}},
		},
	}
}

func started(group string, launch, launches, cases int) event.Event {
	return event.Event{Type: event.LaunchStarted, Group: group, Launch: &launch, Launches: launches, Cases: cases}
}

func TestTallyCountsWhatIsDoneAndSureToCome(t *testing.T) {
	finished := func(group, key string) event.Event {
		return event.Event{Type: event.CaseFinished, Group: group, Case: key}
	}
	state := newProgressState(aPlan())
	for i, step := range []struct {
		event       event.Event
		done, total int
	}{
		{event.Event{Type: event.SessionStarted}, 0, 8},
		{event.Event{Type: event.CaseSkipped, Case: "b"}, 0, 6},
		{started("a", 0, 3, 2), 0, 6},
		{finished("a", "a[n=1]"), 1, 6},
		{finished("a", "a[n=2]"), 2, 6},
		{event.Event{Type: event.LaunchFinished, Group: "a"}, 2, 6},
		{started("a", 1, 3, 2), 2, 6},
		{finished("a", "a[n=1]"), 3, 6},
		{event.Event{Type: event.LaunchFinished, Group: "a", Failure: &results.Failure{}}, 4, 6},
		{started("a", 2, 3, 1), 4, 5}, // one case was given up
		{finished("a", "a[n=1]"), 5, 5},
		{event.Event{Type: event.LaunchFinished, Group: "a"}, 5, 5},
		{started("a", 3, 5, 1), 5, 7}, // the gate asked for more
	} {
		state.OnEvent(step.event)
		if state.done() != step.done || state.total() != step.total {
			t.Errorf("step %d (%s): %d of %d, want %d of %d", i, step.event.Type, state.done(), state.total(),
				step.done, step.total)
		}
	}
}

func TestTallyLine(t *testing.T) {
	state := newProgressState(aPlan())
	if got := state.line(); got != "starting" {
		t.Errorf("before anything runs: %q", got)
	}
	state.OnEvent(started("a", 1, 3, 2))
	state.OnEvent(event.Event{Type: event.CaseProgress, Group: "a", Case: "a[n=2]", Phase: "warmup"})
	if got, want := state.line(), "a n=2 · launch 2/3 · warmup"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	state.OnEvent(event.Event{Type: event.CaseProgress, Group: "a", Case: "a[n=2]", Phase: "run", Rate: 12.34e9})
	if got, want := state.line(), "a n=2 · launch 2/3 · 12.3 GB/s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Cases that are not run are reported, but for those at the end, of which the session's own
// reason is reported.
func TestWhatIsNotRunIsToldWithWhatComesAfter(t *testing.T) {
	var m warnings
	skipped := func(reason string) event.Event {
		return event.Event{Type: event.CaseSkipped, Case: "b", Status: "skipped", Reason: reason}
	}
	for i, step := range []struct {
		e    event.Event
		want string
	}{
		{skipped("not run: needs a, which failed"), ""},
		{skipped("not run: needs a, which failed"), ""},
		{event.Event{Type: event.NodeLost, Node: "n", Reason: "gone"},
			"skipped: b: not run: needs a, which failed\nwarning: node n is lost: gone"},
		{skipped("not run: needs c, which failed"), ""},
		{skipped("not run: needs d, which failed"), "skipped: b: not run: needs c, which failed"},
		{started("a", 0, 3, 2), "skipped: b: not run: needs d, which failed"},
		{skipped("not run: no agents"), ""},
		{event.Event{Type: event.SessionFinished, Status: "error"}, ""},
	} {
		if got := m.text(step.e); got != step.want {
			t.Errorf("%d: %q, want %q", i, got, step.want)
		}
	}
}

// A log has a line for a case when it ends, with its verdict, not for each launch; what is discarded is reported once.
func TestPlainLinesWarnOnce(t *testing.T) {
	var b strings.Builder
	plan := aPlan()
	plan.Cases[0].Assertions = []assertion.Assertion{{Name: "floor"}}
	p := newPlainLines(&b, plan)
	first := 0
	failure := &results.Failure{Rank: 1, Phase: "run", Cause: "killed by signal 9"}
	for _, e := range []event.Event{
		{Type: event.CaseSkipped, Case: "b", Status: "skipped", Reason: "when: false"},
		{Type: event.CaseSkipped, Case: "c", Status: "skipped", Reason: "when: false"},
		started("a", 0, 3, 2),
		{Type: event.CaseMeasured, Group: "a", Case: "a[n=1]", Discarded: "node n was busy"},
		{Type: event.CaseMeasured, Group: "a", Case: "a[n=1]", Discarded: "node n was busy"},
		{
			Type: event.CaseMeasured, Group: "a", Case: "a[n=1]",
			Metrics: results.ValuesOf(map[string]float64{"bandwidth": 12.5, "latency.p50": 5e-6}),
		},
		{Type: event.CaseMeasured, Group: "a", Case: "a[n=2]", Failure: failure},
		{Type: event.LaunchFinished, Group: "a", Launch: &first, Failure: failure},
		{Type: event.VerdictReached, Case: "a[n=1]", Assertion: "floor", Verdict: results.Pass},
		{Type: event.CaseEnded, Case: "a[n=1]", Status: results.OK},
		{Type: event.CaseEnded, Case: "a[n=2]", Status: results.Error, Verdict: results.ErrorVerdict},
	} {
		p.OnEvent(e)
	}
	want := `skipped: b: when: false
launches are discarded: node n was busy
launch 1 of a failed: rank 1, phase run: killed by signal 9
✓ pass  a[n=1]: bandwidth 12.50 GB/s, p50 5.00 µs
! error  a[n=2]
`
	if got := b.String(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

// Text from an agent cannot control the user's terminal and begins no line of its own.
func TestProgressShowsNothingThatSteersATerminal(t *testing.T) {
	const hostile = "n2\x1b[2J\x1b]0;t\x07\r\nweir: session passed\u009b2J"
	launch := 0
	for _, e := range []event.Event{
		{Type: event.ArtifactKept, Artifact: hostile, Node: hostile, Status: hostile, Reason: hostile},
		{Type: event.NodeLost, Node: hostile, Reason: hostile},
		{Type: event.CheckDone, Check: hostile, Node: hostile, Status: "failed", Reason: hostile},
		{Type: event.CommandDone, Command: hostile, Stage: "setup", Node: hostile, Status: hostile, Reason: hostile},
		{Type: event.ServiceStarted, Service: hostile, Node: hostile},
		{Type: event.ServiceEnded, Service: hostile, Node: hostile, Status: "failed",
			Failure: &results.Failure{Cause: hostile}},
		{Type: event.LaunchFinished, Group: "a", Launch: &launch,
			Failure: &results.Failure{Node: hostile, Cause: hostile}},
		{Type: event.RequireMissing, Reason: hostile},
	} {
		var out strings.Builder
		p := NewProgress(&out, aPlan(), Style{})
		p.OnEvent(e)
		p.Close()
		text := out.String()
		if strings.ContainsAny(text, "\x1b\x07\r\u009b") || strings.Contains(text, "\nweir: ") || text == "" {
			t.Errorf("%s: %q", e.Type, text)
		}
	}
}

// TestMishapsOfServicesAndOutputs are reported as they come, and the lines of one cause once.
func TestMishapsOfServicesAndOutputs(t *testing.T) {
	first := 0
	cause := "service s: it ended\nstdout ends with:\nout of memory"
	unread := &results.Failure{Rank: -1, Phase: results.Evaluating,
		Cause: "role a: no result found\nstderr ends with:\nno"}
	var out strings.Builder
	plan := &planner.Plan{Groups: []*planner.LaunchGroup{
		{ID: "g", Cases: []string{"g[x=1]", "g[x=2]"}, Looks: []int{1}},
	}}
	p := newPlainLines(&out, plan)
	for _, e := range []event.Event{
		{Type: event.ServiceStarted, Service: "s", Node: "n"},
		{Type: event.ServiceStarted, Service: "s", Node: "n"}, // it is fresh for each launch
		{Type: event.ServiceEnded, Service: "s", Node: "n", Status: "failed", Failure: &results.Failure{Cause: cause}},
		{Type: event.LaunchFinished, Group: "g", Launch: &first,
			Failure: &results.Failure{Rank: -1, Phase: "run", Cause: cause}},
		{Type: event.ServiceStarted, Service: "s", Node: "n"},
		{Type: event.ServiceStarted, Service: "s", Node: "n"},
		{Type: event.CaseMeasured, Group: "g", Case: "g[x=1]", Launch: &first, Failure: unread},
		{Type: event.CaseMeasured, Group: "g", Case: "g[x=2]", Launch: &first, Failure: unread},
		{Type: event.CaseMeasured, Group: "g", Case: "g[x=2]", Launch: &first,
			Failure: &results.Failure{Rank: -1, Phase: "run", Cause: "what the launch says"}},
	} {
		p.OnEvent(e)
	}
	want := `service s starts on n
service s on n failed: service s: it ended
  | stdout ends with:
  | out of memory
launch 1 of g failed: phase run: service s: it ended
service s, which failed, starts again on n
launch 1 of g[x=1] failed: role a: no result found
  | stderr ends with:
  | no
`
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
}

// A case that waits for its endpoint says so after ten seconds, and then once a minute.
func TestWaitingForAnEndpointIsTold(t *testing.T) {
	var m warnings
	var lines []string
	begin := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	for second := range 150 {
		e := event.Event{Type: event.CaseProgress, Case: "chat", Phase: "ready",
			Time: begin.Add(time.Duration(second) * time.Second)}
		if second == 80 { // the endpoint answers
			e.Phase = "run"
		}
		if text := m.text(e); text != "" {
			lines = append(lines, text)
		}
	}
	want := []string{
		"chat: its endpoint is not ready after 10s", "chat: its endpoint is not ready after 1m10s",
		"chat: its endpoint is not ready after 10s",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}
