// This file holds the entry point, Run; session.go comes next.

package executor

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/control/fleet"
	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// Options configure a session.
type Options struct {
	ledger.Options

	Etcd         registry.Config   // no endpoints: embedded in this process
	Fleet        *fleet.Options    // agents on other hosts; nil: agents in this process
	Shell        map[string]string // library variables of the shell, passed to every node
	Nodes        []string          // names of the agents in this process; none: one, named after the host
	RankCommand  []string          // argv of a rank process, which calls rank.Main
	ProbeCommand []string          // argv of a probe process, which calls rank.ProbeMain
	GuardCommand []string          // argv of a guard process, which calls agent.Guard
	Host         fs.FS             // the root of the files that describe a node; nil: this host's
	Deadlines    agent.Deadlines

	// Disturbed is the policy for launches that lacked processor time; "": RepeatDisturbed.
	Disturbed string

	// Kill, once closed, makes an ending session stop waiting for ranks and teardown; nil: it never does.
	Kill <-chan struct{}

	// When evaluates the condition of a case on these nodes; the reason is why it does not run.
	When func(c *planner.Case, nodes []results.Node) (run bool, reason string, err error)
	// Fabrics names the fabrics that the condition of a case uses, besides the case's own; not ok, or nil:
	// it may use any.
	Fabrics func(c *planner.Case) (names []string, ok bool)

	// Launcher is the name of the way in which agents start; Inspect asks the cluster what it lacks for a check;
	// nil: it cannot be asked.
	Launcher string
	Inspect  func(ctx context.Context, c *planner.ClusterCheck) (lacks []string, err error)

	inProcess engine.Engine // as agent.Options.Engine, for agents in this process
	// reduce replaces the workloads' Reduce; nil: it does not.
	reduce func(*workload.Measured, *results.Launch) (map[string]float64, error)
}

func (o *Options) check() error {
	switch {
	case o.Dir == "" || o.SessionID == "":
		return errors.New("executor: a session needs a directory and an id")
	case len(o.RankCommand) == 0 || len(o.ProbeCommand) == 0:
		return errors.New("executor: the commands of rank and probe processes are not set")
	}
	return nil
}

// Run runs a plan until its end or the end of ctx, and returns the document, never nil, for the caller to
// write. The error is why the session ended early: the cause of ctx, if that ended it. Failed cases are
// in the document and no error.
func Run(ctx context.Context, plan *planner.Plan, o Options) (*results.Document, error) {
	s := newSession(plan, o)
	err := s.run(ctx)
	return s.ledger.Doc, s.conclude(ctx, err)
}

func toDuration(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
