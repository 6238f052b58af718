package epelastic

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/structure"
	"github.com/weir-bench/weir/workload"
)

const (
	maxRanks  = 256
	maxPhases = 256
)

// Operations in which a rank ends in a phase.
const (
	InDispatch = "dispatch"
	InCombine  = "combine"
	Idle       = "idle"
)

// Phase is a change of the group.
type Phase struct {
	Ranks []int  `json:"ranks"` // the group after the change
	Kill  []int  `json:"kill,omitempty"`
	Mute  []int  `json:"mute,omitempty"` // they stay alive and stop responding
	At    string `json:"at,omitempty"`   // operation in which those of Kill and Mute end; "": there are none
}

// Lost returns the ranks that do not leave in order.
func (p Phase) Lost() []int { return slices.Sorted(slices.Values(slices.Concat(p.Kill, p.Mute))) }

// Phases are the phases of a run.
type Phases []Phase

// Ranks returns the number of ranks over all phases.
func (p Phases) Ranks() int {
	most := 0
	for _, phase := range p {
		most = max(most, slices.Max(phase.Ranks)+1)
	}
	return most
}

// allRanks returns all ranks of any phase.
func (p Phases) allRanks() []int {
	list := make([]int, p.Ranks())
	for rank := range list {
		list[rank] = rank
	}
	return list
}

// Before returns the group at the start of a phase.
func (p Phases) Before(phase int) []int {
	if phase == 0 {
		return nil
	}
	return p[phase-1].Ranks
}

// Joined returns the ranks that join in a phase.
func (p Phases) Joined(phase int) []int {
	if phase == 0 {
		return nil // the first phase forms the group
	}
	return without(p[phase].Ranks, p.Before(phase))
}

// Left returns the ranks that leave in order in a phase.
func (p Phases) Left(phase int) []int {
	return without(p.Before(phase), slices.Concat(p[phase].Ranks, p[phase].Lost()))
}

func without(list, others []int) (rest []int) {
	for _, r := range list {
		if !slices.Contains(others, r) {
			rest = append(rest, r)
		}
	}
	return rest
}

// Lose reports whether a rank is killed or muted in any phase.
func (p Phases) Lose() bool {
	return slices.ContainsFunc(p, func(phase Phase) bool { return len(phase.Lost()) > 0 })
}

// Lives returns the processes of each rank.
func (p Phases) Lives() [][]workload.Life {
	lives := make([][]workload.Life, p.Ranks())
	for rank := range lives {
		first := -1
		for i, phase := range p {
			switch in := slices.Contains(phase.Ranks, rank); {
			case in && first < 0:
				first = i
			case !in && first >= 0:
				lives[rank] = append(lives[rank], workload.Life{
					First: first, Last: i, Killed: slices.Contains(phase.Kill, rank),
				})
				first = -1
			}
		}
		if first >= 0 {
			lives[rank] = append(lives[rank], workload.Life{First: first, Last: len(p) - 1})
		}
	}
	return lives
}

// check validates the phases.
func (p Phases) check() error {
	if len(p) == 0 || len(p) > maxPhases {
		return fmt.Errorf("%d phases, and there are 1 to %d", len(p), maxPhases)
	}
	for i := range p {
		if err := p.checkPhase(i); err != nil {
			return &structure.Error{Path: []string{strconv.Itoa(i)}, Err: err}
		}
	}
	for rank, lives := range p.Lives() {
		if len(lives) == 0 {
			return fmt.Errorf("rank %d is in no phase, but rank %d is: number ranks without gaps", rank, p.Ranks()-1)
		}
	}
	return nil
}

func (p Phases) checkPhase(i int) error {
	phase, before := p[i], p.Before(i)
	switch {
	case !slices.Contains(phase.Ranks, 0):
		return fmt.Errorf("rank 0 is missing: it leads the group and must be in each phase")
	case i == 0 && len(phase.Lost()) > 0:
		return fmt.Errorf("the first phase forms the group: no rank can be killed or muted in it")
	case len(slices.Compact(phase.Lost())) < len(phase.Lost()):
		return fmt.Errorf("a rank is killed or muted twice")
	}
	for _, r := range phase.Lost() {
		switch {
		case !slices.Contains(before, r):
			return fmt.Errorf("rank %d is killed or muted, and is not in the group of the phase before", r)
		case slices.Contains(phase.Ranks, r):
			return fmt.Errorf("rank %d is killed or muted and also in ranks, which are the group after the change: "+
				"leave it out of ranks; it can join again in a later phase", r)
		}
	}
	return nil
}

