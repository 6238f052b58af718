package executor

import (
	"context"
)

// schedule runs launches until every case is decided. Among the groups that may
// run, launches take turns (A B C A B C …), so that a drift of the machine meets
// all of them alike; the gate looks when a group has all launches of its look.
// Whatever made the launches that the document has, the next one is the same.
func (s *session) schedule(ctx context.Context) error {
	for {
		round := s.ledger.Round()
		if len(round) == 0 {
			return nil
		}
		for _, g := range round {
			due := s.ledger.Due(g)
			if len(due) == 0 {
				continue
			}
			if err := s.launch(ctx, g, s.ledger.Arrange(g, due)); err != nil {
				return err
			}
			if err := s.ledger.FailFast(); err != nil {
				return err
			}
		}
		s.ledger.LookAt(round)
		if err := s.ledger.FailFast(); err != nil {
			return err
		}
		s.endRuns(ctx)
	}
}
