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

	"weir/engine"
	"weir/executor/cluster"
	"weir/redact"
	"weir/results"
)

// launch is a launch under way on this node. One goroutine owns it: events of
// the processes, news of other nodes and the clock come to it one by one.
type launch struct {
	a       *Agent
	id      string
	task    *assignment
	limits  Deadlines
	hidden  redact.Values
	meeting *cluster.Rendezvous
	ranks   []*member
	former  []*member  // whose places others have taken
	logs    []*logFile // of all ranks that were to be started
	events  chan event
	over    chan struct{} // closed when nobody takes events any more
	ctx     context.Context
	wg      sync.WaitGroup

	published, introduced, arrived, started bool

	variables []results.Variable // of each rank
	replaced  []results.Ignored  // by weir's own
	lent      *cluster.Lent      // nil: nothing is

	lives [][]engine.Life // by rank: processes that are still to come; nil: each rank has one for all cases
	peers []byte          // the addresses of all, once they are known

	suspects []suspect
	told     time.Time // when the ranks were told to stop; zero: they were not
	killed   time.Time // when SIGKILL was sent
}

// askTime bounds the question who is missing, which holds up the end of the launch.
const askTime = time.Second

func (a *Agent) launch(ctx context.Context, id string, task *assignment, h redact.Values) *Outcome {
	refuse := func(k kind, class string, err error) *Outcome { return a.refuse(id, k, class, h.Text(err.Error())) }
	if a.o.NoCommands && (engine.RunsCommands(task.launch.Runner) || task.Etcd) {
		return refuse(kindFailed, results.FailedReady, errors.New(refusal))
	}
	secrets, err := a.vault.resolveAll(task.Secrets)
	if err == nil {
		err = errors.Join(a.permits(task.Env, secrets), a.reveals(task))
	}
	if err != nil {
		return refuse(kindFailed, results.FailedReady, err)
	}
	meeting, err := a.session.Meet(ctx, id, a.o.Node, task.Ranks, task.launch.Ranks)
	if err != nil {
		return refuse(kindMissing, results.NodeLost, err)
	}
	defer meeting.Close()
	l := &launch{
		a: a, id: id, task: task, limits: task.Deadlines.over(a.o.Deadlines), hidden: h, meeting: meeting,
		events: make(chan event), over: make(chan struct{}), ctx: ctx,
	}
	// a short name: UCX puts it into every key and address that it sends
	scratch := filepath.Join(a.o.ScratchDir, strconv.FormatInt(a.count.Add(1), 10))
	defer os.RemoveAll(scratch)
	defer l.ship()
	defer l.release()
	if err := errors.Join(os.MkdirAll(scratch, 0o700), a.o.RankUser.Own(scratch)); err != nil {
		return refuse(kindFailed, results.FailedReady, err)
	}
	if err := a.makeRoom(task); err != nil {
		return refuse(kindFailed, results.FailedReady, err)
	}
	if task.Etcd {
		// a short name, as the path of a Unix socket must be short
		if l.lent, err = cluster.Lend(ctx, a.etcd, a.o.Session, id, filepath.Join(scratch, "etcd")); err != nil {
			return refuse(kindFailed, results.FailedReady, err)
		}
		defer l.lent.Close()
	}
	if l.lives, err = engine.LivesOf(task.launch); err != nil {
		return refuse(kindFailed, results.FailedReady, err)
	}
	before, used := a.counters(), a.use()
	l.spawn(scratch, secrets)
	l.loop()
	o := l.outcome()
	o.Load, o.Counters = a.since(used), a.counters().Since(before, a.o.Node)
	o.Ignored = results.MergeIgnored(append(l.replaced, l.ignored()...))
	o.Variables = results.MergeVariables(l.variables, 0)
	o.Beneath = l.beneath()
	return o
}

// loop runs until all processes have ended.
func (l *launch) loop() {
	clock := time.NewTicker(tick)
	defer clock.Stop()
	stop, kill := l.ctx.Done(), l.a.kill
	for !l.allEnded() {
		select {
		case e := <-l.events:
			l.event(e)
		case <-l.meeting.Changed():
			l.news()
		case now := <-clock.C:
			l.boundLogs()
			if !l.look(now) {
				return
			}
		case <-stop:
			stop = nil
			l.stop(l.ended(context.Cause(l.ctx)))
		case <-kill:
			kill = nil
			l.killAll(time.Now())
		}
	}
}

// boundLogs keeps libraries that say much from filling the node's disk. It is done with the look
// at the ranks, as whatever else this process does takes time from them.
func (l *launch) boundLogs() {
	for _, log := range l.logs {
		_ = log.most.cut() // the last one says what is wrong
	}
}

func (l *launch) allEnded() bool {
	return !slices.ContainsFunc(l.ranks, func(m *member) bool { return !m.ended })
}
