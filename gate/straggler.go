package gate

import (
	"cmp"
	"maps"
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// stragglerThreshold is the share of the others' median from which on a rank is not a straggler.
const stragglerThreshold = 0.95

// stragglers names the rank that was slowest in most launches and the node with slow ranks, with the value
// expected if they were as fast as the others' median. None unless the subject is a bandwidth of several
// ranks.
func (check boundCheck) stragglers(e estimate) []results.Reason {
	if check.own == nil || check.subject.Op != assertion.Metric || check.fromRanks() == "" {
		return nil
	}
	var with []*results.Launch
	for _, l := range byIndex(check.own.Succeeded()) {
		if len(l.Ranks) > 1 {
			with = append(with, l)
		}
	}
	if len(with) == 0 {
		return nil
	}
	rank, times := mostFrequent(with, func(l *results.Launch) int { return slowestOf(l).Rank })
	node := ""
	var own []float64
	var others []remainder
	for _, l := range with {
		s := slowestOf(l)
		if s.Rank != rank {
			continue
		}
		node = onNode(l, rank)
		own = append(own, s.Bandwidth)
		if l.Initiators <= len(l.Ranks) {
			others = append(others, check.withoutRanks(l, func(o results.RankShare) bool { return o.Rank == rank }))
		}
	}
	slowest := results.Because(results.RankSlowest, results.Count("rank", rank, ""), results.Text("node", node),
		results.Count("times", times, ""), launched(len(with)), gbps("median", median(own)))
	if len(others) > 0 {
		says, standsOut := check.speedWithoutStragglers(e, median(own), others)
		if slowest.Values = append(slowest.Values, says...); !standsOut {
			slowest.Values = append(slowest.Values, results.Text("beside", "no rank stands out"))
		}
	}
	return []results.Reason{slowest, check.slowestNode(e, with), slowestPair(with)}
}

// fromRanks is the rule by which the subject, a metric, follows from the bandwidths of ranks.
func (check boundCheck) fromRanks() results.RankRule {
	m, _ := check.metrics.Metric(check.own, check.subject.Metric)
	return m.FromRanks
}

// slowestNode names the node with the lowest median in most launches; none if it is not slower than the
// others, or has a single rank.
func (check boundCheck) slowestNode(e estimate, with []*results.Launch) results.Reason {
	with = slices.DeleteFunc(slices.Clone(with), func(l *results.Launch) bool {
		return l.Initiators > len(l.Ranks) || len(bandwidthsByNode(l)) < 2
	})
	if len(with) == 0 {
		return results.Reason{}
	}
	name, times := mostFrequent(with, func(l *results.Launch) string {
		at := bandwidthsByNode(l)
		return slices.MinFunc(slices.Sorted(maps.Keys(at)),
			func(a, b string) int { return cmp.Compare(median(at[a]), median(at[b])) })
	})
	var own []float64
	var others []remainder
	ranks := 0
	for _, l := range with {
		mine := bandwidthsByNode(l)[name]
		if len(mine) == 0 {
			continue
		}
		ranks = max(ranks, len(mine))
		own = append(own, median(mine))
		others = append(others, check.withoutRanks(l, func(o results.RankShare) bool {
			return l.Nodes[o.Rank] == name
		}))
	}
	says, standsOut := check.speedWithoutStragglers(e, median(own), others)
	if !standsOut || ranks < 2 {
		return results.Reason{}
	}
	return results.Because(results.NodeSlowest, append([]results.Value{
		results.Text("node", name), results.Count("times", times, ""), launched(len(with)), gbps("median",
			median(own)),
	}, says...)...)
}

// bandwidthsByNode groups the ranks' bandwidths by node; nil if their nodes are unknown.
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

// speedWithoutStragglers compares the slow ranks with the others, and predicts the value without them;
// standsOut is false if they are not slow.
func (check boundCheck) speedWithoutStragglers(
	e estimate, own float64, others []remainder,
) (values []results.Value, standsOut bool) {
	var like, gains []float64
	for _, o := range others {
		like, gains = append(like, o.median), append(gains, o.gain)
	}
	values = []results.Value{gbps("others", median(like))}
	if own >= stragglerThreshold*median(like) {
		return values, false
	}
	if check.fromRanks() != results.EachRank {
		values = append(values, gbps("would", e.center*median(gains)))
	}
	return values, true
}

func gbps(name string, v float64) results.Value { return results.Number(name, v, "GB/s") }

// slowestOf is the rank with the lowest bandwidth, the first of equals.
func slowestOf(l *results.Launch) results.RankShare {
	slowest := l.Ranks[0]
	for _, s := range l.Ranks {
		if s.Bandwidth < slowest.Bandwidth || s.Bandwidth == slowest.Bandwidth && s.Rank < slowest.Rank {
			slowest = s
		}
	}
	return slowest
}

// remainder is a launch without some of its ranks.
type remainder struct {
	median float64 // of the other ranks, GB/s
	gain   float64 // relative growth of the total if the removed ranks were as fast
}

// withoutRanks removes ranks from a launch.
func (check boundCheck) withoutRanks(l *results.Launch, out func(results.RankShare) bool) remainder {
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
	if check.fromRanks() == results.SumOfRanks {
		return remainder{like, (sum + like*float64(len(l.Ranks)-len(others))) / (sum + left)}
	}
	for _, s := range l.Ranks {
		if out(s) {
			without = max(without, s.Seconds*s.Bandwidth/like)
		}
	}
	return remainder{like, longest / without}
}

// slowestPair names the pair of ranks that was slowest in most launches of a matrix.
func slowestPair(all []*results.Launch) results.Reason {
	with := slices.DeleteFunc(slices.Clone(all), func(l *results.Launch) bool { return l.SlowestPair == nil })
	if len(with) == 0 {
		return results.Reason{}
	}
	pair, times := mostFrequent(with, func(l *results.Launch) [2]int {
		return [2]int{l.SlowestPair.From, l.SlowestPair.To}
	})
	i := slices.IndexFunc(with, func(l *results.Launch) bool {
		return l.SlowestPair.From == pair[0] && l.SlowestPair.To == pair[1]
	})
	return results.Because(results.PairSlowest, results.Count("from", pair[0], ""),
		results.Text("from_node", onNode(with[i], pair[0])), results.Count("to", pair[1], ""),
		results.Text("to_node", onNode(with[i], pair[1])), results.Count("times", times, ""), launched(len(with)))
}

// mostFrequent is the most frequent value over launches, the first of equals.
func mostFrequent[T comparable](all []*results.Launch, of func(*results.Launch) T) (most T, times int) {
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
	return l.Nodes[rank]
}
