// This file starts and stops services as launches need them; service_start.go and service_cluster.go start one.

package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// services are the running services of a session, in the order of their starts. Each is a launch of one rank, or
// pods of a cluster, until it is stopped.
type services struct {
	s            *session
	up           []*service
	starts       int
	observations int // requests to agents so far
}

// service is one start of a service.
type service struct {
	workload.Service
	key      string            // of the run, variant or launch that it is started for; "": the session
	users    map[string]bool   // runs that have used it
	values   map[string]string // of other runs, in its texts
	task     *task
	binding  results.Binding // its dedicated resources
	log      string          // below the session directory
	logName  string          // below the log directory of its agent
	observed observed
	started  time.Time
	facts    *workload.ServiceFacts // nil: it is not ready
	failure  *results.Failure
	stopping bool
	reported string // the last line of its log that was reported

	inCluster *inCluster // nil: it is a process of a node
}

const (
	// stopSlack is the time for an agent to report the end of a service after the service's own limit.
	stopSlack = 2 * time.Second
	// readySlack is the time for an agent to wait for a service after the service's own limit.
	readySlack = time.Second
	// relatedWindow is the time after the end of a launch within which the end of a service counts as before it: the
	// agent of the service may be slower than the ranks. failedWindow is this time if requests failed.
	relatedWindow, failedWindow = 300 * time.Millisecond, 2 * time.Second
	// lostWindow is the time within which the loss of a node is noticed: link.DefaultSilence and some more.
	lostWindow = 3 * time.Second
)

var (
	errNoServiceFailed    = errors.New("no service ended")
	errServiceStopTimeout = errors.New("the service did not end in time")
)

// freshnessKey identifies the run, variant or launch that a service is started anew for; "": the session.
func freshnessKey(fresh workload.Fresh, l *launchRun) string {
	switch fresh {
	case workload.FreshRun:
		return l.g.Run
	case workload.FreshVariant:
		if v, ok := l.cases[0].Axes["variant"]; ok {
			return option.Text(v)
		}
	case workload.FreshLaunch:
		return fmt.Sprintf("%s/%d", l.g.ID, l.index)
	}
	return ""
}

// ensureReady starts the services that a launch needs, in the order of their needs, and restarts those that have
// changed. It returns the values that they offer, by name. The failure is the launch's: a service did not
// start, or has failed since.
func (v *services) ensureReady(ctx context.Context, l *launchRun, needs []workload.Service) (map[string]string,
	*results.Failure, error) {
	for _, spec := range needs {
		x := v.find(spec.Name)
		if x == nil || x.failure == nil && x.key == freshnessKey(spec.Fresh, l) &&
			sameService(x.Service, spec) && maps.Equal(x.values, valuesOf(spec, l)) {
			continue
		}
		f := x.failure
		if err := v.stop(ctx, x); err != nil {
			return nil, nil, err
		}
		if f != nil {
			return nil, f, nil
		}
	}
	for {
		var waiting []*service
		for _, spec := range needs {
			x := v.find(spec.Name)
			if x == nil && v.ready(spec.Needs) {
				var err error
				if x, err = v.start(ctx, spec, l); err != nil {
					return nil, nil, err
				}
			}
			if x != nil && x.facts == nil {
				waiting = append(waiting, x)
			}
		}
		if len(waiting) == 0 {
			names := map[string]string{}
			for _, n := range needs {
				x := v.find(n.Name)
				maps.Copy(names, x.facts.Names)
				x.users[l.g.Run] = true
			}
			return names, nil, nil
		}
		settled := func(x *service) bool { return x.facts != nil || x.failure != nil }
		err := v.s.waitWithNews(ctx, newsEvery, func() { v.tellNews(waiting) },
			func() bool { return slices.ContainsFunc(waiting, settled) })
		if err != nil {
			return nil, nil, err
		}
		for _, x := range waiting {
			if x.failure == nil {
				continue
			}
			x, err := v.rootCause(ctx, x)
			if err != nil {
				return nil, nil, err
			}
			f := x.failure
			return nil, f, v.stop(ctx, x)
		}
	}
}

