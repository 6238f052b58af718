package planner

import (
	"fmt"
	"slices"
)

// byWhen begins the reason of a case that its own run's `when` skips.
const byWhen = "when: "

// condition settles what `when` can be settled of now. What depends on the hosts
// stays with the cases, for whoever knows them.
func condition(t *Table) {
	if t.diags.HasErrors() {
		return
	}
	for _, s := range t.sheets {
		s.skipped = facet[string]{&classes{first: []int32{0}}, []string{""}}
		w := s.run.When
		switch {
		case w == nil:
		case w.UsesHost():
			s.when = w.Text()
		default:
			classes := s.by(s.axesOf(w.Names()))
			s.skipped = work(classes, func(i int) string {
				if t.late(s.run.WhenRange) {
					return ""
				}
				ok, err := w.Eval(s.scope(i))
				if err != nil {
					t.fail(s.run.WhenRange, "Condition cannot be evaluated",
						fmt.Sprintf("The `when` of run %q: %s.", s.run.Name, err), "Correct the condition.")
				}
				if ok {
					return ""
				}
				return byWhen + w.Text()
			})
		}
	}
}

// never says whether `when` is false for all cases, as with a variable that chooses runs.
func (s *sheet) never() bool {
	w := s.run.When
	if w == nil || w.UsesHost() || len(s.axesOf(w.Names())) > 0 || s.live == 0 {
		return false
	}
	ok, err := w.Eval(s.scope(0))
	return err == nil && !ok
}

// skip propagates: what waits for a case that will not run does not run either.
// Sheets are in execution order.
func (t *Table) skip() {
	for _, s := range t.sheets {
		for _, e := range s.needs {
			if e.On == always || !e.upstream.skips() {
				continue
			}
			if s.downstream == nil {
				s.downstream = make([]string, s.live)
			}
			for i := range s.live {
				for _, u := range e.lists.at(i).cases {
					if s.downstream[i] == "" && e.upstream.reason(int(u)) != "" {
						s.downstream[i] = "needs " + e.upstream.key(e.upstream.columns, int(u)) + ", which does not run"
					}
				}
			}
		}
	}
}

// skips says whether any case of the sheet is skipped.
func (s *sheet) skips() bool {
	return s.downstream != nil || slices.ContainsFunc(s.skipped.values, func(r string) bool { return r != "" })
}

// reason is why a live case is skipped, "" if it runs.
func (s *sheet) reason(i int) string {
	if r := s.skipped.at(i); r != "" {
		return r
	}
	if s.downstream != nil {
		return s.downstream[i]
	}
	return ""
}

func (c *Case) skip(reason string) { c.Status, c.Reason = Skipped, reason }

// skipDownstream does the same as Table.skip for a plan that is written out, when
// a selection has skipped some of its cases.
func (p *Plan) skipDownstream() {
	status := map[string]string{}
	for _, c := range p.Cases {
		status[c.Key] = c.Status
	}
	for _, c := range p.Cases {
		for _, key := range c.Needs {
			if c.Status == Planned && status[key] == Skipped && c.NeedsOn[key] != always {
				c.skip("needs " + key + ", which does not run")
				status[c.Key] = Skipped
			}
		}
	}
}
