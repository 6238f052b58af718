package serving

import (
	"fmt"
	"math"
	"os"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/serving"
	"github.com/weir-bench/weir/workload/serving/load"
)

// search runs levels of a load until it has found the highest one that meets the condition. All clients know the
// records of all, so they run the same levels. The records are those of the level that was found, or of the lowest.
func (k *run) search(search *serving.Search, first level) ([]load.Record, error) {
	var found []load.Record
	kept, broken, why := 0., 0., "" // why broken is not kept
	for number := 0; ; number++ {
		at, more := search.Next(kept, broken)
		if !more {
			break
		}
		l := first
		l.number = number
		if search.Axis == serving.ByConcurrency {
			l.concurrency = int(at)
			if l.requests > 0 {
				l.requests = max(l.requests, 2*l.concurrency)
			}
		} else {
			l.rate = at
		}
		if err := k.warmUp(l); err != nil {
			return nil, err
		}
		records, err := k.play(l)
		if err != nil {
			return records, err
		}
		all, err := k.recordsOfAll(records)
		if err != nil {
			return nil, err
		}
		missed := search.Promise.Missed(serving.Summarize(k.spec, all))
		holds := missed == ""
		fmt.Fprintf(os.Stderr, "%s %s: the promise is kept: %v\n", search.Axis, search.Show(at), holds)
		if holds {
			kept = at
		} else {
			broken, why = at, missed
		}
		if holds || found == nil {
			found, k.facts.Load = records, at
		}
	}
	k.facts.Notes = []results.Cause{{Text: search.Ended(kept, broken, why), Count: max(1, len(found))}}
	if search.Axis == serving.ByRate {
		kept = math.Round(kept*1e3) / 1e3
	}
	k.facts.Found = &kept
	return found, nil
}

// recordsOfAll returns the records of all clients.
func (k *run) recordsOfAll(mine []load.Record) ([]load.Record, error) {
	part, err := serving.Encode(k.c.Key, k.launch.Index, k.self, &serving.Facts{}, mine)
	if err != nil {
		return nil, err
	}
	samples, err := k.share(k.ctx, part.Samples)
	if err != nil {
		return nil, err
	}
	return serving.Records(samples)
}