// rootCause is the failed service that caused the failure of x: one that x needs, otherwise x.
func (v *services) rootCause(ctx context.Context, x *service) (*service, error) {
	failedNeed := func() *service {
		for _, name := range x.Needs {
			if other := v.find(name); other != nil && other.failure != nil {
				return other
			}
		}
		return nil
	}
	if len(x.Needs) == 0 {
		return x, nil
	}
	window := relatedWindow
	if slices.ContainsFunc(x.Needs, func(name string) bool {
		other := v.find(name)
		return other != nil && other.node() != x.node()
	}) {
		window = lostWindow // it cannot reach a service on a node that is gone before that is noticed
	}
	if err := v.awaitRelated(ctx, window, func() bool { return failedNeed() != nil }); err != nil {
		return nil, err
	}
	if other := failedNeed(); other != nil {
		return v.rootCause(ctx, other)
	}
	return x, nil
}

// awaitRelated waits until a related service has failed, for a window at most.
func (v *services) awaitRelated(ctx context.Context, window time.Duration, failed func() bool) error {
	err := v.s.waitFor(ctx, window, errNoServiceFailed, failed)
	if errors.Is(err, errNoServiceFailed) {
		return nil
	}
	return err
}

// valuesOf are the values of other runs in the texts of a service, for a launch.
func valuesOf(spec workload.Service, l *launchRun) map[string]string {
	all := map[string]string{}
	for _, name := range spec.Values {
		all[name] = l.textValues[name]
	}
	return all
}

// sameService reports whether two services would start the same way.
func sameService(a, b workload.Service) bool {
	return reflect.DeepEqual(a.Cluster, b.Cluster) && a.Node == b.Node && a.Runner == b.Runner && a.Own == b.Own &&
		string(a.Spec) == string(b.Spec) && slices.Equal(a.Needs, b.Needs)
}

func (v *services) find(name string) *service {
	if i := slices.IndexFunc(v.up, func(x *service) bool { return x.Name == name }); i >= 0 {
		return v.up[i]
	}
	return nil
}

func (v *services) ready(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		x := v.find(name)
		return x == nil || x.facts == nil
	})
}

// knownNames are the values for the texts of a service: those of other runs and of ready services, by name.
func (v *services) knownNames(l *launchRun) map[string]string {
	names := map[string]string{}
	maps.Copy(names, l.textValues)
	for _, other := range v.up {
		if other.facts != nil {
			maps.Copy(names, other.facts.Names)
		}
	}
	return names
}

// failed is the failure of a service that a launch needs; nil: none has failed.
func (v *services) failed(needs []workload.Service) *results.Failure {
	for _, n := range needs {
		if x := v.find(n.Name); x != nil && x.failure != nil {
			return x.failure
		}
	}
	return nil
}

// stop stops a service, after the services that need it.
func (v *services) stop(ctx context.Context, x *service) error {
	for _, other := range slices.Backward(slices.Clone(v.up)) {
		if slices.Contains(other.Needs, x.Name) {
			if err := v.stop(ctx, other); err != nil {
				return err
			}
		}
	}
	i := slices.Index(v.up, x)
	if i < 0 {
		return nil // stopped with a service that it needed
	}
	v.up = slices.Delete(v.up, i, i+1)
	x.stopping = true
	var err error
	if x.inCluster != nil {
		err = v.stopInCluster(ctx, x)
	}
	if t := x.task; t != nil {
		if !t.ended() {
			err = v.s.withdrawAndWait(t, x.Stop+stopSlack, errServiceStopTimeout)
		}
		if errors.Is(err, errServiceStopTimeout) {
			err = nil // its agent kills its processes
		}
		err = v.s.finishTask(t, err)
	}
	v.recordEnd(x)
	return cmp.Or(err, v.s.ledger.Err)
}