// parsePhases reads the JSON of option phases.
func parsePhases(text string) (Phases, error) {
	s, err := structure.Read(text)
	if err != nil {
		return nil, err
	}
	if s.Items == nil {
		return nil, fmt.Errorf("phases are a list with a mapping for each phase, not %s", s.What())
	}
	var p Phases
	for i, item := range s.Items {
		phase, err := readPhase(item, []string{strconv.Itoa(i)}, p)
		if err != nil {
			return nil, err
		}
		p = append(p, phase)
	}
	return p, p.check()
}

func readPhase(item *structure.Value, path []string, before Phases) (p Phase, err error) {
	if item.Pairs == nil {
		return p, structure.Wrong(path, "a phase is a mapping with ranks, kill, mute, leave and at, not %s",
			item.What())
	}
	var leave []int
	said := map[string]bool{}
	for _, pair := range item.Pairs {
		at := append(slices.Clone(path), pair.Key)
		said[pair.Key] = true
		list := map[string]*[]int{"ranks": &p.Ranks, "kill": &p.Kill, "mute": &p.Mute, "leave": &leave}[pair.Key]
		switch {
		case list != nil:
			if *list, err = readRanks(pair.Value, at); err != nil {
				return p, err
			}
		case pair.Key != "at":
			return p, structure.Wrong(path, "there is no %q in a phase, which has ranks, kill, mute, leave and at",
				pair.Key)
		case !slices.Contains([]string{InDispatch, InCombine, Idle}, pair.Value.Text):
			return p, structure.Wrong(at, "%s is not one of %s, %s, %s", pair.Value.Flow(), InDispatch, InCombine, Idle)
		default:
			p.At = pair.Value.Text
		}
	}
	return p, p.complete(path, said, leave, before)
}

// complete fills in what a phase leaves out.
func (p *Phase) complete(path []string, said map[string]bool, leave []int, before Phases) error {
	var group []int
	if len(before) > 0 {
		group = before[len(before)-1].Ranks
	}
	gone := slices.Concat(p.Lost(), leave)
	switch {
	case said["ranks"] && len(p.Ranks) == 0:
		return structure.Wrong(append(path, "ranks"), "the group has no ranks")
	case !said["ranks"] && len(before) == 0:
		return structure.Wrong(path, "the first phase needs ranks")
	case !said["ranks"] && len(gone) == 0:
		return structure.Wrong(path, "no rank joins, leaves, or is killed or muted in it: give its ranks")
	case !said["ranks"]:
		p.Ranks = without(group, gone)
	}
	for _, r := range leave {
		if !slices.Contains(group, r) || slices.Contains(p.Ranks, r) || slices.Contains(p.Lost(), r) {
			return structure.Wrong(append(path, "leave"),
				"rank %d leaves, so it is in the group of the phase before, and neither in ranks nor killed or muted",
				r)
		}
	}
	if left := without(group, slices.Concat(p.Ranks, p.Lost(), leave)); said["leave"] && len(left) > 0 {
		return structure.Wrong(append(path, "leave"), "rank %d is not in it, and neither in ranks nor killed or muted",
			left[0])
	}
	if len(p.Lost()) == 0 && said["at"] {
		return structure.Wrong(append(path, "at"), "no rank is killed or muted in this phase")
	}
	if len(p.Lost()) > 0 && p.At == "" {
		p.At = InDispatch
	}
	return nil
}

