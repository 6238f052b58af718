// This file starts a service as a process of a node.

package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/internal/logwatch"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

func (v *services) start(ctx context.Context, spec workload.Service, l *launchRun) (*service, error) {
	nodes := v.s.nodes.Names()
	x := &service{
		Service: spec, values: valuesOf(spec, l),
		key: freshnessKey(spec.Fresh, l), users: map[string]bool{}, started: time.Now(),
		binding: l.serviceBindings[spec.Name],
	}
	v.up = append(v.up, x)
	number := v.s.ledger.PastServices() + v.starts
	v.starts++
	dir := filepath.Join("services", ledger.DirName(spec.Name))
	x.logName = agent.RankLog(dir, number, 0)
	x.log = filepath.Join("logs", x.logName)
	if spec.Cluster != nil {
		return x, v.startInCluster(ctx, x, l, number)
	}
	if spec.Node >= len(nodes) {
		x.failure = &results.Failure{Rank: -1, Phase: "ready", Kind: results.Fault,
			Cause: fmt.Sprintf("service %s: node %d, counted from 0, does not exist: the session has %d", spec.Name,
				spec.Node, len(nodes))}
		return x, nil
	}
	node := nodes[spec.Node]
	id := fmt.Sprintf("%sservice-%s-%d", ownTask, ledger.DirName(spec.Name), number)
	task, err := v.taskOf(spec, l,
		engine.Launch{ID: id, Index: number, Runner: spec.Runner, Ranks: 1, Threads: 1, Nodes: []string{node}}, dir)
	if err != nil {
		return nil, err
	}
	v.s.ledger.Events.Emit(event.Event{Type: event.ServiceStarted, Service: spec.Name, Node: node, Of: x.key})
	onNodeLost := func(node, cause string) {
		x.fail(node, "run", results.NodeLost, errors.New("the node's agent is gone: "+cause))
	}
	logs := []string{x.logName}
	if spec.Sampled.GPUMemory {
		logs = append(logs, agent.GPUMemoryLog(x.logName))
	}
	v.s.expectLogs(id, map[string][]string{node: logs})
	x.task, err = v.s.startTask(ctx, id, map[string]agent.Task{node: task}, nil, x.reportHandler(v.s), onNodeLost)
	if err != nil {
		return nil, err
	}
	return x, nil
}

// starting is the time since the first start of services that were not started before a time; 0: all were.
func (v *services) starting(needs []workload.Service, from time.Time) (took time.Duration) {
	for _, n := range needs {
		if x := v.find(n.Name); x != nil && !x.started.Before(from) {
			took = max(took, time.Since(x.started))
		}
	}
	return took
}

// taskOf is the task of a service. Its rank has two cases: the first ends when the service is ready, the second
// when it is stopped.
func (v *services) taskOf(spec workload.Service, l *launchRun, e engine.Launch, dir string) (agent.Task, error) {
	never := time.Duration(math.MaxInt64 / 4)
	e.Names, e.Alone = v.knownNames(l), v.s.singleHost()
	for _, limit := range []time.Duration{spec.Ready + readySlack, never} {
		e.Cases = append(e.Cases, engine.Case{Spec: spec.Spec, Timeout: int64(limit)})
	}
	packed, err := agent.Pack(e)
	if err != nil {
		return agent.Task{}, err
	}
	var bindings []results.Binding
	if b := l.serviceBindings[spec.Name]; !b.Empty() {
		bindings = []results.Binding{b}
	}
	var watch *logwatch.Spec
	if spec.Observed {
		watch = &spec.Watch
	}
	return agent.Task{Redact: v.s.secrets, Launch: &agent.LaunchTask{
		Packed: packed, Ranks: []int{0}, Bindings: bindings, Secrets: l.cases[0].Secrets, LogDir: dir,
		Etcd: spec.Etcd, Watch: watch, Sampled: spec.Sampled,
		Deadlines: agent.Deadlines{Grace: spec.Stop + stopSlack/2, Run: never, Stall: never},
	}}, nil
}

func (x *service) reportHandler(s *session) func(agent.Report) bool {
	return func(r agent.Report) bool {
		switch {
		case r.Result != nil && x.facts == nil:
			facts := &workload.ServiceFacts{}
			if err := json.Unmarshal(r.Result.Part.Facts, facts); err != nil {
				x.fail(r.Node, "ready", results.Fault, err)
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
			if of := fmt.Sprintf("service %s", x.Name); !strings.HasPrefix(own.Cause, of) {
				own.Cause = of + ": " + own.Cause // such as that of a process of weir that was killed
			}
			if x.facts == nil {
				own.Phase, own.Kind = "ready", results.FailedReady
			}
			x.end(&own)
			return true
		}
		return false
	}
}

// fail records the failure of a service, unless it is being stopped.
func (x *service) fail(node, phase, kind string, err error) {
	x.end(&results.Failure{
		Rank: -1, Node: node, Phase: phase, Kind: kind, Cause: fmt.Sprintf("service %s: %v", x.Name, err),
	})
}

// end records the end of a service as a failure, unless it is being stopped.
func (x *service) end(f *results.Failure) {
	if !x.stopping && x.failure == nil {
		x.failure = f
	}
}
