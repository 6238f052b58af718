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

	"weir/executor/event"
	"weir/results"
	"weir/workload"
)

// services are the services of a session that have been started, in the order of their
// starts. Each is a launch of one rank that lasts until it is told to end.
type services struct {
	s      *session
	up     []*service
	starts int
	looks  int // at logs and pages
}

// service is one start of a service.
type service struct {
	workload.Service
	key      string            // what it is fresh for
	users    map[string]bool   // runs that have used it
	values   map[string]string // of runs, that its texts may have
	task     *task
	seat     results.Seat // what of its node it has to itself
	log      string       // below the session directory
	logName  string       // below the log directory of its agent
	seen     observed
	started  time.Time
	facts    *workload.ServiceFacts // nil: it is not ready
	failure  *results.Failure       // nil: it has not failed
	stopping bool

	inCluster *inCluster // nil: it is a process of a node
}

const (
	// stopSlack is how much longer than a service its agent may take to end it.
	stopSlack = 2 * time.Second
	// readySlack is how much longer than the time that a service has its agent waits for it.
	readySlack = time.Second
	// relatedTime is within which the end of a service is the cause of a launch's failure,
	// whichever was told first.
	relatedTime = 300 * time.Millisecond
)

// keyOf is what a service is fresh for.
func keyOf(fresh workload.Fresh, l *launched) string {
	switch fresh {
	case workload.FreshRun:
		return l.g.Run
	case workload.FreshVariant:
		if v, ok := l.cases[0].Axes["variant"]; ok {
			return workload.Text(v)
		}
	case workload.FreshLaunch:
		return fmt.Sprintf("%s/%d", l.g.ID, l.index)
	}
	return ""
}

// provide has the services that a launch needs ready, and gives the values of the names that
// they offer. The failure is that of the launch: a service did not start, or ended since.
func (v *services) provide(ctx context.Context, l *launched, needs []workload.Service) (map[string]string,
	*results.Failure, error) {
	for _, want := range needs {
		have := v.find(want.Name)
		if have == nil || have.failure == nil && have.key == keyOf(want.Fresh, l) && same(have.Service, want) &&
			maps.Equal(have.values, valuesOf(want, l)) {
			continue
		}
		f := have.failure
		if err := v.stop(ctx, have); err != nil {
			return nil, nil, err
		}
		if f != nil {
			return nil, f, nil
		}
	}
	for {
		var waiting []*service
		for _, want := range needs {
			have := v.find(want.Name)
			if have == nil && v.ready(want.Needs) {
				var err error
				if have, err = v.start(ctx, want, l); err != nil {
					return nil, nil, err
				}
			}
			if have != nil && have.facts == nil {
				waiting = append(waiting, have)
			}
		}
		if len(waiting) == 0 {
			return v.names(needs, l.g.Run), nil, nil
		}
		moved := func(x *service) bool { return x.facts != nil || x.failure != nil }
		if err := v.s.Wait(ctx, func() bool { return slices.ContainsFunc(waiting, moved) }); err != nil {
			return nil, nil, err
		}
		for _, x := range waiting {
			if x.failure == nil {
				continue
			}
			x, err := v.toBlame(ctx, x)
			if err != nil {
				return nil, nil, err
			}
			f := x.failure
			return nil, f, v.stop(ctx, x)
		}
	}
}

