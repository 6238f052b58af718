package screen

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/test/golden"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/test/terminal"
	_ "github.com/weir-bench/weir/workload/kinds"
)

// staged is a session of a number of cases, of which one in forty fails.
type staged struct {
	plan *planner.Plan
	doc  *results.Document
}

const stagedLaunches = 3

func newStaged(cases int) *staged {
	started := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	s := &staged{
		plan: &planner.Plan{Scenario: planner.Scenario{Name: "staged"}},
		doc: &results.Document{
			Schema: results.Schema, Scenario: results.Scenario{Name: "staged"},
			Session: results.Session{
				ID: "s", Started: started, Finished: started.Add(time.Minute),
				Again: []string{"weir", "run", "staged.yaml"},
			},
			Quantiles: &results.Quantiles{Definition: results.NearestRankRule},
		},
	}
	least := 10.
	fabrics := []string{"shm", "tcp", "ucx", "libfabric"}
	for i := range cases {
		fabric, size := fabrics[i%4], quantity.Size(4096<<(i/4%8)).String()
		axes, order := map[string]any{"fabric": fabric, "block_size": size, "batch": int64(1 + i/32)},
			[]string{"fabric", "block_size", "batch"}
		key := fmt.Sprintf("bandwidth[batch=%d,block_size=%s,fabric=%s]", 1+i/32, size, fabric)
		floor := assertion.Assertion{
			Name: "floor", Text: "bandwidth >= 10 GB/s", Lowered: "bandwidth in [10, ∞) GB/s", File: "staged.yaml",
			Line: 9, Severity: assertion.Gate, Unit: "GB/s", Bounds: assertion.Bounds{Lower: &least},
			Subject: &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s"},
		}
		s.plan.Cases = append(s.plan.Cases, &planner.Case{
			Key: key, Run: "bandwidth", Workload: "transfer", Axes: axes, AxisOrder: order,
			Assertions: []assertion.Assertion{floor},
		})
		s.plan.Groups = append(s.plan.Groups,
			&planner.LaunchGroup{ID: key, Cases: []string{key}, Looks: []int{stagedLaunches}})
		c := &results.Case{
			Key: key, ID: "sha256:" + key, Run: "bandwidth", Workload: "transfer", Status: results.OK, Axes: axes,
			AxisOrder: order, Assertions: []*results.AssertionVerdict{{Assertion: floor, Looks: []int{stagedLaunches}}},
		}
		for n := range stagedLaunches {
			c.Launches = append(c.Launches, &results.Launch{
				Index: n, Status: results.OK, Verified: true, Nodes: []string{"n1", "n1"}, Fabric: fabric,
				Started: started, Metrics: results.ValuesOf(stagedMetrics(i, n)),
			})
		}
		s.doc.Cases = append(s.doc.Cases, c)
	}
	gate.Judge(s.doc)
	return s
}

// stagedMetrics are those of a case in a launch.
func stagedMetrics(i, launch int) map[string]float64 {
	bandwidth := 12 + 0.25*float64(i%8) + 0.05*float64(launch)
	if i%40 == 0 {
		bandwidth /= 3
	}
	return map[string]float64{
		"bandwidth": bandwidth, "latency.avg": 1e-4 / bandwidth, "latency.p50": 0.9e-4 / bandwidth,
		"latency.p99": 3e-4 / bandwidth, "ceiling": bandwidth / 25,
	}
}

