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

// mostObserved bounds what is kept of a service's log for its metrics.
const mostObserved = 64 << 20

// observed is what is known of a service for the metrics of launches.
type observed struct {
	log    []byte    // from its start on
	before int       // of log: when the launch began
	began  time.Time // then, by the clock of the service's node
	pages  [2]string
}

// observe looks at the services whose logs or pages have metrics of the launch, before its
// ranks start and after they have ended. A failure is that of the launch.
func (v *services) observe(ctx context.Context, needs []workload.Service, after bool) (*results.Failure, error) {
	for _, n := range needs {
		x := v.find(n.Name)
		if !n.Observed || x == nil || x.failure != nil {
			continue
		}
		o, err := v.ask(ctx, x)
		if err != nil {
			return nil, err
		}
		if o.Error == "" && len(x.seen.log)+len(o.Log) > mostObserved {
			o.Error = fmt.Sprintf("its log has more than %d MiB", mostObserved>>20)
		}
		if o.Error != "" {
			return &results.Failure{Rank: -1, Node: x.node(), Phase: "ready", Kind: results.Fault,
				Cause: fmt.Sprintf("looking at service %s: %s", x.Name, o.Error)}, nil
		}
		x.seen.log = append(x.seen.log, o.Log...)
		if after {
			x.seen.pages[1] = string(o.Page)
		} else {
			x.seen.before, x.seen.began, x.seen.pages[0] = len(x.seen.log), o.At, string(o.Page)
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

// ask has the agent of a service say what that has printed since, and what it counts.
func (v *services) ask(ctx context.Context, x *service) (agent.Observation, error) {
	var answer agent.Observation
	if x.inCluster != nil {
		var err error
		answer.At = time.Now()
		if answer.Log, answer.Page, err = v.observeInCluster(ctx, x); err != nil {
			answer.Error = err.Error()
		}
		return answer, nil
	}
	task := agent.ObserveTask{Log: x.logName, From: int64(len(x.seen.log))}
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
			all[n.Name] = workload.Observation{
				Log: string(
					x.seen.log,
				), From: x.seen.before, Began: x.seen.began, Before: x.seen.pages[0], After: x.seen.pages[1],
			}
		}
	}
	return all
}
