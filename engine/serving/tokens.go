package serving

import (
	"context"
	"sync"

	load "weir/serving"
	"weir/serving/client"
)

// countersAtOnce are how many answers are counted at a time.
const countersAtOnce = 8

// countAnswers has the server count the tokens of answers that came without usage. An answer that
// it does not count keeps its estimate.
func countAnswers(ctx context.Context, c *client.Client, model string, records []load.Record) {
	next := make(chan *load.Record)
	var workers sync.WaitGroup
	for range countersAtOnce {
		workers.Go(func() {
			for r := range next {
				if n, err := c.Count(ctx, model, r.Answer); err == nil {
					r.Output, r.Source = n, load.ByTokenizer
				}
				r.Answer = ""
			}
		})
	}
	for i := range records {
		if r := &records[i]; r.Outcome == load.OK && r.Source == load.ByEvents && r.Answer != "" && ctx.Err() == nil {
			next <- r
		}
	}
	close(next)
	workers.Wait()
}
