package screen

import (
	"fmt"
	"time"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/reporters"
)

// Follower derives the state of a session from its plan and events, for a page.
type Follower struct {
	state    *progressState
	plan     *planner.Plan
	began    time.Time
	last     time.Time
	finished bool
}

func NewFollower(p *planner.Plan) *Follower { return &Follower{state: newProgressState(p), plan: p} }

func (f *Follower) OnEvent(e event.Event) {
	if f.began.IsZero() {
		f.began = e.Time
	}
	f.last = e.Time
	f.finished = f.finished || e.Type == event.SessionFinished
	f.state.OnEvent(e)
}

// Running is the state after the events so far.
func (f *Follower) Running() reporters.Running {
	t := f.state
	made, all := t.launchesMade()
	elapsed := f.last.Sub(f.began)
	progress := fmt.Sprintf("%d of %d launches, %s", made, all, elapsed.Round(time.Second))
	if left := t.left(elapsed); left != "" && !f.finished {
		progress += ", " + left
	}
	out := reporters.Running{
		Scenario: f.plan.Scenario.Name, Step: []string{t.line(), progress, t.standing()},
	}
	for _, c := range f.plan.Cases {
		row := reporters.RunningCase{Name: t.points[c.Key]}
		if m := t.measured[c.Key]; m != nil {
			row.Launches = len(m.Launches)
			row.Last = t.brief(c.Key, m.Launches[len(m.Launches)-1].Metrics)
		}
		row.Verdict = t.verdict(c.Key)
		out.Cases = append(out.Cases, row)
	}
	return out
}