func (v *services) recordEnd(x *service) {
	r := results.Service{
		Name: x.Name, Node: x.node(), Fresh: string(x.Fresh), For: x.key, Started: v.s.ledger.At(x.started),
		Lasted: time.Since(x.started).Seconds(), Status: results.OK, Failure: x.failure, Log: x.log,
	}
	if !x.binding.Empty() {
		r.Binding = &x.binding
	}
	if x.facts != nil {
		r.Ready = x.facts.Seconds
	}
	if x.failure != nil {
		r.Status = "failed"
	}
	v.s.ledger.EnterService(r)
	v.s.ledger.Events.Emit(event.Event{
		Type: event.ServiceEnded, Service: x.Name, Node: r.Node, Status: r.Status, Failure: x.failure,
		Seconds: r.Lasted,
	})
}

// stopAll stops the services that keep does not select, in reverse order of their starts.
func (v *services) stopAll(ctx context.Context, keep func(*service) bool) error {
	var err error
	for _, x := range slices.Backward(slices.Clone(v.up)) {
		if !keep(x) {
			err = cmp.Or(err, v.stop(ctx, x))
		}
	}
	return err
}

// endRun stops the services that only this run has used, except those of the session.
func (v *services) endRun(ctx context.Context, run string) error {
	return v.stopAll(ctx, func(x *service) bool {
		delete(x.users, run)
		return x.Fresh == workload.FreshSession || len(x.users) > 0
	})
}

// endLaunch stops the services that are fresh for each launch, and failed ones after a failed launch.
func (v *services) endLaunch(ctx context.Context, failed bool) error {
	return v.stopAll(ctx, func(x *service) bool {
		return x.Fresh != workload.FreshLaunch && (!failed || x.failure == nil)
	})
}

func (v *services) close(ctx context.Context) error {
	return v.stopAll(ctx, func(*service) bool { return false })
}

func (l *launchRun) startServices(ctx context.Context) {
	if len(l.services) == 0 || l.err != nil || l.failure != nil {
		return
	}
	l.engine.Alone = l.s.singleHost()
	var names map[string]string
	from := time.Now()
	names, l.failure, l.err = l.s.services.ensureReady(ctx, l, l.services)
	l.starting = l.s.services.starting(l.services, from)
	l.engine.Names = map[string]string{}
	maps.Copy(l.engine.Names, l.textValues)
	maps.Copy(l.engine.Names, names)
	if l.err == nil && l.failure == nil {
		l.failure, l.err = l.s.services.observe(ctx, l.services, false)
	}
	if l.err == nil && l.failure == nil {
		l.packed, l.err = agent.Pack(l.engine)
	}
}

// failOnService fails a launch if one of its services has failed, and withdraws its ranks.
func (l *launchRun) failOnService() {
	f := l.s.services.failed(l.services)
	if f == nil || l.failure != nil {
		return
	}
	own := *f
	own.Log = nil // the cause has the last lines
	l.failure = &own
	if l.task != nil && !l.task.ended() {
		l.s.withdraw(l.task)
	}
}

// awaitServiceFailure waits, after a launch has ended, whether a service ended before: it may be the cause of a
// failure, and a load that goes on without its server measures nothing.
func (l *launchRun) awaitServiceFailure(ctx context.Context) error {
	if len(l.services) == 0 || l.failure != nil {
		return nil
	}
	window := relatedWindow
	if l.requestsFailed() {
		window = failedWindow
	}
	err := l.s.services.awaitRelated(ctx, window, func() bool { return l.s.services.failed(l.services) != nil })
	l.failOnService()
	return err
}

// requestsFailed reports whether requests of the ranks to services failed in a complete case.
func (l *launchRun) requestsFailed() bool {
	for i, p := range l.pending {
		client, ok := workload.As[workload.Client](l.cases[i].Workload)
		if !ok || !p.complete() {
			continue
		}
		if slices.ContainsFunc(p.parts, func(part *workload.Part) bool {
			return part != nil && client.RequestsFailed(part)
		}) {
			return true
		}
	}
	return false
}

func (s *session) singleHost() bool {
	hosts := map[string]bool{}
	for _, n := range s.nodes.Nodes {
		hosts[n.Host] = true
	}
	return len(hosts) == 1
}
