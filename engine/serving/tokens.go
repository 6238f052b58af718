package serving

import (
	"context"
	"sync"

	"github.com/weir-bench/weir/workload/serving/client"
	"github.com/weir-bench/weir/workload/serving/load"
)

// countersAtOnce is the number of concurrent requests to count tokens.
const countersAtOnce = 8

// countAnswers lets the server count the tokens of answers without usage that have content alone. Answers that it does
// not count keep their estimate.
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
		r := &records[i]
		if r.Outcome == load.OK && r.Source == load.ByEvents && r.Answer != "" && !r.Beyond && ctx.Err() == nil {
			next <- r
		}
	}
	close(next)
	workers.Wait()
}
