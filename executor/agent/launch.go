package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"weir/engine"
	"weir/executor/cluster"
	"weir/executor/wire"
	"weir/results"
)

// launch is a launch under way on this node. One goroutine owns it: events of
// the processes, news of other nodes and the clock come to it one by one.
type launch struct {
	a       *Agent
	id      string
	task    *assignment
	limits  Deadlines
	hidden  hidden
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

func (a *Agent) launch(ctx context.Context, id string, task *assignment, h hidden) *Outcome {
	refuse := func(k kind, class string, err error) *Outcome { return a.refuse(id, k, class, h.redact(err.Error())) }
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
	before, load, began := a.counters(), a.load(), time.Now()
	l.spawn(scratch, secrets)
	l.loop()
	took := time.Since(began)
	o := l.outcome()
	on := a.load().Since(load, took.Seconds())
	on.Node, on.CPUs = a.o.Node, len(a.cpus)
	o.Load, o.Counters = &on, a.counters().Since(before, a.o.Node)
	o.Ignored = results.MergeIgnored(append(l.replaced, l.ignored()...))
	o.Variables = results.MergeVariables(l.variables, 0)
	o.Beneath = l.beneath()
	return o
}

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

func (l *launch) spawn(scratch string, secrets map[string]string) {
	free := l.a.free() // before a rank takes any of it
	recorded := map[int]bool{}
	for i, rank := range l.task.Ranks {
		err := l.begin(i, func(self engine.Identity) (*process, engine.Identity, error) {
			var seat results.Seat
			if len(l.task.Seats) > 0 {
				seat = l.task.Seats[i]
			}
			cpus := seat.Processors()
			self.CPUs, self.Memory = l.cpus(i, cpus), &free
			p, err := l.start(self, cpus, func() []string {
				env := apart(l.rankEnvironment(seat, scratch, secrets), i)
				if !recorded[rank] {
					l.record(rank, env)
				}
				recorded[rank] = true
				return env.Env
			})
			return p, self, err
		})
		if err != nil {
			l.suspects = append(l.suspects, notStarted(rank, err))
			l.tellStop()
			return
		}
	}
	if l.lives == nil {
		l.task.text, l.task.launch.Nodes = nil, nil // the ranks and their queues have them for as long as it is needed
	}
}

func notStarted(rank int, err error) suspect {
	return suspect{
		kind: kindFailed, class: results.FailedReady, rank: rank, at: time.Now(), phase: "ready",
		cause: "starting the process: " + err.Error(),
	}
}

func (l *launch) start(self engine.Identity, cpus []int, env func() []string) (*process, error) {
	if e := l.a.o.Engine; e != nil {
		return startInside(e, wire.Launch{Launch: l.task.launch, Self: self}, l.emit), nil
	}
	log, file, err := l.a.logs.create(RankLog(l.task.LogDir, l.task.launch.Index, self.Rank))
	if err != nil {
		return nil, err
	}
	l.logs = append(l.logs, log)
	if w := l.task.Watch; w != nil {
		if err := l.a.followers.follow(log, *w); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	as := ofRanks
	if engine.RunsCommands(l.task.launch.Runner) {
		as = ofCommands
	}
	p, err := startProcess(l.a.spawner, as, cpus, l.a.o.RankCommand, env(), l.hidden.output(file), l.emit)
	if err != nil {
		return nil, err
	}
	p.log = log
	return p, nil
}

// RankLog is the name of a rank's log in a launch, which has this number of its group.
func RankLog(dir string, launch, rank int) string {
	return filepath.Join(dir, strconv.Itoa(launch), strconv.Itoa(rank)+".log")
}

// cpus are the processors of the node's i-th rank of the launch, one for each of its
// threads: of its own, if it has any; none where there are fewer processors than threads
// of all ranks.
func (l *launch) cpus(i int, own []int) []int {
	each := l.task.launch.Threads
	if len(own) >= each {
		return own[:each]
	}
	first := l.task.CPUs.First + i*each
	if max(l.task.CPUs.Threads, l.task.CPUs.First+len(l.task.Ranks)*each) > len(l.a.cpus) {
		return nil
	}
	return l.a.cpus[first : first+each]
}

// tellLaunch tells a rank what it is to do, if it does not know.
func (l *launch) tellLaunch(m *member, self engine.Identity) {
	if m.inside != nil {
		return
	}
	body, err := wire.EncodeSelf(self, l.task.text)
	if err != nil {
		l.suspect(m, kindFailed, err.Error())
		return
	}
	m.tell(wire.KindLaunch, body...)
}

func (l *launch) emit(e event) {
	select {
	case l.events <- e:
	case <-l.over:
	}
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

// ended says what the end of the launch's context is a sign of. When the agent itself
// ends, and nobody withdrew the launch, what peers on other nodes say of it follows from
// that.
func (l *launch) ended(cause error) (kind, string) {
	if errors.Is(cause, errWithdrawn) {
		return kindTold, cause.Error()
	}
	return kindLeft, "the agent on this node ended: " + cause.Error()
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

func (l *launch) event(e event) {
	m := l.memberOf(e.from)
	if m == nil {
		return // it has ended, as it was to
	}
	switch {
	case e.exit != nil:
		m.ended = true
		l.exited(m, e.exit)
		l.succeed(m)
	case e.err != nil:
		l.suspect(m, kindGarbage, e.err.Error())
	case e.frame.Kind == wire.KindFailure:
		l.complained(m, e.frame.Body)
	default:
		if err := l.message(m, e.frame); err != nil {
			l.suspect(m, kindGarbage, err.Error())
		}
	}
}

func (l *launch) exited(m *member, p *os.ProcessState) {
	// who died while the machine was too busy to tell is to blame, whoever spoke first
	_, signalled := signalOf(p)
	ours := !l.killed.IsZero() && !(m.fell && signalled)
	if ours || m.stage == left && p.Success() || l.spoke(m) || l.endedAsSaid(m, p) {
		return
	}
	l.suspect(m, kindDied, fromExit(p, m.log.tail())+m.starvation()+m.where(l.task.launch.Cases))
}

// spoke says whether the rank itself has already said why it ends.
func (l *launch) spoke(m *member) bool {
	return slices.ContainsFunc(l.suspects, func(s suspect) bool {
		return s.rank == m.rank && (s.kind == kindFailed || s.kind == kindPeer || s.kind == kindForsaken ||
			s.kind == kindTold)
	})
}

func (l *launch) complained(m *member, body []byte) {
	e, err := wire.DecodeFailure(body)
	if err != nil {
		l.suspect(m, kindGarbage, err.Error())
		return
	}
	k, class, cause := fromEngine(e)
	if own := k == kindFailed && m.stage == running; !l.told.IsZero() && !own {
		k = kindTold // in a case it would say that it was stopped, and may have failed before
	}
	what, said, more := strings.Cut(cause, "\n")
	if what += m.where(l.task.launch.Cases); more {
		what += "\n" + said
	}
	s := l.about(m, k, what)
	s.class = class
	l.blame(s)
}

// message takes a message that belongs to the rank's stage.
func (l *launch) message(m *member, f *wire.Frame) error {
	cases := l.task.launch.Cases
	switch {
	case m.stage == starting && f.Kind == wire.KindAddress:
		m.address = f.Body
		m.enter(addressed)
		if l.peers != nil {
			m.enter(connecting)
			m.tell(wire.KindPeers, l.peers)
			return nil
		}
		return l.publish()
	case m.stage == connecting && f.Kind == wire.KindConnected:
		m.enter(connected)
		if l.started {
			m.enter(running)
			m.tell(wire.KindGo, nil)
			return nil
		}
		return l.arrive()
	case m.stage == running && f.Kind == wire.KindResult:
		r, err := wire.DecodeResult(f.Body)
		if err != nil {
			return err
		}
		if r.Key != cases[m.next].Key || r.Rank != m.rank || r.Ended != nil || r.Absent {
			return fmt.Errorf("a result of rank %d for case %s came in case %s", r.Rank, r.Key, cases[m.next].Key)
		}
		if r.Unfinished { // why it stopped comes next
			l.a.report(Report{Task: l.id, Result: &Result{Part: r}})
			return nil
		}
		if m.life.Killed && m.next == m.life.Last {
			return fmt.Errorf("it was to end by SIGKILL in case %s, and is there after it", r.Key)
		}
		m.next++
		m.enter(running)
		if m.next > m.life.Last {
			m.enter(closing)
		}
		rate := 0.
		if r.Samples != nil {
			rate = float64(m.control.Rate.Load())
		}
		r.Facts = l.hidden.redactJSON(r.Facts)
		if r.Samples != nil && engine.RunsCommands(l.task.launch.Runner) { // they are what a program printed
			r.Samples = []byte(l.hidden.redact(string(r.Samples)))
		}
		l.a.report(Report{Task: l.id, Result: &Result{Part: r, Rate: rate}})
		return nil
	case m.stage == closing && f.Kind == wire.KindBye:
		m.enter(left)
		return nil
	}
	return fmt.Errorf("it sent %s out of turn", f.Kind)
}

// every says whether all ranks of this node have come to a stage.
func (l *launch) every(s stage) bool {
	return len(l.ranks) == len(l.task.Ranks) &&
		!slices.ContainsFunc(l.ranks, func(m *member) bool { return m.stage < s })
}

func (l *launch) publish() error {
	if l.published || !l.every(addressed) {
		return nil
	}
	l.published = true
	addresses := map[int][]byte{}
	for _, m := range l.ranks {
		addresses[m.rank] = m.address
	}
	ctx, cancel := context.WithTimeout(l.ctx, l.limits.Connect)
	defer cancel()
	if err := l.meeting.Publish(ctx, addresses); err != nil {
		l.stop(kindMissing, err.Error())
	}
	return nil
}

func (l *launch) arrive() error {
	if l.arrived || !l.every(connected) {
		return nil
	}
	l.arrived = true
	ctx, cancel := context.WithTimeout(l.ctx, l.limits.Connect)
	defer cancel()
	if err := l.meeting.Arrive(ctx); err != nil {
		l.stop(kindMissing, err.Error())
	}
	return nil
}

// news acts on what other nodes have said.
func (l *launch) news() {
	if err := l.meeting.Broken(); err != nil {
		l.stop(kindMissing, err.Error())
		return
	}
	if reason, ok := l.meeting.Aborted(); ok {
		l.stop(kindTold, reason)
		return
	}
	if all := l.meeting.Addresses(); all != nil && !l.introduced && l.every(addressed) {
		l.introduced = true
		l.meeting.Passed()
		if l.lives != nil {
			l.peers = all
		}
		for _, m := range l.ranks {
			m.enter(connecting)
			m.tell(wire.KindPeers, all)
		}
	}
	if l.arrived && !l.started && l.meeting.Started() {
		l.started = true
		for _, m := range l.ranks {
			m.enter(running)
			m.tell(wire.KindGo, nil)
		}
		now := time.Now()
		l.a.report(Report{Task: l.id, Running: &now})
	}
}

// missing is who the launch waits for elsewhere, nil if for nobody, or if etcd does not
// say.
func (l *launch) missing() *cluster.MissingError {
	ctx, cancel := context.WithTimeout(l.ctx, askTime)
	defer cancel()
	m, _ := l.meeting.Missing(ctx)
	return m
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
			Cause: l.hidden.redact(s.cause), Log: l.hidden.lines(s.log.tail()),
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
