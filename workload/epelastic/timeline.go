package epelastic

import (
	"cmp"
	"slices"

	"github.com/weir-bench/weir/results"
)

// timeline returns the moments of the phase for a document.
func (d *measured) timeline() *results.Timeline {
	t := &results.Timeline{Moments: []results.Moment{}, Steps: []results.GroupStep{}}
	at := func(instant int64) float64 { return max(0, float64(instant-d.led.Began)*ns) }
	note := func(instant int64, what string, rank, by int, took int64) {
		t.Moments = append(t.Moments, results.Moment{
			At: at(instant), What: what, Rank: rank, By: by, Took: float64(took) * ns,
		})
	}
	phases, i := d.s.Phases, int(d.s.Phase)
	last := d.led.Changes[len(d.led.Changes)-1]
	for _, c := range d.led.Changes {
		if c.Order != 0 {
			note(c.Order, "order", -1, -1, 0)
			note(c.Connected, "regrouped", -1, -1, 0)
		}
	}
	for _, r := range phases.Joined(i) {
		note(last.Connected, "joined", r, -1, 0)
	}
	for _, r := range phases.Left(i) {
		note(d.led.Changes[min(1, len(d.led.Changes)-1)].Order, "left", r, -1, 0)
	}
	for rank, e := range d.ended {
		note(e.At, "killed", rank, -1, 0)
	}
	for rank, p := range d.parts {
		if p.Muted != 0 {
			note(p.Muted, "muted", rank, -1, 0)
		}
		for _, k := range p.Masks {
			note(k.At, "noticed", k.Rank, rank, 0)
		}
	}
	for _, p := range d.led.Prepared {
		note(p[0], "prepare", -1, -1, p[1]-p[0])
	}
	slices.SortFunc(t.Moments, func(a, b results.Moment) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.What, b.What), cmp.Compare(a.Rank, b.Rank),
			cmp.Compare(a.By, b.By))
	})
	t.Steps = d.groupSteps(at)
	return t
}

// groupSteps groups the steps of the ranks of each group: equally many complete ones, except that some ranks may have
// completed the last one when another rank was lost.
func (d *measured) groupSteps(at func(int64) float64) []results.GroupStep {
	all := []results.GroupStep{}
	for group, c := range d.led.Changes {
		var lists [][]Step
		for _, r := range c.Ranks {
			if p := d.parts[r]; p != nil {
				lists = append(lists, slices.DeleteFunc(slices.Clone(p.Steps),
					func(s Step) bool { return s.Group != int64(group) }))
			}
		}
		for k := 0; !slices.ContainsFunc(lists, func(l []Step) bool { return k >= len(l) }); k++ {
			from, to := lists[0][k].Start, lists[0][k].End
			for _, list := range lists[1:] {
				from, to = min(from, list[k].Start), max(to, list[k].End)
			}
			all = append(all, results.GroupStep{At: at(from), Took: float64(to-from) * ns, Ranks: len(c.Ranks)})
		}
	}
	return all[:min(len(all), results.MostGroupSteps)]
}
