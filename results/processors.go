package results

import (
	"fmt"
	"slices"
	"strings"
)

// Processors is the processor time of a launch's ranks while they measured a case, and the load of the
// nodes. Nil if unknown.
type Processors struct {
	Ranks []RankProcessor `json:"ranks,omitempty" doc:"By rank; of more than 16 those that waited longest for a processor."`
	Nodes []NodeLoad      `json:"nodes,omitempty" doc:"What was on the nodes from before the first process of the launch until after its last, by node."`
}

// RankProcessor is a rank's thread, the one that waited longest. Times are in seconds.
type RankProcessor struct {
	Rank   int     `json:"rank"`
	Wall   float64 `json:"wall_s" doc:"Of the time in which the rank moved data, or served others that did." schema:"minimum=0"`
	Ran    float64 `json:"ran_s" doc:"Of it, on a processor." schema:"minimum=0"`
	Waited float64 `json:"waited_s" doc:"Of it, ready to run while another thread had the processor." schema:"minimum=0"`
	// ProbeRan and ProbeWaited are the same for the probes of the path.
	ProbeRan    float64 `json:"probe_ran_s,omitzero" doc:"As ran_s, while the path was probed."`
	ProbeWaited float64 `json:"probe_waited_s,omitzero" doc:"As waited_s, while the path was probed."`
	Sleeps      bool    `json:"sleeps,omitzero" doc:"It sleeps while it waits for others, as the scenario asks: how long it waited for a processor is not judged."`
}

// NodeLoad is the load of a node during a launch.
type NodeLoad struct {
	Node     string  `json:"node"`
	CPUs     int     `json:"cpus" doc:"That weir may use." schema:"minimum=0"`
	Threads  int     `json:"threads" doc:"Of this launch's ranks and of its background load, each of which wants a processor to itself." schema:"minimum=0"`
	Steal    float64 `json:"steal,omitzero" doc:"Share of the processors' busy time that the hypervisor gave to others." schema:"minimum=0,maximum=1"`
	Stolen   float64 `json:"stolen_s,omitzero" doc:"The same in seconds, of all processors." schema:"minimum=0"`
	Load     float64 `json:"load" doc:"Threads that ran or wanted to before the launch, averaged over a minute." schema:"minimum=0"`
	Pressure float64 `json:"pressure,omitzero" doc:"Share of the launch's time in which some thread of the node waited for a processor; those of the launch count too." schema:"minimum=0"`
	Elapsed  float64 `json:"elapsed_s,omitzero" doc:"Seconds from before the first process of the launch until after its last." schema:"minimum=0"`
	// Limit is that of a container or job.
	Limit     float64 `json:"cpu_limit,omitzero" doc:"Processors that the control group of weir may use; absent: no limit." schema:"exclusiveMinimum=0"`
	Throttled float64 `json:"throttled_s,omitzero" doc:"Seconds, of all processors, in which the limit kept threads from running." schema:"minimum=0"`
	Running   int     `json:"running,omitzero" doc:"Threads of others that ran or wanted to, both just before the launch and just after it." schema:"minimum=0"`
	Sessions  int     `json:"sessions,omitzero" doc:"Other sessions of weir that had ranks on the node when the launch began." schema:"minimum=0"`
}

// mostProcessors is the number of ranks that a launch lists.
const mostProcessors = 16

// SetRanks lists the ranks; of many those that waited longest, which decide.
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

// lost is the largest share of runnable time that the rank waited.
func (r RankProcessor) lost() float64 {
	return max(shareOf(r.Waited, r.Ran), shareOf(r.ProbeWaited, r.ProbeRan)*waitLimit/probeWaitLimit)
}

func shareOf(waited, ran float64) float64 {
	if waited <= 0 {
		return 0
	}
	return waited / (waited + max(ran, 0))
}

// Oversubscribed names the nodes with more of weir's own threads than processors, "" if none.
func (l *Launch) Oversubscribed() string {
	if l.Processors == nil {
		return ""
	}
	var out []string
	for _, n := range l.Processors.Nodes {
		if n.oversubscribed() {
			out = append(out, fmt.Sprintf("node %s has %d threads of ranks for %d %s", n.Node, n.Threads, n.CPUs,
				map[bool]string{true: "processor", false: "processors"}[n.CPUs == 1]))
		}
	}
	return strings.Join(out, ", ")
}

func (n NodeLoad) oversubscribed() bool { return n.CPUs > 0 && n.Threads > n.CPUs }

// full reports whether the ranks leave no spare processor.
func (n NodeLoad) full() bool { return n.CPUs > 0 && n.Threads >= n.CPUs }
