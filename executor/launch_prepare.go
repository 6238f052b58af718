// This file prepares a launch: it reads the options of cases, places the launch (backend.go), encodes it, and starts
// its ranks; their reports come to launchRun.handleReport in launch.go.

package executor

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/workload"
)

// prepare places a launch next to those that run already, and encodes it for its nodes.
func (s *session) prepare(g *ledger.Group, cases []*planner.Case, index int,
	concurrent ...*launchRun) (*launchRun, error) {
	l := &launchRun{s: s, g: g, index: index, cases: cases, id: fmt.Sprintf("%s-%d", s.ledger.GroupDir(g.ID), index)}
	l.engine = engine.Launch{ID: l.id, Index: l.index, Seed: s.seed(g.ID, l.index)}
	var needs workload.Demand
	for i, c := range cases {
		if i == 0 { // the cases of a launch use the same values
			var err error
			if l.optionValues, err = s.valuesFor(c, c.Deferred()); err != nil {
				return nil, fmt.Errorf("case %s: %w", c.Key, err)
			}
		}
		a, err := specOf(c, l.optionValues)
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", c.Key, err)
		}
		l.specs, l.options, l.kind = append(l.specs, a.spec), append(l.options, a.options), a.Kind
		d := a.demand
		if i == 0 {
			needs, l.services, l.etcd = d, d.Services, d.Etcd
			names := slices.Clone(d.Values)
			for _, service := range d.Services {
				names = append(names, service.Values...)
			}
			if l.textValues, err = s.valuesFor(c, names); err != nil {
				return nil, err
			}
		}
		if a.Kind.Sequence != "" {
			l.engine.Memory += d.Memory
		} else { // cases use the same memory
			l.engine.Memory = max(l.engine.Memory, d.Memory)
		}
		l.pending = append(l.pending, &pendingCase{
			parts: make([]*workload.Part, d.Ranks), files: make([]string, d.Ranks),
		})
	}
	l.engine.Names = l.textValues
	l.engine.Runner, l.engine.Ranks, l.engine.Threads = needs.Runner, needs.Ranks, needs.Threads
	d := s.demand(cases[0], needs)
	if err := s.services.reserve(l, concurrent); err != nil {
		return nil, err
	}
	d.Affine = d.Affine || s.needsOwnCPUs(g, concurrent, l.reserved)
	if err := s.backendOf(cases[0]).place(l, d, concurrent); err != nil {
		return nil, err
	}
	shareCPUs([]*launchRun{l}, s.processors)
	choice := s.nodes.Choose(needs, l.engine.Nodes)
	l.engine.Fabric, l.engine.Options, l.fabricReason = choice.Fabric, choice.Options, choice.Reason
	l.ignored = unusedVariables(cases[0], needs, choice.Fabric)
	return l, l.encode()
}

// encode writes the cases in the form that ranks read.
func (l *launchRun) encode() error {
	var first int64
	if a, ok := l.kind.Behaviour.(workload.Arranger); ok {
		first = int64(a.Arrange(l.specs, toDuration(l.cases[0].Timeout)))
	}
	for i, c := range l.cases {
		var large json.RawMessage
		if i > 0 {
			if spec, ok := l.specs[i].(workload.Large); ok && spec.SameLarge(l.specs[i-1]) {
				large = l.engine.Cases[i-1].Large
			}
		}
		out, err := engine.NewCase(c.Key, l.specs[i], toDuration(c.Timeout), large)
		if err != nil {
			return err
		}
		l.engine.Cases = append(l.engine.Cases, out)
	}
	l.engine.Cases[0].Before = first
	return nil
}

// seed is the seed of a launch's data and simulated noise. It is the same in every session of the scenario.
func (s *session) seed(group string, index int) uint64 {
	sum := sha256.Sum256([]byte(s.plan.Scenario.Name + "\x00" + group + "\x00" + strconv.Itoa(index)))
	return binary.BigEndian.Uint64(sum[:])
}

