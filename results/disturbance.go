package results

import (
	"fmt"
	"math"
	"strings"

	"weir/quantity"
)

// Causes of disturbances.
const (
	Waited    = "waited"    // other threads had a rank's processor
	Stolen    = "stolen"    // the hypervisor had it
	Throttled = "throttled" // the limit of a control group kept threads from running
	Delayed   = "delayed"   // the client of a server did not keep time
)

// Disturbance is what kept a launch from the processors that it measured with.
type Disturbance struct {
	Cause string  `json:"cause" schema:"enum=waited|stolen|throttled|delayed"`
	Share float64 `json:"share" doc:"Of the time of what was measured that it took: a mean can have moved by as much, and twice that where ranks wait for each other." schema:"minimum=0,maximum=1"`
	Text  string  `json:"text"`
	// Borne launches count for the gates of their case. What compares them with others leaves them out.
	Borne bool `json:"borne,omitzero" doc:"The launch counts because it can change nothing of what is asserted of its case; comparisons, other sessions and other runs do not use it."`
}

// What a launch may lose of its processors. A busy thread of another process takes half of a
// processor, and never less than a turn of the scheduler, which is milliseconds; what the kernel
// itself takes of a quiet processor is some tens of microseconds at a time.
const (
	mayWait      = 0.05   // share of the time in which a rank could run
	mayWaitTime  = 200e-6 // s: shorter waits are the kernel's own work
	probeMayWait = 0.25   // a probe is a median of spans, which bears more
	// On a node without a processor to spare, the kernel's network and weir itself run
	// where ranks do: of quiet machines of two processors 28 % (tcp) and 37 % (UCX) at most. A busy thread
	// still takes half.
	fullMayWait      = 0.4
	fullProbeMayWait = 0.5
	mayBeStolen      = 0.1  // share of the time of ranks that poll
	mayBeKept        = 0.05 // share of the launch's time, of what sleeps between its work
	stolenTime       = 0.05 // s: the kernel counts it in hundredths of a second
)

// Lost is the share of the launch's time that others had of its processors, over all ranks together, and
// that the hypervisor and limits of control groups took; 0 where nothing says it.
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

// Disturbed is what kept the launch from its processors, nil if it had them or nothing says that it had not: the text
// is of the worst of it, the share of all together. That ranks waited for each other, where there are more of them than
// processors, is nobody's disturbance.
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

// waited is how long ranks waited for their processors, nil if no longer than they may: the text is of the span that
// was exceeded most, the share the largest.
func (l *Launch) waited() (worst *Disturbance) {
	load := map[string]NodeLoad{}
	for _, n := range l.Processors.Nodes {
		load[n.Node] = n
	}
	excess, most := 1., 0.
	for _, r := range l.Processors.Ranks {
		if r.Rank < 0 || r.Rank >= len(l.Nodes) || r.Sleeps || load[l.Nodes[r.Rank]].crowded() {
			continue
		}
		node := load[l.Nodes[r.Rank]]
		for _, span := range r.spans() {
			share, may := shareOf(span.waited, span.ran), span.may
			if node.full() {
				may = span.full
			}
			if share <= may || span.waited < mayWaitTime {
				continue
			}
			most = max(most, share)
			if share <= may*excess {
				continue
			}
			excess = share / may
			worst = &Disturbance{Cause: Waited,
				Text: fmt.Sprintf("rank %d on %s waited for a processor %s of the time that it could run %s%s", r.Rank,
					l.Nodes[r.Rank], percentOf(share), span.while, node.besides())}
		}
	}
	if worst != nil {
		worst.Share = most
	}
	return worst
}

// Outnumbered is what other threads took of the processors of programs, nil if these had enough. The kernel does not
// tell how long programs waited: threads that ran just before the launch and just after it have equal shares.
func (l *Launch) Outnumbered() *Disturbance {
	if l.Processors == nil || l.Simulated {
		return nil
	}
	for _, n := range l.Processors.Nodes {
		threads := max(n.Threads, 1)
		if n.CPUs == 0 || n.Running == 0 || n.crowded() || n.Running+threads <= n.CPUs {
			continue
		}
		if share := 1 - float64(n.CPUs)/float64(n.Running+threads); share > mayWait {
			return &Disturbance{Cause: Waited, Share: share,
				Text: fmt.Sprintf("%d threads of others wanted the %d processors of node %s before and after it%s",
					n.Running, n.CPUs, n.Node, n.besides())}
		}
	}
	return nil
}

// span is a part of a rank's time, with the share of it that the rank may wait.
type span struct {
	waited, ran float64
	may, full   float64 // full: on a node without a processor to spare
	while       string
}

func (r RankProcessor) spans() []span {
	return []span{
		{r.Waited, r.Ran, mayWait, fullMayWait, "while it measured"},
		{r.ProbeWaited, r.ProbeRan, probeMayWait, fullProbeMayWait, "while it probed the path"},
	}
}

// nodeDisturbance is what the hypervisor, or the limit of a control group, took of a node; nil: little.
func (l *Launch) nodeDisturbance(n NodeLoad) *Disturbance {
	may := mayBeKept
	if l.polls(n.Node) {
		may = mayBeStolen
	}
	if share := n.throttledShare(); share > may && n.Throttled >= stolenTime {
		return &Disturbance{Cause: Throttled, Share: share,
			Text: fmt.Sprintf("the CPU limit of node %s, %.2g of %d processors, kept threads from running for %s of the time",
				n.Node, n.Limit, n.CPUs, percentOf(share))}
	}
	if share := l.stolenOf(n); share > may && n.Stolen >= stolenTime {
		what := "launch's time"
		if l.polls(n.Node) {
			what = "busy time"
		}
		return &Disturbance{Cause: Stolen, Share: share,
			Text: fmt.Sprintf("the hypervisor gave %s of the %s of node %s's processors to others%s",
				percentOf(share), what, n.Node, n.besides())}
	}
	return nil
}

// polls says whether the launch has a rank on a node that never sleeps: it loses all that is taken.
func (l *Launch) polls(node string) bool {
	for _, r := range l.Processors.Ranks {
		if !r.Sleeps && r.Rank >= 0 && r.Rank < len(l.Nodes) && l.Nodes[r.Rank] == node {
			return true
		}
	}
	return false
}

// stolenOf is the share of its time that what was measured can have lost to the hypervisor: of ranks that poll, as
// much as the processors' busy time; of what sleeps between its work, at most all that was taken.
func (l *Launch) stolenOf(n NodeLoad) float64 {
	if l.polls(n.Node) || n.Elapsed <= 0 {
		return n.Steal
	}
	return min(n.Stolen/n.Elapsed, 1)
}

// throttledShare is the share of the launch's time in which a limit kept each of its processors from running.
func (n NodeLoad) throttledShare() float64 {
	if n.Elapsed <= 0 || n.Limit <= 0 {
		return 0
	}
	processors := math.Max(1, math.Min(float64(n.Threads), float64(n.CPUs)))
	return min(n.Throttled/n.Elapsed/processors, 1)
}

// besides is what else is known of a node that is disturbed.
func (n NodeLoad) besides() string {
	var out []string
	if n.Load > 0 {
		out = append(out, "load "+quantity.Digits(n.Load, 2))
	}
	if n.Sessions == 1 {
		out = append(out, "another session of weir")
	} else if n.Sessions > 1 {
		out = append(out, fmt.Sprintf("%d other sessions of weir", n.Sessions))
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, ", ") + ")"
}

func percentOf(share float64) string { return quantity.Digits(share*100, 2) + " %" }
