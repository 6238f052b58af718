package screen

import (
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/test/terminal"
)

// screen is a terminal that knows what live draws with, and no other control code.
type screen struct {
	t    *testing.T
	rows []string
	// at and column are the cursor's line and byte in it.
	at, column int
}

var control = regexp.MustCompile(`^\x1b\[(\d*)([AK])|^\r|^\n|^[^\x1b\r\n]+`)

func (s *screen) Write(b []byte) (int, error) {
	for text := string(b); text != ""; {
		m := control.FindStringSubmatch(text)
		if m == nil {
			s.t.Fatalf("a terminal gets %q", text)
		}
		text = text[len(m[0]):]
		for len(s.rows) <= s.at {
			s.rows = append(s.rows, "")
		}
		switch {
		case m[2] == "A":
			n, _ := strconv.Atoi(m[1])
			s.at -= n
		case m[2] == "K":
			s.rows[s.at] = s.rows[s.at][:s.column]
		case m[0] == "\n":
			s.at, s.column = s.at+1, 0
		case m[0] != "\r":
			s.rows[s.at], s.column = m[0], len(m[0])
		}
	}
	return len(b), nil
}

func (s *screen) text() string { return strings.TrimRight(strings.Join(s.rows, "\n"), "\n") }

// What is drawn stands in the place of what was drawn before, warnings stay above it, and at
// the end they alone are left.
func TestLiveIsDrawnOver(t *testing.T) {
	s := &screen{t: t}
	l := &live{state: newProgressState(aPlan()), out: s, stop: make(chan struct{}), stopped: make(chan struct{})}
	go l.redraw()
	l.mu.Lock()
	l.draw([]string{"one", "two", "three"})
	l.draw([]string{"four", "five"})
	if got := s.text(); got != "four\nfive" {
		t.Errorf("the screen has %q", got)
	}
	l.mu.Unlock()
	l.OnEvent(event.Event{Type: event.RequireMissing, Reason: "no GPU"})
	l.Close()
	if got := s.text(); got != "missing: no GPU" {
		t.Errorf("at the end the screen has %q", got)
	}
}

// A case gets a line above the frame when nothing more is launched for it, whatever its verdict.
func TestLiveListsEndedCases(t *testing.T) {
	plan := aPlan()
	plan.Cases[0].Assertions = []assertion.Assertion{{Name: "floor"}, {Name: "tail"}}
	s := &screen{t: t}
	l := &live{state: newProgressState(plan), out: s}
	reached := func(name string, v results.Verdict) {
		l.OnEvent(event.Event{Type: event.VerdictReached, Case: "a[n=1]", Assertion: name, Verdict: v})
		l.draw([]string{"the frame"})
	}
	l.OnEvent(event.Event{
		Type: event.CaseMeasured, Group: "a", Case: "a[n=1]",
		Metrics: results.ValuesOf(map[string]float64{"bandwidth": 12}),
	})
	l.OnEvent(event.Event{
		Type: event.CaseMeasured, Group: "a", Case: "a[n=2]", Discarded: "the host was busy",
		Metrics: results.ValuesOf(map[string]float64{"bandwidth": 12}),
	})
	reached("floor", results.Pass)
	reached("tail", results.InconclusiveVerdict)
	if got := s.text(); got != "the frame" {
		t.Errorf("before a case ends the screen has %q", got)
	}
	l.OnEvent(event.Event{Type: event.CaseEnded, Case: "a[n=1]", Status: results.OK})
	l.OnEvent(event.Event{Type: event.CaseEnded, Case: "a[n=2]", Status: results.OK, Verdict: "inconclusive"})
	l.OnEvent(event.Event{Type: event.CaseEnded, Case: "b", Status: results.Error, Verdict: results.ErrorVerdict})
	l.draw([]string{"the frame"})
	want := "? inconclusive  a n=1: bandwidth 12.00 GB/s\n? inconclusive  a n=2: 1 of 1 launches discarded\n" +
		"! error  b\nthe frame"
	if got := s.text(); got != want {
		t.Errorf("the screen has %q, want %q", got, want)
	}
}

