package results

import (
	"fmt"
	"slices"
	"strings"

	"weir/quantity"
)

// Processors is what the ranks of a launch had of their processors while they measured a case,
// and what else there was on the nodes. Nil in documents of older versions, and where nothing
// says it.
type Processors struct {
	Ranks []RankProcessor `json:"ranks,omitempty" doc:"By rank; of more than 16 those that waited longest for a processor."`
	Nodes []NodeLoad      `json:"nodes,omitempty" doc:"What was on the nodes from before the first process of the launch until after its last, by node."`
}

// RankProcessor is a rank's thread, of several the one that waited longest. Times are seconds.
type RankProcessor struct {
	Rank   int     `json:"rank"`
	Wall   float64 `json:"wall_s" doc:"Of the time in which the rank moved data, or served others that did." schema:"minimum=0"`
	Ran    float64 `json:"ran_s" doc:"Of it, on a processor." schema:"minimum=0"`
	Waited float64 `json:"waited_s" doc:"Of it, ready to run while another thread had the processor." schema:"minimum=0"`
	// ProbeRan and ProbeWaited are the same of the probes of the path, before and after.
	ProbeRan    float64 `json:"probe_ran_s,omitzero" doc:"As ran_s, while the path was probed."`
	ProbeWaited float64 `json:"probe_waited_s,omitzero" doc:"As waited_s, while the path was probed."`
	Sleeps      bool    `json:"sleeps,omitzero" doc:"It sleeps while it waits for others, as the scenario asks: how long it waited for a processor is not judged."`
}

// NodeLoad is what was on a node of a launch.
type NodeLoad struct {
	Node     string  `json:"node"`
	CPUs     int     `json:"cpus" doc:"That weir may use." schema:"minimum=0"`
	Threads  int     `json:"threads" doc:"Of this launch's ranks and of its background load, each of which wants a processor to itself." schema:"minimum=0"`
	Steal    float64 `json:"steal,omitzero" doc:"Share of the processors' busy time that the hypervisor gave to others." schema:"minimum=0,maximum=1"`
	Stolen   float64 `json:"stolen_s,omitzero" doc:"The same in seconds, of all processors." schema:"minimum=0"`
	Load     float64 `json:"load" doc:"Threads that ran or wanted to before the launch, averaged over a minute." schema:"minimum=0"`
	Pressure float64 `json:"pressure,omitzero" doc:"Share of the launch's time in which some thread of the node waited for a processor; those of the launch count too." schema:"minimum=0"`
	Sessions int     `json:"sessions,omitzero" doc:"Other sessions of weir that had ranks on the node when the launch began." schema:"minimum=0"`
}

// What a launch may lose of its processors. A busy thread of another process takes half of a
// processor, and never less than a turn of the scheduler, which is milliseconds; what the kernel
// itself takes of a quiet processor is some tens of microseconds at a time.
const (
	mayWait      = 0.05   // share of the time in which a rank could run
	mayWaitTime  = 200e-6 // s: shorter waits are the kernel's own work
	probeMayWait = 0.25   // a probe is a median of spans, which bears more
	// On a node whose ranks leave no processor to anything else, the kernel's network and weir itself run
	// where ranks do: of quiet machines of two processors 28 % (tcp) and 37 % (UCX) at most. A busy thread
	// still takes half.
	fullMayWait      = 0.4
	fullProbeMayWait = 0.5
	mayBeStolen      = 0.1  // share of the processors' busy time
	stolenTime       = 0.05 // s: the kernel counts it in hundredths of a second
)

// mostProcessors is how many ranks a launch lists.
const mostProcessors = 16

// SetRanks lists the ranks: of very many those that waited longest, which are the ones that are judged.
func (p *Processors) SetRanks(all []RankProcessor) {
	if len(all) > mostProcessors {
		slices.SortStableFunc(all, func(a, b RankProcessor) int {
			switch x, y := a.lost(), b.lost(); {
			case x > y:
				return -1
			case x < y:
				return 1
			}
			return 0
		})
		all = all[:mostProcessors]
		slices.SortFunc(all, func(a, b RankProcessor) int { return a.Rank - b.Rank })
	}
	p.Ranks = all
}

// lost is the share of the time in which the rank could run and did not, at its worst.
func (r RankProcessor) lost() float64 {
	return max(shareOf(r.Waited, r.Ran), shareOf(r.ProbeWaited, r.ProbeRan)*mayWait/probeMayWait)
}

// Lost is the share of the launch's time that others had of its processors, over all ranks together, and
// of the processors' busy time that the hypervisor gave to others; 0 where nothing says it.
func (l *Launch) Lost() (share float64) {
	if l.Processors == nil {
		return 0
	}
	for _, r := range l.Processors.Ranks {
		share += shareOf(r.Waited, r.Ran)
	}
	for _, n := range l.Processors.Nodes {
		share += n.Steal
	}
	return share
}