// play passes the events of the session to the display, with a frame for every hundredth launch and the last one, and
// calls between in the middle.
func (s *staged) play(l *live, between func()) {
	middle := stagedLaunches * len(s.plan.Cases) / 2
	count := 0
	for i, c := range s.plan.Cases {
		of := event.Event{Group: c.Key, Case: c.Key}
		emit := func(kind event.Type, set func(*event.Event)) {
			e := of
			e.Type = kind
			if set != nil {
				set(&e)
			}
			l.OnEvent(e)
		}
		for n := range stagedLaunches {
			l.OnEvent(started(c.Key, n, stagedLaunches, 1))
			emit(event.CaseProgress, func(e *event.Event) { e.Phase, e.Rate = "run", 12e9 })
			if count%100 == 0 || count == middle || len(s.plan.Cases) <= 20 {
				l.mu.Lock()
				l.draw(l.frame(time.Duration(count) * 200 * time.Millisecond))
				l.mu.Unlock()
			}
			if count == middle {
				between()
			}
			emit(event.CaseFinished, nil)
			emit(event.CaseMeasured, func(e *event.Event) { e.Metrics = results.ValuesOf(stagedMetrics(i, n)) })
			emit(event.LaunchFinished, func(e *event.Event) { e.Launch, e.Case = &n, "" })
			count++
		}
		verdict := s.doc.Cases[i].Assertions[0]
		emit(event.VerdictReached, func(e *event.Event) { e.Assertion, e.Verdict = verdict.Name, verdict.Verdict })
		emit(event.CaseEnded, func(e *event.Event) { e.Status = results.OK })
	}
}

var standingLine = regexp.MustCompile(`^ +\d+ of \d+ cases done`)

// isFrame reports whether a line is of the redrawn lines.
func isFrame(line string) bool {
	return strings.ContainsAny(line, "█░") || strings.Contains(line, " · launch ") || line == "starting" ||
		strings.Contains(line, "; asserted ") || standingLine.MatchString(line)
}

func frames(lines []string) (found []string) {
	for _, line := range lines {
		if isFrame(line) {
			found = append(found, line)
		}
	}
	return found
}

// Terminals of any size show something from the beginning, one frame while a session runs, and at the end the table
// without a rest of a frame. No line wraps.
func TestScreensOfSessions(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	for _, cases := range []int{1, 20, 2000, 10_000} {
		session := sync.OnceValue(func() *staged { return newStaged(cases) })
		for _, size := range [][2]uint16{{80, 24}, {100, 30}, {200, 50}} {
			for _, color := range []bool{false, true} {
				name := fmt.Sprintf("%dx%d-%d", size[0], size[1], cases)
				if color {
					name += "-color"
				}
				t.Run(name, func(t *testing.T) {
					t.Setenv("NO_COLOR", map[bool]string{false: "1"}[color])
					if cases > 2000 {
						phase.Long(t)
					}
					file := filepath.Join("testdata", "screens", name+".txt")
					session().shown(t, terminal.New(t, size[0], size[1]), file, color)
				})
			}
		}
	}
}

// shown plays a session on a terminal and compares its screens with a file.
func (s *staged) shown(t *testing.T, on *terminal.Terminal, file string, color bool) {
	t.Helper()
	var page strings.Builder
	screen := func(title string) {
		fmt.Fprintf(&page, "== %s\n", title)
		if color {
			page.WriteString(on.Colored() + "\n")
		} else {
			page.WriteString(strings.Join(on.Rows(), "\n") + "\n")
		}
	}
	out, messages := Printable(on.Out, false), Printable(on.Out, true) // as weir has them
	l := NewProgress(messages, s.plan, Style{}).(*live)
	close(l.stop) // the test draws, not the clock
	<-l.stopped
	l.stop = make(chan struct{})
	on.Settle()
	if len(on.Rows()) == 0 {
		t.Error("the screen is blank before the first event")
	}
	screen("at the beginning")
	s.play(l, func() {
		on.Settle()
		if got := frames(on.All()); len(got) < 2 || len(got) > 4 {
			t.Errorf("in the middle %d lines are of a frame: %q", len(got), got)
		}
		screen("in the middle")
	})
	l.Close()
	on.Settle()
	if got := frames(on.All()); len(got) > 0 {
		t.Errorf("after the session %d lines of a frame are left: %q", len(got), got[:min(len(got), 5)])
	}
	err := reporters.Table(out, s.doc, reporters.Look{Color: (&Style{}).Color(out), Width: Width(out)})
	if err != nil {
		t.Fatal(err)
	}
	on.Close()
	if got := frames(on.All()); len(got) > 0 {
		t.Errorf("at the end %d lines of a frame are left: %q", len(got), got[:min(len(got), 5)])
	}
	if got := on.Wrapped(); len(got) > 0 {
		t.Errorf("%d lines wrap, such as %q", len(got), got[0])
	}
	screen("at the end")
	golden.Equal(t, file, []byte(page.String()))
}
