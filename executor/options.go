// Package executor drives a plan: it starts etcd and agents, finds out what the
// nodes have, runs launch after launch in the order that statistics ask for, and
// gathers everything into a result document. How bytes move, how numbers are
// judged and how they look is other packages' business and comes in as functions.
//
// A session always ends with a whole document: what was planned and did not run
// is in it, with the reason.
package executor

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"weir/engine"
	"weir/executor/agent"
	"weir/executor/cluster"
	"weir/executor/fleet"
	"weir/executor/ledger"
	"weir/planner"
	"weir/results"
	"weir/workload"
)

// Options say how to run a session.
type Options struct {
	ledger.Options

	Etcd         cluster.Config    // no endpoints: one inside this process
	Fleet        *fleet.Options    // agents on other hosts; nil: within this process
	Shell        map[string]string // library variables of the shell that every node gets
	Nodes        []string          // names of the agents to have in this process; none: one, named after the host
	RankCommand  []string          // argv of a rank process, which must end in rank.Main
	ProbeCommand []string          // argv of a probe process, which must end in rank.ProbeMain
	GuardCommand []string          // as that of agent.Options
	Host         fs.FS             // the root of the files that describe a node; nil: this host's
	Deadlines    agent.Deadlines

	// Disturbed says what becomes of launches that did not have their processors; "": RepeatDisturbed.
	Disturbed string

	// Kill, once closed, makes a session that is ending give up waiting, for ranks
	// that leave in order and for teardown; nil: it never does.
	Kill <-chan struct{}

	// When says whether a case with a condition is to run on these nodes, and if
	// not, why.
	When func(c *planner.Case, nodes []results.Node) (run bool, reason string, err error)
	// Fabrics names the fabrics that the condition of a case asks for besides the
	// case's own; not ok: it may ask for any, as it may if there is no such function.
	Fabrics func(c *planner.Case) (names []string, ok bool)

	inside engine.Engine // as agent.Options.Engine, of agents within this process
	// reduce replaces that of workloads; nil: it does not.
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

// Run runs a plan to its end or until ctx ends. The document is never nil; the
// caller writes it. The error says why the session could not be carried through:
// it is the cause of ctx when that ended it. Cases that fail are no error of
// Run's, they are in the document.
func Run(ctx context.Context, plan *planner.Plan, o Options) (*results.Document, error) {
	s := newSession(plan, o)
	err := s.run(ctx)
	return s.ledger.Doc, s.conclude(ctx, err)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
