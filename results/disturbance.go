package results

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
)

// Causes of disturbances.
const (
	Waited    = "waited"    // other threads used a rank's processor
	Stolen    = "stolen"    // the hypervisor used it
	Throttled = "throttled" // the limit of a control group kept threads from running
	Delayed   = "delayed"   // a server's client missed its send times
)

// Disturbance is what kept a launch from its processors.
type Disturbance struct {
	Cause string  `json:"cause" schema:"enum=waited|stolen|throttled|delayed"`
	Share float64 `json:"share" doc:"Of the time of what was measured that it took: a mean can have moved by as much, and twice that where ranks wait for each other." schema:"minimum=0,maximum=1"`
	Text  string  `json:"text"`
	// Tolerated launches count for their own case's gates, but not in comparisons.
	Tolerated bool `json:"borne,omitzero" doc:"The launch counts because it can change nothing of what is asserted of its case; comparisons, other sessions and other runs do not use it."`
}

// Limits of lost processor time. A busy thread of another process takes half of a processor, at least for
// a scheduler slice of milliseconds; the kernel itself takes tens of microseconds at a time.
const (
	waitLimit      = 0.05   // share of runnable time
	waitTimeLimit  = 200e-6 // s: shorter waits are the kernel's own work
	probeWaitLimit = 0.25   // a probe is a median of spans, which is more robust
	// fullWaitLimit applies to nodes without a spare processor: the kernel's network and weir run on the ranks'
	// processors then, up to 28 % (tcp) and 37 % (UCX) on quiet machines with two. A busy thread takes half.
	fullWaitLimit      = 0.4
	fullProbeWaitLimit = 0.5
	stealLimit         = 0.1  // share of the time of polling ranks
	throttleLimit      = 0.05 // share of the launch's time
	stolenTimeLimit    = 0.05 // s: the kernel counts hundredths of a second
)

// Lost is the share of the launch's time that its processors were used by others, over all ranks, plus
// hypervisor and CPU limits; 0 if unknown.
func (l *Launch) Lost() (share float64) {
	if l.Processors == nil {
		return 0
	}
	for _, r := range l.Processors.Ranks {
		share += shareOf(r.Waited, r.Ran)
	}
	for _, n := range l.Processors.Nodes {
		share += l.stolenOf(n) + n.throttledShare()
	}
	return share
}

// Disturbed returns what kept the launch from its processors, or nil: the text of the worst cause, the
// share of all. Ranks waiting for each other, if there are more ranks than processors, are no disturbance.
func (l *Launch) Disturbed() *Disturbance {
	if l.Processors == nil || l.Simulated {
		return nil
	}
	worst := l.waited()
	left := 1. // share of the time
	if worst != nil {
		left = 1 - worst.Share
	}
	for _, n := range l.Processors.Nodes {
		if d := l.nodeDisturbance(n); d != nil {
			left *= 1 - d.Share
			if worst == nil || worst.Cause == Waited { // ranks of the node waited for this, too
				worst = d
			}
		}
	}
	if worst == nil {
		return nil
	}
	return &Disturbance{Cause: worst.Cause, Share: 1 - left, Text: worst.Text}
}

// waited returns how long ranks waited for their processors, nil if within the limits: the text of the
// span that exceeded its limit most, with the largest share.
func (l *Launch) waited() (worst *Disturbance) {
	load := map[string]NodeLoad{}
	for _, n := range l.Processors.Nodes {
		load[n.Node] = n
	}
	excess, most := 1., 0.
	for _, r := range l.Processors.Ranks {
		if r.Rank < 0 || r.Rank >= len(l.Nodes) || r.Sleeps || load[l.Nodes[r.Rank]].oversubscribed() {
			continue
		}
		node := load[l.Nodes[r.Rank]]
		for _, span := range r.spans() {
			share, may := shareOf(span.waited, span.ran), span.limit
			if node.full() {
				may = span.fullLimit
			}
			if share <= may || span.waited < waitTimeLimit {
				continue
			}
			most = max(most, share)
			if share <= may*excess {
				continue
			}
			excess = share / may
			worst = &Disturbance{Cause: Waited,
				Text: fmt.Sprintf("rank %d on %s was runnable but not scheduled %s of the time%s%s", r.Rank,
					l.Nodes[r.Rank], percentOf(share), span.while, node.loadText())}
		}
	}
	if worst != nil {
		worst.Share = most
	}
	return worst
}

