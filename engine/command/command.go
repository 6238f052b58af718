// Package command runs external programs as ranks of a launch: each rank process starts the program of its role when
// the roles before it are ready, and ends it as its role specifies. Programs are in the process group of their rank;
// the agent ends that group in any case.
package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/steady"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/command"
)

func init() { engine.Register(command.Runner, runner{}) }

type runner struct{}

// RunsCommands marks ranks that an agent may refuse.
func (runner) RunsCommands() {}

func (runner) Open(l engine.Launch, self engine.Identity, c *engine.Control) (engine.Rank, error) {
	if len(l.Cases) == 0 {
		return nil, errors.New("a launch of programs has no case")
	}
	r := &rank{launch: l, self: self.Rank, clock: steady.Of(self.Clock), control: c}
	if err := json.Unmarshal(l.Cases[0].Spec, &r.spec); err != nil {
		return nil, fmt.Errorf("reading the roles: %w", err)
	}
	if len(r.spec.Roles) != l.Ranks || self.Rank >= l.Ranks || len(l.Nodes) != l.Ranks {
		return nil, fmt.Errorf("%d roles for %d ranks on %d nodes", len(r.spec.Roles), l.Ranks, len(l.Nodes))
	}
	r.role = &r.spec.Roles[self.Rank]
	r.launch.Nodes = slices.Clone(l.Nodes)
	// A role that is told to end gets a signal for its whole group, which includes this process.
	signal.Notify(make(chan os.Signal, 1), unix.SIGTERM, unix.SIGINT, unix.SIGQUIT, unix.SIGHUP)
	return r, nil
}

// rank is the process of one role.
type rank struct {
	launch  engine.Launch
	self    int
	clock   steady.Clock
	spec    command.Spec
	role    *command.Role
	control *engine.Control
	ports   reserved // allocated by this rank
	numbers map[string]int
	news    *news
	guard   *os.File       // open as long as this process lives; nil: there is no guard
	done    *workload.Part // of the first case: the others are other rows of the same output
	program *program       // nil before its start
	ready   bool           // the service is ready

	listened []string // sockets on the role's port before it started
}

// Address allocates free ports and returns the address of this rank.
func (r *rank) Address() ([]byte, error) {
	var err error
	if r.ports, err = reserve(r.spec.PortsOf(r.self)); err != nil {
		return nil, err
	}
	if r.news, err = newsOf(r.launch.Nodes, r.self); err != nil {
		return nil, err
	}
	return r.news.Address(r.ports.numbers())
}

// Connect connects to all other ranks and receives their ports.
func (r *rank) Connect(addresses [][]byte) error {
	timeout := time.Duration(r.launch.Cases[0].Timeout)
	all, err := r.news.Connect(addresses, timeout, r.news.hear)
	if err != nil {
		return err
	}
	r.numbers = map[string]int{}
	for i, ports := range all {
		if err := json.Unmarshal(ports, &r.numbers); err != nil {
			return fmt.Errorf("the ports of role %d: %w", i, err)
		}
	}
	return nil
}

// fault is an error of this rank's role.
func (r *rank) fault(err error) error {
	if e, ok := errors.AsType[*engine.Error](err); ok {
		return e
	}
	return r.faultIn("run", err)
}

func (r *rank) faultIn(phase string, err error) error {
	return &engine.Error{
		Phase: phase, Peer: -1, Killed: r.program != nil && r.program.killed(),
		Text: fmt.Sprintf("%s %s: %v", r.what(), r.role.Name, err),
	}
}

func (r *rank) what() string {
	if r.spec.Serves != nil {
		return "service"
	}
	return "role"
}

// Run runs the role's program, once for all cases: they differ in the row of its output.
func (r *rank) Run(c engine.Case) (*workload.Part, error) {
	if r.done != nil {
		again := *r.done
		return &again, nil
	}
	r.control.Phase.Store(engine.PhaseRun)
	ctx, stop := r.control.Watch("", 0)
	defer stop()
	if r.spec.Serves != nil {
		part, err := r.serve(ctx)
		if err != nil {
			return nil, r.fault(err)
		}
		return part, nil
	}
	p, output, err := r.play(ctx, c)
	if err != nil {
		return nil, r.fault(err)
	}
	has := command.Facts{Seconds: p.took.Seconds()}
	if r.spec.Parsed(r.self) {
		has.Last = p.lastLines()
	}
	facts, err := json.Marshal(has)
	if err != nil {
		return nil, err
	}
	r.done = &workload.Part{Facts: facts, Samples: output}
	first := *r.done
	return &first, nil
}

// Close closes the connections.
func (r *rank) Close() error { return r.news.Close() }
