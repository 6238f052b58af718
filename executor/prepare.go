package executor

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"weir/engine"
	"weir/executor/ledger"
	"weir/planner"
	"weir/workload"
)

// prepare decides who runs the launch and with what, beside launches that run already.
func (s *session) prepare(g *ledger.Group, cases []*planner.Case, index int, beside ...*launched) (*launched, error) {
	l := &launched{s: s, g: g, index: index, cases: cases, id: fmt.Sprintf("%s-%d", s.ledger.GroupDir(g.ID), index)}
	l.engine = engine.Launch{ID: l.id, Index: l.index, Seed: s.seed(g.ID, l.index)}
	var needs workload.Demand
	for i, c := range cases {
		if i == 0 { // the cases of a launch have the same ones
			var err error
			if l.known, err = s.valuesFor(c, c.Deferred()); err != nil {
				return nil, fmt.Errorf("case %s: %w", c.Key, err)
			}
		}
		a, err := specOf(c, l.known)
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", c.Key, err)
		}
		l.asked, l.options, l.kind = append(l.asked, a.spec), append(l.options, a.options), a.Kind
		d := a.demand
		if i == 0 {
			needs, l.services, l.etcd = d, d.Services, d.Etcd
			names := slices.Clone(d.Values)
			for _, service := range d.Services {
				names = append(names, service.Values...)
			}
			if l.values, err = s.valuesFor(c, names); err != nil {
				return nil, err
			}
		}
		l.engine.Memory = memoryOf(a.Kind, l.engine.Memory, d.Memory)
		l.pending = append(l.pending, &pendingCase{
			parts: make([]*workload.Part, d.Ranks), files: make([]string, d.Ranks),
		})
	}
	l.engine.Names = l.values
	l.engine.Runner, l.engine.Ranks, l.engine.Threads = needs.Runner, needs.Ranks, needs.Threads
	d := s.demand(cases[0], needs)
	if err := s.services.reserve(l, beside); err != nil {
		return nil, err
	}
	d.Affine = d.Affine || s.affine(g, beside, l.held)
	if err := s.backendOf(cases[0]).place(l, d, beside); err != nil {
		return nil, err
	}
	shareCPUs([]*launched{l}, s.processors)
	choice := s.hosts.Choose(needs, l.engine.Nodes)
	l.engine.Fabric, l.engine.Options, l.why = choice.Fabric, choice.Options, choice.Reason
	l.ignored = unread(cases[0], needs, choice.Fabric)
	return l, l.encode()
}

// memoryOf adds what a case writes to before the ranks of a launch are ready: cases that are
// measured together have memory of their own, and others share theirs.
func memoryOf(kind *workload.Kind, before, bytes uint64) uint64 {
	if kind.Sequence != "" {
		return before + bytes
	}
	return max(before, bytes)
}

// encode writes the cases as ranks are told them.
func (l *launched) encode() error {
	var first int64
	if l.kind.Arrange != nil {
		first = int64(l.kind.Arrange(l.asked, time.Duration(l.cases[0].Timeout*float64(time.Second))))
	}
	for i, c := range l.cases {
		var large json.RawMessage
		if i > 0 {
			if spec, ok := l.asked[i].(workload.Large); ok && spec.SameLarge(l.asked[i-1]) {
				large = l.engine.Cases[i-1].Large
			}
		}
		out, err := engine.NewCase(c.Key, l.asked[i], time.Duration(c.Timeout*float64(time.Second)), large)
		if err != nil {
			return err
		}
		l.engine.Cases = append(l.engine.Cases, out)
	}
	l.engine.Cases[0].Before = first
	return nil
}

// seed gives every launch its own contents of blocks and, where it is simulated, its
// own noise: the same in every session of the scenario, whatever it asserts.
func (s *session) seed(group string, index int) uint64 {
	sum := sha256.Sum256([]byte(s.plan.Scenario.Name + "\x00" + group + "\x00" + strconv.Itoa(index)))
	return binary.BigEndian.Uint64(sum[:])
}