// toBlame is the service that one failed of: one that it needs and that ended too, else itself.
func (v *services) toBlame(ctx context.Context, x *service) (*service, error) {
	gone := func() *service {
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
	patience, cancel := context.WithTimeoutCause(ctx, relatedTime, errNoneEnded)
	defer cancel()
	if err := v.s.Wait(patience, func() bool { return gone() != nil }); err != nil && !errors.Is(err, errNoneEnded) {
		return nil, err
	}
	if other := gone(); other != nil {
		return v.toBlame(ctx, other)
	}
	return x, nil
}

var errNoneEnded = errors.New("no service ended")

// valuesOf are the values of runs that the texts of a service have in a launch.
func valuesOf(want workload.Service, l *launched) map[string]string {
	all := map[string]string{}
	for _, name := range want.Values {
		all[name] = l.values[name]
	}
	return all
}

// same says whether two services differ in nothing that a start could change.
func same(a, b workload.Service) bool {
	return reflect.DeepEqual(a.Cluster, b.Cluster) && a.Node == b.Node && a.Runner == b.Runner && a.Own == b.Own &&
		string(a.Spec) == string(b.Spec) &&
		slices.Equal(a.Needs, b.Needs)
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

// names are the values of the names that services offer to a run.
func (v *services) names(needs []workload.Service, run string) map[string]string {
	all := map[string]string{}
	for _, n := range needs {
		x := v.find(n.Name)
		maps.Copy(all, x.facts.Names)
		x.users[run] = true
	}
	return all
}

// failed is the failure of one of the services that a launch needs; nil: all of them run.
func (v *services) failed(needs []workload.Service) *results.Failure {
	for _, n := range needs {
		if x := v.find(n.Name); x != nil && x.failure != nil {
			return x.failure
		}
	}
	return nil
}

// stop ends a service, and before it those that need it.
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
		return nil // with one that it needed
	}
	v.up = slices.Delete(v.up, i, i+1)
	x.stopping = true
	var err error
	node := ""
	if x.inCluster != nil {
		node = here
		err = v.stopInCluster(ctx, x)
	}
	if t := x.task; t != nil {
		node = t.nodes[0]
		if !t.over() {
			v.s.withdraw(t)
			patience, cancel := context.WithTimeoutCause(
				context.WithoutCancel(ctx),
				x.Stop+stopSlack,
				errLateService,
			)
			err = v.s.Wait(patience, t.over)
			cancel()
		}
		if errors.Is(err, errLateService) {
			err = nil // its agent kills what is left
		}
		err = v.s.finish(t, err)
	}
	v.record(x, node)
	return cmp.Or(err, v.s.ledger.Err)
}

var errLateService = errors.New("the service did not end in time")

func (v *services) record(x *service, node string) {
	r := results.Service{
		Name: x.Name, Node: node, Fresh: string(x.Fresh), For: x.key, Started: x.started.UTC(),
		Lasted: time.Since(x.started).Seconds(), Status: results.OK, Failure: x.failure, Log: x.log,
	}
	if !x.seat.Empty() {
		r.Seat = &x.seat
	}
	if x.facts != nil {
		r.Ready = x.facts.Seconds
	}
	if x.failure != nil {
		r.Status = "failed"
	}
	v.s.ledger.EnterService(r)
	e := event.Event{
		Type: event.ServiceEnded, Service: x.Name, Node: node, Status: r.Status, Failure: x.failure, Seconds: r.Lasted,
	}
	v.s.ledger.Events.Emit(e)
}

// stopAll ends those services of which keep says no, the last one first.
func (v *services) stopAll(ctx context.Context, keep func(*service) bool) error {
	var err error
	for _, x := range slices.Backward(slices.Clone(v.up)) {
		if !keep(x) {
			err = cmp.Or(err, v.stop(ctx, x))
		}
	}
	return err
}

// endRun ends the services that no run uses any more, but those of the session.
func (v *services) endRun(ctx context.Context, run string) error {
	return v.stopAll(ctx, func(x *service) bool {
		delete(x.users, run)
		return x.Fresh == workload.FreshSession || len(x.users) > 0
	})
}

// endLaunch ends the services that are fresh for a launch, and those that have failed it.
func (v *services) endLaunch(ctx context.Context, failed bool) error {
	return v.stopAll(ctx, func(x *service) bool {
		return x.Fresh != workload.FreshLaunch && (!failed || x.failure == nil)
	})
}

// close ends all services.
func (v *services) close(ctx context.Context) error {
	return v.stopAll(ctx, func(*service) bool { return false })
}
