package gate

import (
	"fmt"
	"slices"
	"strings"

	"weir/assertion"
	"weir/results"
)

// alike is the share of the median of the others from which on a rank is as fast as they.
const alike = 0.95

// guilt names the rank that was slowest in most launches, and what there would have
// been without it: in place of the estimate, if it had been like the median of the
// others. "" where the subject is no bandwidth of several ranks.
func (cl claim) guilt(e estimate) string {
	if cl.own == nil || cl.subject.Op != assertion.Metric || !strings.HasPrefix(cl.subject.Metric, "bandwidth") {
		return ""
	}
	var with []*results.Launch
	for _, l := range byIndex(cl.own.Succeeded()) {
		if len(l.Ranks) > 1 {
			with = append(with, l)
		}
	}
	if len(with) == 0 {
		return ""
	}
	rank, times := mostOften(with, func(l *results.Launch) int { return slowestOf(l).Rank })
	var own, others, gains []float64
	node := ""
	for _, l := range with {
		s := slowestOf(l)
		if s.Rank != rank {
			continue
		}
		node = onNode(l, rank)
		own = append(own, s.Bandwidth)
		if l.Initiators <= len(l.Ranks) {
			like, gain := leaveOut(l, s, cl.own.Workload == "transfer")
			others, gains = append(others, like), append(gains, gain)
		}
	}
	gbps := func(v float64) string {
		s := results.ScaleFor(v, "GB/s")
		text, _, _ := s.Estimate(v, nil)
		return s.WithUnit(text)
	}
	text := fmt.Sprintf("; slowest: rank %d%s in %d of %s, %s", rank, node, times, launches(len(with)), gbps(median(own)))
	if len(others) > 0 {
		like := median(others)
		text += fmt.Sprintf(" where the median of the others is %s", gbps(like))
		switch {
		case median(own) >= alike*like:
			text += ": no rank stands out"
		case cl.subject.Metric == "bandwidth":
			text += fmt.Sprintf("; with it like them there would be about %s", gbps(e.center*median(gains)))
		}
	}
	return text + slowestPair(with)
}

// slowestOf is the rank of the least bandwidth, of several the first.
func slowestOf(l *results.Launch) results.RankShare {
	slowest := l.Ranks[0]
	for _, s := range l.Ranks {
		if s.Bandwidth < slowest.Bandwidth || s.Bandwidth == slowest.Bandwidth && s.Rank < slowest.Rank {
			slowest = s
		}
	}
	return slowest
}

// leaveOut is the median of the other ranks, and by how much the whole would grow if a
// rank were like it. Streams add up; an iteration of a matrix lasts as long as its
// slowest rank.
func leaveOut(l *results.Launch, s results.RankShare, adds bool) (like, gain float64) {
	var rest []float64
	sum, longest := 0., 0.
	for _, o := range l.Ranks {
		if o.Rank != s.Rank {
			rest = append(rest, o.Bandwidth)
			sum += o.Bandwidth
			longest = max(longest, o.Seconds)
		}
	}
	like = median(rest)
	if adds {
		return like, (sum + like) / (sum + s.Bandwidth)
	}
	healed := s.Seconds * s.Bandwidth / like
	return like, max(longest, s.Seconds) / max(longest, healed)
}

// slowestPair names the pair of ranks that was slowest in most launches of a matrix.
func slowestPair(all []*results.Launch) string {
	with := slices.DeleteFunc(slices.Clone(all), func(l *results.Launch) bool { return l.SlowestPair == nil })
	if len(with) == 0 {
		return ""
	}
	pair, times := mostOften(with, func(l *results.Launch) [2]int { return [2]int{l.SlowestPair.From, l.SlowestPair.To} })
	i := slices.IndexFunc(with, func(l *results.Launch) bool { return l.SlowestPair.From == pair[0] && l.SlowestPair.To == pair[1] })
	return fmt.Sprintf("; slowest pair: rank %d%s to rank %d%s in %d of %s", pair[0], onNode(with[i], pair[0]), pair[1], onNode(with[i], pair[1]), times, launches(len(with)))
}

// mostOften is what most launches say, of several the one that comes first.
func mostOften[T comparable](all []*results.Launch, of func(*results.Launch) T) (most T, times int) {
	count := map[T]int{}
	for _, l := range all {
		count[of(l)]++
	}
	for _, l := range all {
		if v := of(l); count[v] > times {
			most, times = v, count[v]
		}
	}
	return most, times
}

func onNode(l *results.Launch, rank int) string {
	if rank < 0 || rank >= len(l.Nodes) {
		return ""
	}
	return " on " + l.Nodes[rank]
}
