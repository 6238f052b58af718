package transfer

import (
	"fmt"
	"math"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/move"
)

// A stamped request reads the clock before and after it. Of many requests these reads take less than stampsAim of the
// timed part. A share above stampsMost lowers the bandwidth noticeably.
const (
	stampReads = 2
	stampsAim  = 0.02
	stampsMost = 0.05
)

// stampNotes warns of a timed part with so few and short requests that reading the clock took a large part of it.
func stampNotes(o *move.Spec, parts []*move.Part) []results.Cause {
	if o.Mode != "stream" || o.Duration > 0 {
		return nil
	}
	for _, r := range parts {
		if !r.Initiator || r.Samples == nil {
			continue
		}
		took := float64(r.Samples.End-r.Samples.Start) / 1e9
		stamps := float64(latencies([]*move.Part{r}).Count()) / float64(max(1, o.Threads))
		reads := stampReads * stamps * r.Clock.Cost
		if reads <= stampsMost*took {
			continue
		}
		request := max(took-reads, 0.1*took) / float64(o.Iterations)
		enough := math.Pow(10, math.Ceil(math.Log10(stampReads*stamps*r.Clock.Cost/stampsAim/request)))
		return []results.Cause{{Count: int(stamps), Text: fmt.Sprintf(
			"time stamps took over %.0f %% of the timed part, so bandwidth is too low: set iterations: %.0f, or duration",
			100*stampsMost, enough)}}
	}
	return nil
}

// stallNotes warns that the mean of all round trips is above the p99 of those with a time: slow ones fell between them.
func stallNotes(o *move.Spec, parts []*move.Part, metrics map[string]float64) []results.Cause {
	avg, p99 := metrics["latency.avg"], metrics["latency.p99"]
	stamped := latencies(parts).Count()
	if o.Mode != "pingpong" || p99 == 0 || avg <= p99 || stamped >= int64(o.Iterations) {
		return nil
	}
	return []results.Cause{{Count: int(stamped), Text: fmt.Sprintf("latency.avg of all %d round trips is above"+
		" latency.p99 of the %d with a time: slow ones fell between these; assert latency.avg, too", o.Iterations,
		stamped)}}
}

// leastOverlap is the share of the time of a launch in which all initiators should run.
const leastOverlap = 0.5

// overlapNotes warns of a bandwidth that is of a small part of the launch, in which the initiators ran together.
func overlapNotes(metrics map[string]float64) []results.Cause {
	share, ok := metrics["overlap"]
	if !ok || share >= leastOverlap {
		return nil
	}
	return []results.Cause{{Count: 1, Text: fmt.Sprintf("the initiators ran together in only %.2g %% of the time, and"+
		" bandwidth is that of this part: use more iterations, or no more ranks and threads than processors",
		100*share)}}
}