// Outnumbered returns the share of processors that other threads took from programs, or nil. The kernel
// does not report how long programs waited; threads that run just before and just after the launch are
// assumed to have equal shares.
func (l *Launch) Outnumbered() *Disturbance {
	if l.Processors == nil || l.Simulated {
		return nil
	}
	for _, n := range l.Processors.Nodes {
		threads := max(n.Threads, 1)
		if n.CPUs == 0 || n.Running == 0 || n.oversubscribed() || n.Running+threads <= n.CPUs {
			continue
		}
		if share := 1 - float64(n.CPUs)/float64(n.Running+threads); share > waitLimit {
			return &Disturbance{Cause: Waited, Share: share,
				Text: fmt.Sprintf("%d other threads were runnable on the %d processors of node %s before and after it%s",
					n.Running, n.CPUs, n.Node, n.loadText())}
		}
	}
	return nil
}

// ProbeDisturbed reports whether ranks waited for their processors while they probed the path, so that it may carry
// more than they found.
func (l *Launch) ProbeDisturbed() bool {
	return l.Processors != nil && slices.ContainsFunc(l.Processors.Ranks, func(r RankProcessor) bool {
		return r.ProbeWaited >= waitTimeLimit && shareOf(r.ProbeWaited, r.ProbeRan) > waitLimit
	})
}

// span is a part of a rank's time, with its limit of waiting.
type span struct {
	waited, ran      float64
	limit, fullLimit float64 // fullLimit: on a node without a spare processor
	while            string
}

func (r RankProcessor) spans() []span {
	return []span{
		{r.Waited, r.Ran, waitLimit, fullWaitLimit, ""},
		{r.ProbeWaited, r.ProbeRan, probeWaitLimit, fullProbeWaitLimit, " while it probed the path"},
	}
}

// nodeDisturbance returns what the hypervisor or a CPU limit took of a node; nil: within the limits.
func (l *Launch) nodeDisturbance(n NodeLoad) *Disturbance {
	may := throttleLimit
	if l.polls(n.Node) {
		may = stealLimit
	}
	if share := n.throttledShare(); share > may && n.Throttled >= stolenTimeLimit {
		return &Disturbance{Cause: Throttled, Share: share,
			Text: fmt.Sprintf("the CPU limit of node %s, %.2g of %d processors, throttled threads for %s of the time",
				n.Node, n.Limit, n.CPUs, percentOf(share))}
	}
	if share := l.stolenOf(n); share > may && n.Stolen >= stolenTimeLimit {
		what := "launch's time"
		if l.polls(n.Node) {
			what = "busy time"
		}
		return &Disturbance{Cause: Stolen, Share: share,
			Text: fmt.Sprintf("the hypervisor stole %s of the %s of node %s's processors%s",
				percentOf(share), what, n.Node, n.loadText())}
	}
	return nil
}

// polls reports whether the launch has a rank on a node that never sleeps, so that all stolen time is
// lost.
func (l *Launch) polls(node string) bool {
	for _, r := range l.Processors.Ranks {
		if !r.Sleeps && r.Rank >= 0 && r.Rank < len(l.Nodes) && l.Nodes[r.Rank] == node {
			return true
		}
	}
	return false
}

// stolenOf is the share of the launch's time lost to the hypervisor: of the busy time for polling ranks,
// else at most everything stolen.
func (l *Launch) stolenOf(n NodeLoad) float64 {
	if l.polls(n.Node) || n.Elapsed <= 0 {
		return n.Steal
	}
	return min(n.Stolen/n.Elapsed, 1)
}

// throttledShare is the share of the launch's time in which a CPU limit stopped its processors.
func (n NodeLoad) throttledShare() float64 {
	if n.Elapsed <= 0 || n.Limit <= 0 {
		return 0
	}
	processors := math.Max(1, math.Min(float64(n.Threads), float64(n.CPUs)))
	return min(n.Throttled/n.Elapsed/processors, 1)
}

// loadText is the load and other sessions of a disturbed node.
func (n NodeLoad) loadText() string {
	out := []string{""}
	if n.Load > 0 {
		out = append(out, "load "+quantity.Digits(n.Load, 2))
	}
	if n.Sessions == 1 {
		out = append(out, "another session of weir")
	} else if n.Sessions > 1 {
		out = append(out, fmt.Sprintf("%d other sessions of weir", n.Sessions))
	}
	return strings.Join(out, ", ")
}

func percentOf(share float64) string { return quantity.Digits(share*100, 2) + " %" }
