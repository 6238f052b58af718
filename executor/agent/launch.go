package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/redact"
	"github.com/weir-bench/weir/internal/steady"
	"github.com/weir-bench/weir/results"
)

// nodeLaunch is a launch under way on this node. Its goroutine handles events of processes, orders of the session and
// ticks, one after the other.
type nodeLaunch struct {
	a          *Agent
	id         string
	task       *assignment
	limits     Deadlines
	hidden     redact.Values
	clock      steady.Clock
	rendezvous *nodeRendezvous
	ranks      []*localRank
	replaced   []*localRank // earlier processes of ranks
	logs       []*logFile   // of all ranks
	events     chan event
	over       chan struct{} // closed when events are no longer received
	ctx        context.Context
	wg         sync.WaitGroup

	addressesReported, peersSent, connectedReported, started bool

	variables  []results.Variable // of the ranks
	overridden []results.Ignored  // variables that weir's own replace
	sampler    *sampler
	etcdRelay  *etcdRelay // to the etcd that ranks borrow; nil: none

	lives [][]engine.Life // by rank, the processes to run one after the other; nil: each rank has one
	peers []byte          // the addresses of all ranks, for later processes

	causes   []cause
	stopSent time.Time // zero: ranks were not told to stop
	killSent time.Time // zero: SIGKILL was not sent
}

func (a *Agent) launch(ctx context.Context, id string, task *assignment, m *nodeRendezvous, h redact.Values) *Outcome {
	refuse := func(k causeKind, class string, err error) *Outcome {
		return a.refuse(id, k, class, h.Text(err.Error()))
	}
	if engine.RunsCommands(task.launch.Runner) || task.Etcd {
		if err := a.permitCommands(); err != nil {
			return refuse(causeFailed, results.FailedReady, err)
		}
	}
	secrets, err := a.vault.resolveAll(task.Secrets)
	if err == nil {
		err = errors.Join(a.checkEnvironment(task.Env, secrets), a.checkRevealed(task))
	}
	if err != nil {
		return refuse(causeFailed, results.FailedReady, err)
	}
	l := &nodeLaunch{
		a: a, id: id, task: task, limits: task.Deadlines.over(a.o.Deadlines), hidden: h, rendezvous: m,
		clock:  steady.New(time.Time{}),
		events: make(chan event), over: make(chan struct{}), ctx: ctx,
	}
	// UCX sends this name in every key and address, so it is short
	scratch := filepath.Join(a.o.ScratchDir, strconv.FormatInt(a.count.Add(1), 10))
	defer os.RemoveAll(scratch)
	defer l.shipLogs()
	defer l.release()
	if err := errors.Join(os.MkdirAll(scratch, 0o700), a.o.RankUser.Own(scratch)); err != nil {
		return refuse(causeFailed, results.FailedReady, err)
	}
	if err := a.checkLimits(task); err != nil {
		return refuse(causeFailed, results.FailedReady, err)
	}
	if task.Etcd {
		if l.etcdRelay, err = startEtcdRelay(a.o.Lend, id); err != nil {
			return refuse(causeFailed, results.FailedReady, err)
		}
		defer l.etcdRelay.close()
	}
	if l.lives, err = engine.LivesOf(task.launch); err != nil {
		return refuse(causeFailed, results.FailedReady, err)
	}
	before, used := a.counters(), a.processorUse()
	l.startAll(scratch, secrets)
	l.loop()
	o := l.outcome()
	o.Load, o.Counters = a.loadSince(used), a.counters().Since(before, a.o.Node)
	o.Ignored = results.MergeIgnored(append(l.overridden, l.ignored()...))
	o.Variables = results.MergeVariables(l.variables, 0)
	o.LowerTransports = l.lowerTransports()
	return o
}

func (l *nodeLaunch) loop() {
	clock := time.NewTicker(tick)
	defer clock.Stop()
	stop, kill := l.ctx.Done(), l.a.kill
	for slices.ContainsFunc(l.ranks, func(m *localRank) bool { return !m.ended }) {
		select {
		case e := <-l.events:
			l.onEvent(e)
		case <-l.rendezvous.changed:
			l.onRendezvous()
		case now := <-clock.C:
			for _, log := range l.logs {
				_ = log.bounded.cut() // shipLogs calls finish
			}
			if !l.onTick(now) {
				return
			}
		case <-stop:
			stop = nil
			l.stop(l.endCause(context.Cause(l.ctx)))
		case <-kill:
			kill = nil
			l.killAll(time.Now())
		}
	}
}

// refuse is the outcome of a launch that this node does not start. A failure of this node is reported at once, so
// that ranks on other nodes stop waiting.
func (a *Agent) refuse(id string, k causeKind, class, cause string) *Outcome {
	if k == causeFailed {
		a.report(Report{Task: id, Failing: cause})
	}
	return failedOutcome(k, results.Failure{Rank: -1, Node: a.o.Node, Phase: "ready", Kind: class, Cause: cause})
}

// endCause is the cause of the end of the launch's context: the launch was withdrawn, or the agent ends.
func (l *nodeLaunch) endCause(cause error) (causeKind, string) {
	if errors.Is(cause, errWithdrawn) {
		return causeCancelled, cause.Error()
	}
	return causeAgentEnded, "the agent on this node ended: " + cause.Error()
}

func (l *nodeLaunch) outcome() *Outcome {
	if len(l.causes) == 0 {
		return &Outcome{At: Moment(time.Now())}
	}
	c := rootCause(l.causes)
	return &Outcome{
		Failure: &results.Failure{
			Rank: c.rank, Node: l.a.o.Node, Phase: c.phase, Kind: c.failureKind(),
			Cause: l.hidden.Text(c.text), Log: redactLines(l.hidden, c.log.tail()),
		},
		At: Moment(c.at), Kind: c.kind,
	}
}

func (l *nodeLaunch) shipLogs() {
	for _, log := range l.logs {
		l.a.followers.drop(log)
		_ = log.bounded.finish() // ship sends what there is
		l.a.ship(l.id, log)
		log.close()
	}
}

func (l *nodeLaunch) release() {
	l.sampler.stop()
	close(l.over)
	l.wg.Wait()
	bad := map[int]bool{}
	for _, m := range append(l.ranks, l.replaced...) {
		if (m.stage != finished || m.life.Killed) && m.pid != 0 {
			bad[m.pid] = true
		}
		m.release()
	}
	if len(bad) > 0 {
		removeSharedMemory(bad)
	}
}
