package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"weir/assertion"
	"weir/results"
)

// alike is the share of the median of the others from which on a rank is as fast as they.
const alike = 0.95

// guilt names the rank that was slowest in most launches and the node whose ranks are slow
// together, and what there would have been if they had been like the median of the others:
// in place of the estimate. "" where the subject is no bandwidth of several ranks.
func (cl claim) guilt(e estimate) string {
	if cl.own == nil || cl.subject.Op != assertion.Metric || cl.fromRanks() == "" {
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
	node := ""
	var own []float64
	var others []rest
	for _, l := range with {
		s := slowestOf(l)
		if s.Rank != rank {
			continue
		}
		node = onNode(l, rank)
		own = append(own, s.Bandwidth)
		if l.Initiators <= len(l.Ranks) {
			others = append(others, cl.leaveOut(l, func(o results.RankShare) bool { return o.Rank == rank }))
		}
	}
	text := fmt.Sprintf("; slowest: rank %d%s in %d of %s, %s", rank, node, times, launches(len(with)),
		gbps(median(own)))
	if len(others) > 0 {
		if says, standsOut := cl.instead(e, median(own), others); standsOut {
			text += says
		} else {
			text += says + ": no rank stands out"
		}
	}
	return text + cl.slowestNode(e, with) + slowestPair(with)
}

// fromRanks is how the subject, which is a metric, follows from the bandwidths of ranks.
func (cl claim) fromRanks() results.RankRule {
	m, _ := cl.metrics.Metric(cl.own, cl.subject.Metric)
	return m.FromRanks
}

// slowestNode names the node whose ranks had the least median in most launches; "" if it is
// not slower than the others, or has one rank, of which all is said.
func (cl claim) slowestNode(e estimate, with []*results.Launch) string {
	with = slices.DeleteFunc(slices.Clone(with), func(l *results.Launch) bool {
		return l.Initiators > len(l.Ranks) || len(bandwidthsByNode(l)) < 2
	})
	if len(with) == 0 {
		return ""
	}
	name, times := mostOften(with, func(l *results.Launch) string {
		at := bandwidthsByNode(l)
		return slices.MinFunc(slices.Sorted(maps.Keys(at)),
			func(a, b string) int { return cmp.Compare(median(at[a]), median(at[b])) })
	})
	var own []float64
	var others []rest
	ranks := 0
	for _, l := range with {
		mine := bandwidthsByNode(l)[name]
		if len(mine) == 0 {
			continue
		}
		ranks = max(ranks, len(mine))
		own = append(own, median(mine))
		others = append(others, cl.leaveOut(l, func(o results.RankShare) bool { return l.Nodes[o.Rank] == name }))
	}
	says, standsOut := cl.instead(e, median(own), others)
	if !standsOut || ranks < 2 {
		return ""
	}
	return fmt.Sprintf("; slowest node: %s in %d of %s, its ranks' median is %s", name, times, launches(len(with)),
		gbps(median(own))) + says
}

// bandwidthsByNode are the bandwidths of ranks by node; nil where it is not known where they were.
func bandwidthsByNode(l *results.Launch) map[string][]float64 {
	at := map[string][]float64{}
	for _, s := range l.Ranks {
		if s.Rank < 0 || s.Rank >= len(l.Nodes) {
			return nil
		}
		at[l.Nodes[s.Rank]] = append(at[l.Nodes[s.Rank]], s.Bandwidth)
	}
	return at
}

// instead says how the ranks that were left out do beside the others, and what there would
// be if they were like them; whether they stand out at all.
func (cl claim) instead(e estimate, own float64, others []rest) (says string, standsOut bool) {
	var like, gains []float64
	for _, o := range others {
		like, gains = append(like, o.like), append(gains, o.gain)
	}
	says = fmt.Sprintf(" where the median of the others is %s", gbps(median(like)))
	if own >= alike*median(like) {
		return says, false
	}
	if cl.fromRanks() != results.EachRank {
		says += fmt.Sprintf("; with it like them there would be about %s", gbps(e.center*median(gains)))
	}
	return says, true
}

func gbps(v float64) string {
	s := results.ScaleFor(v, "GB/s")
	text, _, _ := s.Estimate(v, nil)
	return s.WithUnit(text)
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

// rest is a launch without some of its ranks.
type rest struct {
	like float64 // the median of the others, GB/s
	gain float64 // by how much the whole would grow if those left out were like it
}

// leaveOut leaves out the ranks that are named.
func (cl claim) leaveOut(l *results.Launch, out func(results.RankShare) bool) rest {
	var others []float64
	sum, left, longest, without := 0., 0., 0., 0.
	for _, s := range l.Ranks {
		longest = max(longest, s.Seconds)
		if out(s) {
			left += s.Bandwidth
			continue
		}
		others = append(others, s.Bandwidth)
		sum += s.Bandwidth
		without = max(without, s.Seconds)
	}
	like := median(others)
	if cl.fromRanks() == results.SumOfRanks {
		return rest{like, (sum + like*float64(len(l.Ranks)-len(others))) / (sum + left)}
	}
	for _, s := range l.Ranks {
		if out(s) {
			without = max(without, s.Seconds*s.Bandwidth/like)
		}
	}
	return rest{like, longest / without}
}

// slowestPair names the pair of ranks that was slowest in most launches of a matrix.
func slowestPair(all []*results.Launch) string {
	with := slices.DeleteFunc(slices.Clone(all), func(l *results.Launch) bool { return l.SlowestPair == nil })
	if len(with) == 0 {
		return ""
	}
	pair, times := mostOften(with, func(l *results.Launch) [2]int {
		return [2]int{l.SlowestPair.From, l.SlowestPair.To}
	})
	i := slices.IndexFunc(with, func(l *results.Launch) bool {
		return l.SlowestPair.From == pair[0] && l.SlowestPair.To == pair[1]
	})
	return fmt.Sprintf("; slowest pair: rank %d%s to rank %d%s in %d of %s", pair[0], onNode(with[i], pair[0]), pair[1],
		onNode(with[i], pair[1]), times, launches(len(with)))
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