// valuesFor evaluates names that a case uses: expressions over medians of other runs, in metric units.
func (s *session) valuesFor(c *planner.Case, names []string) (map[string]string, error) {
	all := map[string]string{}
	for _, name := range names {
		var err error
		if all[name], err = s.plan.Value(c, name, s.ledger.MedianOf); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// startRanks starts the ranks on their nodes.
func (l *launchRun) startRanks(ctx context.Context) {
	work, err := l.tasks()
	if err == nil {
		l.task, err = l.s.startTask(ctx, l.id, work, l.engine.Nodes, l.handleReport, l.nodeLost)
	}
	l.packed = nil // it may be long, and background launches are kept
	l.err = cmp.Or(l.err, err)
}

// tasks are the launch's tasks, by node.
func (l *launchRun) tasks() (map[string]agent.Task, error) {
	ranks := map[string][]int{}
	for r, node := range l.engine.Nodes {
		ranks[node] = append(ranks[node], r)
	}
	work := make(map[string]agent.Task, len(ranks))
	dir, logs := l.s.ledger.GroupDir(l.g.ID), map[string][]string{}
	env, err := l.cases[0].SettledEnv(l.optionValues)
	if err != nil {
		return nil, err
	}
	for node, list := range ranks {
		work[node] = agent.Task{Redact: l.s.secrets, Launch: &agent.LaunchTask{
			Packed: l.packed, Ranks: list, Env: env, Unset: l.cases[0].Unset, Secrets: l.cases[0].Secrets, LogDir: dir,
			Deadlines: phases(l.s.ledger.Run(l.g.Run).Phases), CPUs: l.cpus[node], Bindings: l.bindingsOf(list),
			Etcd: l.etcd,
		}}
		for _, rank := range list {
			log := agent.RankLog(dir, l.engine.Index, rank)
			logs[node] = append(logs[node], log)
			if rank == 0 {
				l.firstLog = log
			}
		}
	}
	l.s.expectLogs(l.id, logs)
	return work, nil
}

// phases are the deadlines that a run sets.
func phases(p map[string]float64) agent.Deadlines {
	return agent.Deadlines{
		Ready: toDuration(p["ready"]), Connect: toDuration(p["connect"]), Teardown: toDuration(p["teardown"]),
		Run: toDuration(p["run"]), Verify: toDuration(p["verify"]),
	}
}

// specOf reads the options of a case, from the planner or from a plan file. known are the values of the names
// in deferred options; nil: they are not known yet, and the workload assumes some.
func specOf(c *planner.Case, known map[string]string) (caseSpec, error) {
	kind, ok := workload.Lookup(c.Workload)
	if !ok {
		return caseSpec{}, fmt.Errorf("this weir has no workload %q", c.Workload)
	}
	values, err := kind.Normalize(c.Options)
	if err == nil && known != nil {
		values, err = kind.Resolve(values, known)
	}
	if err != nil {
		return caseSpec{}, err
	}
	a := caseSpec{Kind: kind, options: values}
	err = kind.Assume(values, func(v option.Values) (err error) {
		a.spec, err = kind.Spec(v)
		return err
	})
	if err != nil {
		return a, err
	}
	a.demand = a.spec.Demand()
	if kind.Services != nil && kind.Services.Beside != nil {
		var extra []workload.Service
		if extra, err = kind.Services.Beside(values); err != nil {
			return a, err
		}
		a.demand.Services = slices.Concat(a.demand.Services, extra)
	}
	return a, nil
}

// caseSpec is a case with its options read.
type caseSpec struct {
	*workload.Kind
	spec    workload.Spec
	options option.Values
	demand  workload.Demand
}

// cachedDemand is the demand of a case, or the error of its options.
type cachedDemand struct {
	demand workload.Demand
	err    error
}

// demandOf is what a case needs of the cluster, cached.
func (s *session) demandOf(c *planner.Case) (workload.Demand, error) {
	if d, known := s.demands[c]; known {
		return d.demand, d.err
	}
	a, err := specOf(c, nil)
	s.demands[c] = cachedDemand{a.demand, err}
	return a.demand, err
}