func TestLiveFrame(t *testing.T) {
	low := 10.
	plan := aPlan()
	plan.Cases[0].Assertions = []assertion.Assertion{{Name: "no number"}, {
		Name: "floor", Text: "bandwidth >= 10 GB/s", Lowered: "bandwidth in [10, ∞) GB/s",
		Unit: "GB/s", Bounds: assertion.Bounds{Lower: &low},
		Subject: &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s"},
	}}
	plan.Cases[1].Assertions = []assertion.Assertion{{ // of which nothing can be said before the verdict
		Lowered: "bandwidth / baseline.bandwidth in [0.9, ∞)", Subject: &assertion.Expr{Op: assertion.Metric,
			Metric: "bandwidth", Unit: "GB/s", Baseline: true}, Unit: "GB/s",
	}}
	l := &live{state: newProgressState(plan), out: io.Discard}
	frame := func(want ...string) {
		t.Helper()
		if got := l.frame(4 * time.Second); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	frame("starting", "░░░░░░░░░░░░░░░░ 0/5 launches, 4s · 0 of 3 cases done")
	l.OnEvent(started("a", 0, 3, 2))
	l.OnEvent(event.Event{Type: event.CaseProgress, Group: "a", Case: "a[n=1]", Phase: "run", Rate: 12e9})
	frame("a n=1 · launch 1/3 · 12.0 GB/s", "  nothing measured yet; asserted bandwidth >= 10 GB/s",
		"░░░░░░░░░░░░░░░░ 0/5 launches, 4s · 0 of 3 cases done")
	for i, v := range []float64{12, 12.5} {
		l.OnEvent(started("a", i, 3, 2))
		for _, key := range []string{"a[n=1]", "a[n=2]"} {
			l.OnEvent(event.Event{Type: event.CaseFinished, Group: "a", Case: key})
			l.OnEvent(event.Event{
				Type: event.CaseMeasured, Group: "a", Case: key,
				Metrics: results.ValuesOf(map[string]float64{"bandwidth": v}),
			})
		}
		l.OnEvent(event.Event{Type: event.LaunchFinished, Group: "a"})
	}
	// counts for nothing
	l.OnEvent(event.Event{
		Type: event.CaseMeasured, Group: "a", Case: "a[n=1]", Failure: &results.Failure{},
		Metrics: results.ValuesOf(map[string]float64{"bandwidth": 1}),
	})
	l.OnEvent(event.Event{
		Type: event.CaseMeasured, Group: "load", Case: "beside", Background: true,
		Metrics: results.ValuesOf(map[string]float64{"bandwidth": 1}),
	})
	l.OnEvent(event.Event{
		Type: event.VerdictReached, Case: "a[n=1]", Assertion: "floor", Verdict: results.InconclusiveVerdict,
	})
	l.OnEvent(event.Event{Type: event.VerdictReached, Case: "a[n=1]", Assertion: "floor", Verdict: results.Pass})
	l.OnEvent(event.Event{Type: event.CaseEnded, Case: "a[n=1]", Status: results.OK})
	l.OnEvent(event.Event{Type: event.CaseProgress, Group: "a", Case: "a[n=1]", Phase: "warmup"})
	frame("a n=1 · launch 2/3 · warmup", "  12.2 GB/s (96% CI 8.9–17, n=2); asserted bandwidth >= 10 GB/s",
		"████████░░░░░░░░ 2/5 launches, 4s, ~4s to the next look · 1 of 3 cases done, 1 pass")
	l.OnEvent(event.Event{Type: event.CaseProgress, Group: "a", Case: "a[n=2]", Phase: "run"})
	frame("a n=2 · launch 2/3", "  bandwidth 12.50 GB/s in the last launch",
		"████████░░░░░░░░ 2/5 launches, 4s, ~4s to the next look · 1 of 3 cases done, 1 pass")
	l.OnEvent(event.Event{Type: event.CaseMeasured, Group: "a", Case: "a[n=2]", Discarded: "node n was busy"})
	l.OnEvent(event.Event{Type: event.CaseSkipped, Case: "b", Status: results.Skipped, Reason: "not run: needs a"})
	l.OnEvent(event.Event{Type: event.CaseProgress, Group: "a", Case: "b"})
	frame("b · launch 2/3", "██████████░░░░░░ 2/3 launches, 4s, ~2s to the next look · 1 of 2 cases done, 1 pass",
		"  discarded: 1 of 6 launches of cases, the last because node n was busy")
}

// Launches that were taken over took none of this session's time.
func TestTimeLeftOfAResumedSession(t *testing.T) {
	state := newProgressState(aPlan())
	index := 0
	state.OnEvent(event.Event{Type: event.LaunchResumed, Group: "a", Launch: &index, Cases: 2})
	if left := state.left(time.Minute); left != "" {
		t.Errorf("%s, from nothing that this session did", left)
	}
	state.OnEvent(started("a", 1, 3, 2))
	state.OnEvent(event.Event{Type: event.CaseFinished, Group: "a", Case: "a[n=1]"})
	if left := state.left(time.Minute); left != "~5m0s left" {
		t.Errorf("%q; 5 of 8 are to come and one took a minute", left)
	}
}

// On a real terminal no line is as long as it is wide, whatever it says.
func TestLiveFitsTheTerminal(t *testing.T) {
	master, slave := terminal.Open(t, 40, 24)
	if !isTerminal(slave) || Width(slave) != 40 {
		t.Fatalf("a terminal of 40 columns is %v, %d wide", isTerminal(slave), Width(slave))
	}
	plan := aPlan()
	plan.Cases[0].Run = strings.Repeat("long-", 20)
	l := NewProgress(slave, plan, Style{}).(*live)
	l.OnEvent(started("a", 0, 3, 2))
	l.OnEvent(event.Event{Type: event.CaseProgress, Group: "a", Case: "a[n=1]", Phase: "run"})
	l.mu.Lock()
	l.draw(l.frame(time.Second))
	l.mu.Unlock()
	l.Close()
	slave.Close()
	var drawn []byte
	for b := make([]byte, 4096); !strings.Contains(string(drawn), "long-"); {
		n, err := master.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		drawn = append(drawn, b[:n]...)
	}
	lines := regexp.MustCompile(`\x1b\[[0-9]*[AK]|\r`).ReplaceAllString(string(drawn), "")
	if !strings.Contains(lines, "long-long-") || !strings.Contains(lines, "…") {
		t.Errorf("it says %q", lines)
	}
	for _, line := range strings.Split(lines, "\n") {
		if utf8.RuneCountInString(line) >= 40 {
			t.Errorf("%q wraps", line)
		}
	}
}
