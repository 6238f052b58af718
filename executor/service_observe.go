package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"weir/executor/agent"
	"weir/results"
	"weir/workload"
)

// observed is what is known of a service for the metrics of launches.
type observed struct {
	began time.Time // of the launch, by the clock of the service's node
	pages [2]string
	after agent.Observation
}

// observe looks at the services whose logs or pages have metrics of the launch, before its
// ranks start and after they have ended. A failure is that of the launch.
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
				Cause: fmt.Sprintf("looking at service %s: %s", x.Name, o.Error)}, nil
		}
		if after {
			x.seen.after, x.seen.pages[1] = o, string(o.Page)
		} else {
			x.seen.began, x.seen.pages[0] = o.At, string(o.Page)
		}
	}
	return nil, nil
}

// node is where a service is.
func (x *service) node() string {
	if x.inCluster != nil {
		return here
	}
	return x.task.nodes[0]
}

var errSilentService = errors.New("the agent of a service did not answer")

// ask has the agent of a service say what was seen of it since the launch began, or that this is now,
// and what it counts.
func (v *services) ask(ctx context.Context, x *service, begin bool) (agent.Observation, error) {
	var answer agent.Observation
	if x.inCluster != nil {
		return v.observeInCluster(ctx, x, begin), nil
	}
	task := agent.ObserveTask{Log: x.logName, Begin: begin}
	if !begin {
		task.File = x.facts.Proof
	}
	if x.Counts {
		task.Page = x.facts.Names["service."+x.Name+".url"] + "/metrics"
	}
	spec, err := agent.Task{Redact: v.s.secrets, Observe: &task}.Encode()
	if err != nil {
		return answer, err
	}
	node := x.task.nodes[0]
	bounded, cancel := context.WithTimeoutCause(ctx, answerTime, errSilentService)
	defer cancel()
	v.looks++
	id := fmt.Sprintf("%sobserve-%d", ownTask, v.looks)
	err = v.s.task(bounded, id, map[string][]byte{node: spec}, func(r agent.Report) bool {
		if r.Observation != nil {
			answer = *r.Observation
		} else if r.Outcome != nil && r.Outcome.Failure != nil {
			answer.Error = r.Outcome.Failure.Cause
		}
		return r.Observation != nil || r.Outcome != nil
	}, func(_, cause string) { answer.Error = "its agent is gone: " + cause })
	if errors.Is(err, errSilentService) {
		answer.Error, err = err.Error(), nil
	}
	return answer, err
}

// observations are those of the services that a launch needs, for its metrics.
func (v *services) observations(needs []workload.Service) map[string]workload.Observation {
	all := map[string]workload.Observation{}
	for _, n := range needs {
		if x := v.find(n.Name); n.Observed && x != nil {
			o := x.seen
			all[n.Name] = workload.Observation{
				Matches: o.after.Matches, Tail: o.after.Tail, Unproven: o.after.Unproven, Began: o.began,
				Before: o.pages[0], After: o.pages[1],
			}
		}
	}
	return all
}
