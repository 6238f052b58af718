package executor

import (
	"fmt"
	"slices"
	"strings"

	"weir/results"
	"weir/workload"
)

// reserve gives the services of a launch what of their nodes they have to themselves, before the
// ranks of the launch get theirs. A service that runs already keeps what it has.
func (v *services) reserve(l *launched, beside []*launched) error {
	held, kept := map[string][]results.Seat{}, map[string]results.Seat{}
	for _, x := range v.up {
		i := slices.IndexFunc(l.services, func(s workload.Service) bool { return s.Name == x.Name })
		switch {
		case x.task == nil || !has(x.seat):
		case i < 0:
			held[x.task.nodes[0]] = append(held[x.task.nodes[0]], x.seat)
		case l.services[i].Own == x.Own && l.services[i].Node == x.Node:
			kept[x.Name] = x.seat
		}
	}
	others := seatsTaken(beside)
	for node, seats := range held {
		others[node] = append(others[node], seats...)
	}
	seats, lacks := v.s.seatsOfServices(l.services, others, kept)
	if len(lacks) > 0 {
		return fmt.Errorf("missing: %s", strings.Join(lacks, "; "))
	}
	l.provided = seats
	l.held = heldBy(l.services, seats, v.s.hosts.Names())
	for node, seats := range held {
		l.held[node] = append(l.held[node], seats...)
	}
	return nil
}

// seatsOfServices are the seats of services, by name, beside those that others have, by node. Those
// that ask for something come first: what they leave is for the others. Those that are kept have theirs
// already.
func (s *session) seatsOfServices(all []workload.Service, others map[string][]results.Seat,
	kept map[string]results.Seat) (seats map[string]results.Seat, lacks []string) {
	nodes, taken := s.hosts.Names(), map[string][]results.Seat{}
	for node, held := range others {
		taken[node] = slices.Clone(held)
	}
	seats = map[string]results.Seat{}
	for _, want := range all {
		if seat, ok := kept[want.Name]; ok {
			seats[want.Name] = seat
			taken[nodes[want.Node]] = append(taken[nodes[want.Node]], seat)
		}
	}
	for _, asking := range []bool{true, false} {
		for _, want := range all {
			_, has := kept[want.Name]
			if has || (want.Own != workload.NothingOwn) != asking || want.Cluster != nil || want.Node >= len(nodes) {
				continue
			}
			node := nodes[want.Node]
			seat, short := s.hosts.Reserve(node, want.Own, taken[node])
			for _, what := range short {
				lacks = append(lacks, fmt.Sprintf("for service %s: %s", want.Name, what))
			}
			seats[want.Name] = seat
			if asking {
				taken[node] = append(taken[node], seat)
			}
		}
	}
	return seats, lacks
}

// heldBy is what services have to themselves, by node.
func heldBy(all []workload.Service, seats map[string]results.Seat, nodes []string) map[string][]results.Seat {
	held := map[string][]results.Seat{}
	for _, x := range all {
		if seat, ok := seats[x.Name]; ok && has(seat) {
			held[nodes[x.Node]] = append(held[nodes[x.Node]], seat)
		}
	}
	return held
}

// has says whether a process has something that others do not have.
func has(s results.Seat) bool { return s.CPUs != "" || len(s.GPUs)+len(s.NICs) > 0 }
