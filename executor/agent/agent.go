// Package agent is a node's part in a session: it says what the node has, starts
// the rank processes that it is asked to, watches over them and ends them. It
// loads no fabric library itself, so nothing that a rank does can take it down,
// and it trusts nothing that a rank says. `weir run` has one in its own process;
// on a cluster each node runs one.
//
// An agent never measures and, while ranks measure, hardly moves: it wakes a few
// times a second to look at their heartbeats, and when a case is done.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"weir/engine"
	"weir/executor/cgroup"
	"weir/executor/cluster"
	"weir/executor/confine"
	"weir/executor/environ"
	"weir/executor/placement"
	"weir/executor/trust"
	"weir/redact"
	"weir/results"
)

// Options say who an agent is and how it works.
type Options struct {
	Node         string   // how the session calls this node
	Session      string   // the session's id
	RankCommand  []string // argv of a rank process; it must end in rank.Main
	ProbeCommand []string // argv of a probe process, without the fabrics; it must end in rank.ProbeMain
	GuardCommand []string // argv of a process that must end in Guard; none: the next agent cleans up after this one
	LogDir       string   // where the logs of rank processes go
	ScratchDir   string   // for files that ranks share as memory; whoever made it removes it
	Deadlines    Deadlines
	Host         fs.FS             // the root of the node's files; nil: this host's
	Sink         func(Report)      // takes what the agent has to say; called from several goroutines
	ShipLogs     bool              // report logs when they are complete: LogDir is this node's own
	NoCommands   bool              // run the engine's workloads and nothing that a scenario names
	AllowEnv     []string          // names of variables that scenarios and shells may set in any case
	SecretsDir   string            // where an agent without commands finds files with secrets; "": nowhere
	Shell        map[string]string // carried variables of the shell of weir run
	Secrets      []string          // references to the scenario's secrets
	Labels       map[string]string // of the node, by which scenarios choose it
	CPUs         []int             // that ranks may run on; none: all that this process may
	Limits       cgroup.Limits     // of what it starts; 0: what leaves the host enough to go on with
	RankUser     *confine.User     // whose all that it starts is; nil: this process's
	Verifier     *trust.Verifier   // of the session's signatures
	// told of tasks that the session has signed and that name files elsewhere; nil: nobody
	Refused func(why string)
	// Engine is that of ranks that are goroutines of this process, as where thousands of
	// nodes are played on one; nil: each is a process, as it must be to measure anything.
	Engine engine.Engine
}

// Agent is the agent of one node in one session.
type Agent struct {
	o       Options
	policy  environ.Policy
	vault   vault
	shell   map[string]string // carried variables that are permitted
	self    placement.Node    // as it was registered
	cpus    []int             // that ranks may run on
	spawner *spawner
	logs    logDir

	followers followers
	session   *cluster.Session
	etcd      cluster.Config
	ctx       context.Context // of all tasks; its cause says why they must end
	cancel    context.CancelCauseFunc
	wg        sync.WaitGroup
	count     atomic.Int64  // launches so far
	refused   atomic.Int64  // tasks that Refused was to be told of
	kill      chan struct{} // closed when nothing may be waited for any more
	killing   sync.Once

	mu    sync.Mutex
	tasks map[string]context.CancelCauseFunc // under way

	numbers sync.Mutex
	seen    map[uint64]bool // numbers of tasks that were placed
}

// New makes an agent that has not joined yet.
func New(o Options) *Agent {
	o.Deadlines = o.Deadlines.orDefaults()
	if o.Host == nil {
		o.Host = os.DirFS("/")
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cpus := o.CPUs
	if len(cpus) == 0 {
		cpus = AllowedCPUs()
	}
	a := &Agent{
		o: o, policy: o.policy(), vault: vault{anywhere: !o.NoCommands, below: o.SecretsDir}, cpus: cpus,
		spawner: newSpawner(o.Limits, o.RankUser), logs: logDir{path: o.LogDir}, ctx: ctx, cancel: cancel,
		kill: make(chan struct{}), tasks: map[string]context.CancelCauseFunc{}, seen: map[uint64]bool{},
	}
	a.spawner.guard.argv = o.GuardCommand
	a.shell = a.permitted(o.Shell)
	return a
}

// member is what the agent says of its node.
func (a *Agent) member(node results.Node) placement.Node {
	return placement.Node{
		Host: HostID(), Labels: a.o.Labels, CPUs: a.cpus, GPUs: visibleGPUs(len(node.GPUs)), Node: node,
	}
}

// visibleGPUs are the names of a node's n GPUs, or of those that whoever started the
// agent left it, as Slurm does.
func visibleGPUs(n int) []string {
	var names []string
	own, some := os.LookupEnv("CUDA_VISIBLE_DEVICES")
	if !some || n == 0 {
		for i := range n {
			names = append(names, strconv.Itoa(i))
		}
		return names
	}
	for name := range strings.SplitSeq(own, ",") {
		name = strings.TrimSpace(name)
		i, err := strconv.Atoi(name)
		if name == "" || err == nil && (i < 0 || i >= n) || slices.Contains(names, name) {
			break // as CUDA does
		}
		names = append(names, name)
	}
	return names
}

// Serve joins the session and does what is placed on this node until Close.
func (a *Agent) Serve(ctx context.Context, etcd cluster.Config, node results.Node) error {
	s, err := cluster.Open(ctx, etcd, a.o.Session)
	if err != nil {
		return err
	}
	a.session, a.etcd = s, etcd
	placements, err := s.Placements(a.ctx, a.o.Node)
	if err != nil {
		return fmt.Errorf("watching for tasks: %w", err)
	}
	a.self = a.member(node)
	inventory, err := json.Marshal(a.self)
	if err != nil {
		return fmt.Errorf("encoding the inventory: %w", err)
	}
	if err := s.Join(ctx, a.o.Node, inventory); err != nil {
		return err
	}
	a.wg.Go(func() { a.serve(placements) })
	return nil
}

var errLost = errors.New("lost etcd: it is gone, or this process was suspended")

func (a *Agent) serve(placements <-chan cluster.Placement) {
	for {
		select {
		case p, ok := <-placements:
			if !ok {
				a.cancel(errLost)
				return
			}
			a.placed(p)
		case <-a.session.Lost():
			a.cancel(errLost)
			return
		case <-a.ctx.Done():
			return
		}
	}
}

var errWithdrawn = errors.New("it was called off")

// mostTasks is how many tasks are under way at once before no stranger's is answered any more.
const mostTasks = 1000

// placed begins a task, or ends one that was withdrawn. It checks one placement at a
// time: a forged one takes memory only while it is checked.
func (a *Agent) placed(p cluster.Placement) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if end, ok := a.tasks[p.Task]; ok || p.Withdrawn {
		if p.Withdrawn && ok {
			end(errWithdrawn)
		}
		return
	}
	task, err := a.open(p)
	if err != nil && len(a.tasks) >= mostTasks {
		return
	}
	ctx, end := context.WithCancelCause(a.ctx)
	a.tasks[p.Task] = end
	a.wg.Go(func() {
		a.do(ctx, p.Task, task, err)
		a.mu.Lock()
		delete(a.tasks, p.Task)
		a.mu.Unlock()
		end(nil)
	})
}

