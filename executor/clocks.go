package executor

import (
	"context"
	"fmt"
	"time"

	"weir/executor/agent"
	"weir/results"
)

// clockRounds is how often each node is asked for its time: the answer that took least
// says most.
const clockRounds = 5

// compareClocks notes how far other hosts' clocks are from this one, for who reads logs and
// events side by side. A node's answer lies between the question and its arrival here, which
// bounds the error by half of the time between. Source: Cristian, Distributed Computing 3
// (1989) 146–158. What is measured has clocks of its own, which ranks compare on the data path.
func (s *session) compareClocks(ctx context.Context) error {
	if s.fleet == nil {
		return nil
	}
	best := map[string]results.ClockOffset{}
	for round := range clockRounds {
		asked := time.Now()
		err := s.ask(ctx, fmt.Sprintf("clock-%d", round), agent.Task{Clock: true}, func(r agent.Report) bool {
			if r.Clock == nil {
				return false
			}
			took := time.Since(asked)
			o := results.ClockOffset{Value: r.Clock.Sub(asked.Add(took / 2)).Seconds(), Bound: took.Seconds() / 2}
			if known, ok := best[r.Node]; !ok || o.Bound < known.Bound {
				best[r.Node] = o
			}
			return true
		}, func(string, string) {})
		if err != nil {
			return err
		}
	}
	for i, n := range s.ledger.Doc.Environment.Nodes {
		s.ledger.Doc.Environment.Nodes[i].ClockOffset = best[n.Name]
	}
	return nil
}
