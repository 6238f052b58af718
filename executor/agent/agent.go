// Package agent is the part of a session on one node: it surveys the node, and starts, monitors and ends rank
// processes. It loads no fabric library, so that a rank cannot crash it, and checks all that ranks send.
// `weir run` has an agent in its own process; on a cluster each node runs one.
//
// While ranks measure, an agent is nearly idle: it wakes each tick to check heartbeats, and for results.
//
// Orders arrive at Agent.Take (agent.go) as tasks (task.go), reports leave by Options.Sink (report.go).
// launch.go has the event loop of a launch: launch_start.go starts ranks, launch_rendezvous.go connects them,
// launch_messages.go handles their messages, launch_watch.go their deadlines and ends.
package agent

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/host/cgroup"
	"github.com/weir-bench/weir/executor/host/confine"
	"github.com/weir-bench/weir/executor/host/environ"
	"github.com/weir-bench/weir/executor/placement"
	"github.com/weir-bench/weir/internal/redact"
	"github.com/weir-bench/weir/results"
)

// Options configure an agent.
type Options struct {
	Node           string   // the node's name in the session
	Session        string   // the session's id
	RankCommand    []string // argv of a rank process, which calls rank.Main
	ProbeCommand   []string // argv of a probe process without the fabrics, which calls rank.ProbeMain
	GuardCommand   []string // argv of a process that calls Guard; none: the next agent cleans up after this one
	LogDir         string   // of the logs of ranks and commands
	ScratchDir     string   // for shared memory; its creator removes it
	Deadlines      Deadlines
	Host           fs.FS             // the root of the node's files; nil: this host's
	Sink           func(Report)      // receives reports; called from several goroutines, and may block
	Lend           Lender            // connects to the etcd that a task borrows; nil: there is none
	ShipLogs       bool              // report complete logs, because LogDir is not the session's
	RefuseCommands bool              // run no commands of scenarios; variables and secrets are restricted
	AllowEnv       []string          // names of variables that scenarios and shells may set in any case
	SecretsDir     string            // of secret files, for agents without commands; "": there are none
	Shell          map[string]string // library variables of the shell of weir run
	Secrets        []string          // references to the scenario's secrets
	Labels         map[string]string // of the node
	CPUs           []int             // that ranks may run on; none: all of this process
	Limits         cgroup.Limits     // of all that it starts; 0: defaults that leave a part to the host
	RankUser       *confine.User     // that processes run as; nil: this process's user
	// Refused is called for tasks that name files outside of LogDir; nil: it is not.
	Refused func(why string)
	// Engine runs ranks as goroutines of this process, to simulate thousands of nodes; nil: ranks are
	// processes, which measuring requires.
	Engine engine.Engine
}

// Lender connects to the part of the session's etcd that a task borrows.
type Lender func(ctx context.Context, task string) (net.Conn, error)

// Agent is the agent of one node in one session.
type Agent struct {
	o       Options
	policy  environ.Policy
	vault   vault
	shell   map[string]string // permitted variables of the session's shell
	self    placement.Node    // as Join described it
	cpus    []int             // that ranks may run on
	spawner *spawner
	logs    logDir

	followers followers
	ctx       context.Context // of all tasks; its cause says why they must end
	cancel    context.CancelCauseFunc
	wg        sync.WaitGroup
	count     atomic.Int64  // launches so far
	refused   atomic.Int64  // refused tasks so far
	kill      chan struct{} // closed when processes must be killed at once
	killing   sync.Once

	mu    sync.Mutex
	tasks map[string]*runningTask // by name
}

// runningTask is a task under way.
type runningTask struct {
	cancel     context.CancelCauseFunc
	rendezvous *nodeRendezvous // nil: not a launch
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
		o: o, policy: environ.Policy{All: !o.RefuseCommands, Names: o.AllowEnv},
		vault: vault{anywhere: !o.RefuseCommands, below: o.SecretsDir}, cpus: cpus,
		spawner: newSpawner(o.Limits, o.RankUser), logs: logDir{path: o.LogDir}, ctx: ctx, cancel: cancel,
		kill: make(chan struct{}), tasks: map[string]*runningTask{},
	}
	a.spawner.guard.argv = o.GuardCommand
	a.shell = a.permittedShell(o.Shell)
	return a
}