// do does a task, or says by err why not.
func (a *Agent) do(ctx context.Context, id string, task Task, err error) {
	r := Report{Task: id}
	switch {
	case err != nil:
		a.tellRefused(err)
		r.Outcome = failed(kindTold, results.Failure{Rank: -1, Phase: "ready", Kind: results.Fault, Cause: err.Error()})
	case task.Check != nil:
		r.Check = a.check(ctx, *task.Check, a.hidden(task.Redact))
	case task.Command != nil:
		r.Command = a.command(ctx, id, *task.Command, a.hidden(task.Redact))
	case task.Artifact != nil:
		a.artifact(ctx, *task.Artifact, a.hidden(task.Redact), func(file ArtifactReport) {
			a.report(Report{Task: id, Artifact: &file})
		})
		return
	case task.Observe != nil:
		r.Observation = a.observe(ctx, *task.Observe, a.hidden(task.Redact))
	case task.Clock:
		now := time.Now()
		r.Clock = &now
	case task.Secrets != nil:
		r.Secrets = &SecretsReport{Problems: a.problems(*task.Secrets)}
	default:
		r.Outcome = a.assigned(ctx, id, *task.Launch, a.hidden(task.Redact))
	}
	a.report(r)
}

// assigned fetches what the launch is and carries this node's part in it through.
func (a *Agent) assigned(ctx context.Context, id string, task LaunchTask, h redact.Values) *Outcome {
	packed, err := a.session.Shared(ctx, id, task.Text)
	var all *assignment
	if err == nil {
		all, err = unpack(task, packed)
	}
	switch {
	case ctx.Err() != nil:
		return a.refuse(id, kindTold, results.Fault, context.Cause(ctx).Error())
	case err != nil:
		return a.refuse(id, kindFailed, results.Fault, h.Text(err.Error()))
	}
	if err := a.self.CheckSeats(all.Seats); err != nil {
		return a.refuse(id, kindFailed, results.FailedReady, err.Error())
	}
	return a.launch(ctx, id, all, h)
}

func (a *Agent) report(r Report) {
	r.Node = a.o.Node
	a.o.Sink(r)
}

// Lost is closed when the agent does nothing more: etcd is gone, or it was closed.
func (a *Agent) Lost() <-chan struct{} { return a.ctx.Done() }

// Cause says why, once it is.
func (a *Agent) Cause() error { return context.Cause(a.ctx) }

// Kill makes the end of all tasks immediate: no process has a chance to leave in
// order. Close must follow.
func (a *Agent) Kill() {
	a.killing.Do(func() { close(a.kill) })
	a.cancel(errors.New("the session was killed"))
}

func (a *Agent) killed() bool {
	select {
	case <-a.kill:
		return true
	default:
		return false
	}
}

// Close ends all tasks, and with them all rank processes, and leaves the session.
func (a *Agent) Close() error {
	a.cancel(errors.New("the agent is closing"))
	a.wg.Wait()
	var err error
	if a.session != nil {
		err = a.session.Close(a.killed())
	}
	// the spawner last: the kernel kills ranks with the thread that started them
	return errors.Join(err, a.logs.close(), a.spawner.close())
}

// AllowedCPUs are the processors in this process's affinity mask, in order.
func AllowedCPUs() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var cpus []int
	for i := 0; len(cpus) < set.Count(); i++ {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus
}

// HostID tells hosts apart: names may repeat, boots do not.
func HostID() string {
	if b, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		if id := strings.TrimSpace(string(b)); id != "" {
			return id
		}
	}
	name, _ := os.Hostname()
	return name
}

// tick is how often an agent looks at its ranks.
const tick = 200 * time.Millisecond
