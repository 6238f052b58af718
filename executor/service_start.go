package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"time"

	"weir/engine"
	"weir/executor/agent"
	"weir/executor/cluster"
	"weir/executor/event"
	"weir/executor/ledger"
	"weir/logwatch"
	"weir/results"
	"weir/workload"
)

// start places a service on its node.
func (v *services) start(ctx context.Context, want workload.Service, l *launched) (*service, error) {
	nodes := v.s.hosts.Names()
	x := &service{
		Service: want, values: valuesOf(want, l),
		key: keyOf(want.Fresh, l), users: map[string]bool{}, started: time.Now(),
		seat: l.provided[want.Name],
	}
	v.up = append(v.up, x)
	number := v.s.ledger.FormerServices() + v.starts
	v.starts++
	dir := filepath.Join("services", ledger.DirName(want.Name))
	x.logName = agent.RankLog(dir, number, 0)
	x.log = filepath.Join("logs", x.logName)
	if want.Cluster != nil {
		return x, v.startInCluster(ctx, x, l, number)
	}
	if want.Node >= len(nodes) {
		x.failure = &results.Failure{Rank: -1, Phase: "ready", Kind: results.Fault,
			Cause: fmt.Sprintf("service %s is to be on node %d, counted from 0, and the session has %d", want.Name,
				want.Node, len(nodes))}
		return x, nil
	}
	node := nodes[want.Node]
	id := fmt.Sprintf("%sservice-%s-%d", ownTask, ledger.DirName(want.Name), number)
	task, text, err := v.describe(want, l,
		engine.Launch{ID: id, Index: number, Runner: want.Runner, Ranks: 1, Threads: 1, Nodes: []string{node}}, dir)
	if err != nil {
		return nil, err
	}
	v.s.ledger.Events.Emit(event.Event{Type: event.ServiceStarted, Service: want.Name, Node: node, Of: x.key})
	host, err := v.s.cluster.Host(ctx, id, []string{node})
	if err != nil {
		return nil, err
	}
	gone := func(node, cause string) {
		x.end(&results.Failure{
			Rank: -1, Node: node, Phase: "run", Kind: results.NodeLost,
			Cause: fmt.Sprintf("service %s: the node's agent is gone: %s", x.Name, cause),
		})
	}
	v.s.expect(id, map[string][]string{node: {x.logName}})
	if x.task, err = v.s.start(ctx, id, map[string][]byte{node: task}, text, x.take(v.s), gone); err != nil {
		host.Close()
		return nil, err
	}
	x.task.host = host
	return x, nil
}

// describe writes the task of a service, and what its rank is told: the first case ends when
// it is ready, the second never.
func (v *services) describe(want workload.Service, l *launched, e engine.Launch, dir string) ([]byte, *shared, error) {
	never := time.Duration(math.MaxInt64 / 4)
	e.Names, e.Alone = map[string]string{}, v.s.alone()
	maps.Copy(e.Names, l.values)
	for _, other := range v.up {
		if other.facts != nil {
			maps.Copy(e.Names, other.facts.Names)
		}
	}
	for _, limit := range []time.Duration{want.Ready + readySlack, never} {
		e.Cases = append(e.Cases, engine.Case{Spec: want.Spec, Timeout: int64(limit)})
	}
	packed, err := agent.Pack(e)
	if err != nil {
		return nil, nil, err
	}
	all := &shared{cluster.TextFor(packed, 1), packed}
	var seats []results.Seat
	if seat := l.provided[want.Name]; !seat.Empty() {
		seats = []results.Seat{seat}
	}
	var watch *logwatch.Spec
	if want.Observed {
		watch = &want.Watch
	}
	spec, err := agent.Task{Redact: v.s.secrets, Launch: &agent.LaunchTask{
		Text: all.where, Ranks: []int{0}, Seats: seats, Secrets: l.cases[0].Secrets, LogDir: dir,
		Etcd: want.Etcd, Watch: watch,
		Deadlines: agent.Deadlines{Grace: want.Stop + stopSlack/2, Run: never, Stall: never},
	}}.Encode()
	return spec, all, err
}

// take takes the reports of a service.
func (x *service) take(s *session) func(agent.Report) bool {
	return func(r agent.Report) bool {
		switch {
		case r.Result != nil && x.facts == nil:
			facts := &workload.ServiceFacts{}
			if err := json.Unmarshal(r.Result.Part.Facts, facts); err != nil {
				x.end(&results.Failure{
					Rank: -1, Node: r.Node, Phase: "ready", Kind: results.Fault,
					Cause: fmt.Sprintf("service %s: %v", x.Name, err),
				})
				return false
			}
			x.facts = facts
			s.ledger.Events.Emit(event.Event{
				Type: event.ServiceReady, Service: x.Name, Node: r.Node, Seconds: facts.Seconds,
			})
		case r.Outcome != nil:
			f := r.Outcome.Failure
			if f == nil {
				f = &results.Failure{
					Node: r.Node, Phase: "run", Kind: results.Crashed, Cause: fmt.Sprintf("service %s ended", x.Name),
				}
			}
			own := *f
			own.Rank, own.Kind = -1, results.Crashed
			if x.facts == nil {
				own.Phase, own.Kind = "ready", results.FailedReady
			}
			x.end(&own)
			return true
		}
		return false
	}
}

// end takes note of a service's end. One that was told to has not failed.
func (x *service) end(f *results.Failure) {
	if !x.stopping && x.failure == nil {
		x.failure = f
	}
}