// readRanks reads a rank, a range of ranks as 0..3, or a list of both.
func readRanks(s *structure.Value, path []string) (list []int, err error) {
	if s.Pairs != nil {
		return nil, structure.Wrong(path, "it is a rank, a range as 0..3 or a list of them, not a mapping")
	}
	items := s.Items
	if s.IsText() {
		items = []*structure.Value{s}
	}
	for _, item := range items {
		first, last, isRange := strings.Cut(item.Text, "..")
		if !isRange {
			last = first
		}
		a, errA := strconv.Atoi(strings.TrimSpace(first))
		b, errB := strconv.Atoi(strings.TrimSpace(last))
		if !item.IsText() || errA != nil || errB != nil || a < 0 || b < a || b >= maxRanks {
			return nil, structure.Wrong(path, "%s is no rank from 0 to %d and no range of them as 0..3", item.Flow(),
				maxRanks-1)
		}
		for r := a; r <= b; r++ {
			if slices.Contains(list, r) {
				return nil, structure.Wrong(path, "rank %d is given twice", r)
			}
			list = append(list, r)
		}
	}
	slices.Sort(list)
	return list, nil
}

// canonicalPhases formats option phases canonically.
func canonicalPhases(text string) (string, error) {
	p, err := parsePhases(text)
	if err != nil {
		return "", err
	}
	return p.Structure().JSON(), nil
}

// Structure returns the value of option phases for these phases.
func (p Phases) Structure() *structure.Value {
	all := &structure.Value{Items: []*structure.Value{}}
	for _, phase := range p {
		item := &structure.Value{Pairs: []structure.Pair{{Key: "ranks", Value: ranksText(phase.Ranks)}}}
		for _, part := range []struct {
			key  string
			list []int
		}{{"kill", phase.Kill}, {"mute", phase.Mute}} {
			if len(part.list) > 0 {
				item.Pairs = append(item.Pairs, structure.Pair{Key: part.key, Value: ranksText(part.list)})
			}
		}
		if phase.At != "" {
			item.Pairs = append(item.Pairs, structure.Pair{Key: "at", Value: &structure.Value{Text: phase.At}})
		}
		all.Items = append(all.Items, item)
	}
	return all
}

// ranksText formats ascending ranks, with ranges for three or more consecutive ones.
func ranksText(list []int) *structure.Value {
	out := &structure.Value{Items: []*structure.Value{}}
	for i := 0; i < len(list); {
		n := 1
		for i+n < len(list) && list[i+n] == list[i]+n {
			n++
		}
		if n < 3 {
			n = 1
		}
		text := strconv.Itoa(list[i])
		if n > 1 {
			text += ".." + strconv.Itoa(list[i+n-1])
		}
		out.Items = append(out.Items, &structure.Value{Text: text})
		i += n
	}
	return out
}

// ParsePlan reads a plan of NIXL's elastic test: a list of phases, each the ranks of its group. A rank with a minus
// sign is killed in the phase.
func ParsePlan(content []byte) (Phases, error) {
	var plan [][]json.Number
	if err := json.Unmarshal(content, &plan); err != nil {
		return nil, fmt.Errorf("a plan is a JSON list of phases, each a list of ranks: %w", err)
	}
	var p Phases
	for i, list := range plan {
		phase := Phase{Ranks: []int{}}
		for _, number := range list {
			text, killed := strings.CutPrefix(number.String(), "-")
			rank, err := strconv.Atoi(text)
			switch {
			case err != nil || rank >= maxRanks:
				return nil, fmt.Errorf("phase %d: %s is no rank from 0 to %d", i, number, maxRanks-1)
			case slices.Contains(phase.Ranks, rank) || slices.Contains(phase.Kill, rank):
				return nil, fmt.Errorf("phase %d has rank %d twice", i, rank)
			case killed:
				phase.Kill = append(phase.Kill, rank)
			default:
				phase.Ranks = append(phase.Ranks, rank)
			}
		}
		slices.Sort(phase.Ranks)
		slices.Sort(phase.Kill)
		if len(phase.Kill) > 0 {
			phase.At = InDispatch
		}
		if len(phase.Ranks) == 0 {
			return nil, fmt.Errorf("phase %d leaves no rank in the group", i)
		}
		p = append(p, phase)
	}
	if wrong, ok := errors.AsType[*structure.Error](p.check()); ok {
		return nil, fmt.Errorf("phase %s: %w", strings.Join(wrong.Path, "."), wrong.Err)
	}
	return p, p.check()
}