// visibleGPUs are the names of a node's n GPUs, or of those that CUDA_VISIBLE_DEVICES leaves the agent, as under
// Slurm.
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

// Join describes the node to the session, before the first order.
func (a *Agent) Join(node results.Node) placement.Node {
	a.self = placement.Node{
		Host: HostID(), Labels: a.o.Labels, CPUs: a.cpus, GPUs: visibleGPUs(len(node.GPUs)), Node: node,
	}
	return a.self
}

var errWithdrawn = errors.New("it was withdrawn")

// Take starts to carry out an order of the session. Orders about a task that is not under way are ignored: it may
// have ended.
func (a *Agent) Take(o Order) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.tasks[o.Task]
	switch {
	case o.Setup != nil: // done by its creator
	case o.Do != nil && t == nil:
		a.begin(o.Task, *o.Do)
	case t == nil || o.Do != nil:
	case o.Withdraw:
		t.cancel(errWithdrawn)
	case t.rendezvous != nil:
		t.rendezvous.handle(o)
	}
}

// begin starts a task. The caller holds mu.
func (a *Agent) begin(id string, task Task) {
	err := task.check()
	t := &runningTask{}
	var ctx context.Context
	ctx, t.cancel = context.WithCancelCause(a.ctx)
	if task.Launch != nil {
		t.rendezvous = &nodeRendezvous{changed: make(chan struct{}, 1)}
	}
	a.tasks[id] = t
	a.wg.Go(func() {
		a.do(ctx, id, task, t.rendezvous, err)
		a.mu.Lock()
		delete(a.tasks, id)
		a.mu.Unlock()
		t.cancel(nil)
	})
}

// do does a task and reports its result; err: the task is refused.
func (a *Agent) do(ctx context.Context, id string, task Task, m *nodeRendezvous, err error) {
	r := Report{Task: id}
	switch {
	case err != nil:
		a.reportRefused(err)
		r.Outcome = failedOutcome(causeCancelled,
			results.Failure{Rank: -1, Phase: "ready", Kind: results.Fault, Cause: err.Error()})
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
		r.Secrets = &SecretsReport{Problems: a.secretProblems(*task.Secrets)}
	default:
		r.Outcome = a.runLaunch(ctx, id, *task.Launch, m, a.hidden(task.Redact))
	}
	a.report(r)
}

// runLaunch unpacks a launch and runs this node's part of it.
func (a *Agent) runLaunch(ctx context.Context, id string, task LaunchTask, m *nodeRendezvous,
	h redact.Values) *Outcome {
	all, err := unpack(task)
	if err != nil {
		return a.refuse(id, causeFailed, results.Fault, h.Text(err.Error()))
	}
	if err := a.self.CheckBindings(all.Bindings); err != nil {
		return a.refuse(id, causeFailed, results.FailedReady, err.Error())
	}
	return a.launch(ctx, id, all, m, h)
}

// maxRefusedReports bounds the calls of Options.Refused in a session.
const maxRefusedReports = 10

// reportRefused tells the node's owner of a task that names files outside of the log directory.
func (a *Agent) reportRefused(err error) {
	if a.o.Refused != nil && errors.Is(err, errNotLocal) && a.refused.Add(1) <= maxRefusedReports {
		a.o.Refused(err.Error())
	}
}

func (a *Agent) report(r Report) {
	r.Node = a.o.Node
	a.o.Sink(r)
}

// Kill kills all processes at once. Close must follow.
func (a *Agent) Kill() {
	a.killing.Do(func() { close(a.kill) })
	a.cancel(errors.New("the session was killed"))
}

// Close ends all tasks and their processes. No order may follow.
func (a *Agent) Close() error {
	a.cancel(errors.New("the agent is closing"))
	a.wg.Wait()
	// the spawner last: the kernel kills processes when their parent thread ends
	return errors.Join(a.logs.close(), a.spawner.close())
}

// HostID identifies the host by its boot, because host names may repeat.
func HostID() string {
	if b, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		if id := strings.TrimSpace(string(b)); id != "" {
			return id
		}
	}
	name, _ := os.Hostname()
	return name
}

// tick is the period at which an agent checks its ranks.
const tick = 200 * time.Millisecond
