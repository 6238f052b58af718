// This file observes services for the metrics of a launch, before and after it.

package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// observed are the observations of a service for the metrics of a launch.
type observed struct {
	began time.Time // of the launch, by the clock of the service's node
	pages [2]string // before and after the launch
	after agent.Observation
}

// observe observes the logs and metrics pages of services, before the launch's ranks start and after they have
// ended. A failure is the launch's.
func (v *services) observe(ctx context.Context, needs []workload.Service, after bool) (*results.Failure, error) {
	for _, n := range needs {
		x := v.find(n.Name)
		if !n.Observed || x == nil || x.failure != nil {
			continue
		}
		o, err := v.ask(ctx, x, !after)
		if err != nil {
			return nil, err
		}
		if o.Error != "" {
			return &results.Failure{Rank: -1, Node: x.node(), Phase: "ready", Kind: results.Fault,
				Cause: fmt.Sprintf("observing service %s: %s", x.Name, o.Error)}, nil
		}
		if after {
			x.observed.after, x.observed.pages[1] = o, string(o.Page)
		} else {
			x.observed.began, x.observed.pages[0] = o.At, string(o.Page)
		}
	}
	return nil, nil
}

// node is the node of a service; "": it was not started.
func (x *service) node() string {
	switch {
	case x.inCluster != nil:
		return coordinatorNode
	case x.task != nil:
		return x.task.nodes[0]
	}
	return ""
}

var errServiceSilent = errors.New("the agent of a service did not answer")

// ask requests an observation of a service: begin marks the beginning of a launch, otherwise the observation is
// since then.
func (v *services) ask(ctx context.Context, x *service, begin bool) (agent.Observation, error) {
	var answer agent.Observation
	if x.inCluster != nil {
		return v.observeInCluster(ctx, x, begin), nil
	}
	task := agent.ObserveTask{Log: x.logName, Begin: begin}
	if !begin {
		task.File, task.Before = x.facts.Proof, x.facts.Before
	}
	if x.Counts {
		task.Page = x.facts.Names["service."+x.Name+".url"] + "/metrics"
	}
	node := x.task.nodes[0]
	bounded, cancel := context.WithTimeoutCause(ctx, answerTimeout, errServiceSilent)
	defer cancel()
	v.observations++
	id := fmt.Sprintf("%sobserve-%d", ownTask, v.observations)
	work := map[string]agent.Task{node: {Redact: v.s.secrets, Observe: &task}}
	err := v.s.runTask(bounded, id, work, func(r agent.Report) bool {
		if r.Observation != nil {
			answer = *r.Observation
		} else if r.Outcome != nil && r.Outcome.Failure != nil {
			answer.Error = r.Outcome.Failure.Cause
		}
		return r.Observation != nil || r.Outcome != nil
	}, func(_, cause string) { answer.Error = "its agent is gone: " + cause })
	if errors.Is(err, errServiceSilent) {
		answer.Error, err = err.Error(), nil
	}
	return answer, err
}

func (v *services) observationsOf(needs []workload.Service) map[string]workload.Observation {
	all := map[string]workload.Observation{}
	for _, n := range needs {
		if x := v.find(n.Name); n.Observed && x != nil {
			o := x.observed
			all[n.Name] = workload.Observation{
				Matches: o.after.Matches, Tail: o.after.Tail, Unproven: o.after.Unproven, Began: o.began,
				Samples: o.after.Samples,
				Before:  o.pages[0], After: o.pages[1],
			}
		}
	}
	return all
}