func shareOf(waited, ran float64) float64 {
	if waited <= 0 {
		return 0
	}
	return waited / (waited + max(ran, 0))
}

// Crowded says which nodes had more threads of weir's own than processors, "" if none: a thread
// cannot have a processor to itself there, whatever else runs.
func (l *Launch) Crowded() string {
	if l.Processors == nil {
		return ""
	}
	var out []string
	for _, n := range l.Processors.Nodes {
		if n.crowded() {
			out = append(out, fmt.Sprintf("node %s has %d threads of ranks for %d %s", n.Node, n.Threads, n.CPUs,
				map[bool]string{true: "processor", false: "processors"}[n.CPUs == 1]))
		}
	}
	return strings.Join(out, ", ")
}

func (n NodeLoad) crowded() bool { return n.CPUs > 0 && n.Threads > n.CPUs }

// full is whether the ranks leave no processor to anything else.
func (n NodeLoad) full() bool { return n.CPUs > 0 && n.Threads >= n.CPUs }

// Disturbed says why the launch did not have its processors, "" if it had them or nothing says
// that it had not. That ranks waited for each other, where there are more of them than
// processors, is nobody's disturbance.
func (l *Launch) Disturbed() string {
	if l.Processors == nil || l.Simulated {
		return ""
	}
	load := map[string]NodeLoad{}
	for _, n := range l.Processors.Nodes {
		load[n.Node] = n
		if n.Steal > mayBeStolen && n.Stolen >= stolenTime {
			return fmt.Sprintf("the hypervisor gave %s of the busy time of node %s's processors to others%s",
				percentOf(n.Steal), n.Node, n.besides())
		}
	}
	worst, why := 0., ""
	for _, r := range l.Processors.Ranks {
		if r.Rank < 0 || r.Rank >= len(l.Nodes) || r.Sleeps {
			continue
		}
		node := load[l.Nodes[r.Rank]]
		if node.crowded() {
			continue
		}
		for _, span := range []struct {
			waited, ran, may, full float64
			while                  string
		}{
			{r.Waited, r.Ran, mayWait, fullMayWait, "while it measured"},
			{r.ProbeWaited, r.ProbeRan, probeMayWait, fullProbeMayWait, "while it probed the path"},
		} {
			share := shareOf(span.waited, span.ran)
			if node.full() {
				span.may = span.full
			}
			if share <= span.may || span.waited < mayWaitTime || share/span.may <= worst {
				continue
			}
			worst = share / span.may
			why = fmt.Sprintf("rank %d on %s waited for a processor %s of the time that it could run %s%s", r.Rank,
				l.Nodes[r.Rank], percentOf(share), span.while, node.besides())
		}
	}
	return why
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

// Counts says whether the launch counts: it was neither made again because it failed, nor void.
func (l *Launch) Counts() bool { return !l.Retried && l.Void == "" }

// Voids are the launches of the case that did not have their processors.
func (c *Case) Voids() int { return c.count(func(l *Launch) bool { return l.Void != "" }) }

// Unmeasured says why nothing that a case measured counts, where all its launches are void and no
// assertion about it could be judged by them all the same; "" of other cases.
func (c *Case) Unmeasured() string {
	if c.Status != OK || c.Invalid != "" || c.Excused() || !c.AllVoid() {
		return ""
	}
	for _, a := range c.Assertions {
		if a.Observed != nil {
			return ""
		}
	}
	return c.OnlyVoid()
}

// AllVoid says whether the case has launches that are void, and none that counts.
func (c *Case) AllVoid() bool { return c.Voids() > 0 && c.count((*Launch).Counts) == 0 }

// OnlyVoid says of a case without a launch that counts how many are void, and why the last of them.
func (c *Case) OnlyVoid() string {
	return fmt.Sprintf("nothing was measured that counts: %s, the last because %s",
		VoidText(c.Voids(), len(c.Launches)), c.WhyVoid())
}

// VoidText says how many launches of all are void: "3 of 4 launches are void".
func VoidText(voids, all int) string {
	launches, are := "launches", "are"
	if all == 1 {
		launches = "launch"
	}
	if voids == 1 {
		are = "is"
	}
	return fmt.Sprintf("%d of %d %s %s void", voids, all, launches, are)
}

// WhyVoid is the reason of the last launch of the case that is void, "" if none is.
func (c *Case) WhyVoid() string {
	for _, l := range slices.Backward(c.Launches) {
		if l.Void != "" {
			return l.Void
		}
	}
	return ""
}
