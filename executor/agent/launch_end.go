package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"weir/results"
)

// refuse is the outcome of a launch of which this node starts no rank. Where that is
// its own fault, those on other nodes need not wait for it.
func (a *Agent) refuse(id string, k kind, class, cause string) *Outcome {
	if k == kindFailed {
		a.abort(id, cause)
	}
	return failed(k, results.Failure{Rank: -1, Node: a.o.Node, Phase: "ready", Kind: class, Cause: cause})
}

// abort ends a launch on all nodes.
func (a *Agent) abort(id, cause string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	// without etcd the other nodes' deadlines end it
	_ = a.session.Abort(ctx, id, fmt.Sprintf("stopped, because on node %s %s", a.o.Node, cause))
}

// ended says what the end of the launch's context is a sign of. When the agent itself
// ends, and nobody withdrew the launch, what peers on other nodes say of it follows from
// that.
func (l *launch) ended(cause error) (kind, string) {
	if errors.Is(cause, errWithdrawn) {
		return kindTold, cause.Error()
	}
	return kindLeft, "the agent on this node ended: " + cause.Error()
}

// outcome is the end of the launch on this node, when all processes are gone.
func (l *launch) outcome() *Outcome {
	if len(l.suspects) == 0 {
		return &Outcome{At: time.Now()}
	}
	s := judge(l.suspects)
	return &Outcome{
		Failure: &results.Failure{
			Rank: s.rank, Node: l.a.o.Node, Phase: s.phase, Kind: s.failure(),
			Cause: l.hidden.Text(s.cause), Log: redactLines(l.hidden, s.log.tail()),
		},
		At: s.at, kind: s.kind,
	}
}

// ship reports the logs of all ranks, which have ended.
func (l *launch) ship() {
	for _, log := range l.logs {
		l.a.followers.drop(log)
		_ = log.most.finish() // what is left of it is shipped
		l.a.ship(l.id, log)
		log.close()
	}
}

func (l *launch) release() {
	close(l.over)
	l.wg.Wait()
	bad := map[int]bool{}
	for _, m := range append(l.ranks, l.former...) {
		if (m.stage != left || m.life.Killed) && m.pid != 0 {
			bad[m.pid] = true
		}
		m.release()
	}
	if len(bad) > 0 {
		sweep(bad)
	}
}
