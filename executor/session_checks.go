// This file asks nodes before the first launch: it runs checks, finds missing secrets and compares clocks.

package executor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// checks makes every check of nodes, after those of the cluster. By its severity a failed check ends the session,
// skips all cases or only warns.
func (s *session) checks(ctx context.Context) error {
	all := s.clusterChecked
	for i, c := range s.plan.Checks {
		if c.Cluster != nil || !s.makes(c) {
			continue
		}
		done, err := s.checkNodes(ctx, fmt.Sprintf("%scheck-%d", ownTask, i), c)
		if err != nil {
			return err
		}
		all = append(all, s.judged(c, done)...)
	}
	for _, r := range all {
		s.ledger.Doc.Checks = append(s.ledger.Doc.Checks, r)
		if err := s.ledger.Record(ledger.Record{Check: &r}); err != nil {
			return err
		}
	}
	return s.conclusion(all)
}

// makes reports whether a check is for sessions with this launcher.
func (s *session) makes(c planner.Check) bool { return c.Launcher == "" || c.Launcher == s.o.Launcher }

// judged completes the results of a check and tells them.
func (s *session) judged(c planner.Check, done []results.Check) []results.Check {
	for i := range done {
		r := &done[i]
		r.Severity = c.Severity
		if r.Status != results.OK {
			r.Remedy = c.Remedy
		}
		s.ledger.Events.Emit(event.Event{
			Type: event.CheckDone, Check: r.Name, Node: r.Node, Status: r.Status, Reason: r.Why(),
		})
	}
	return done
}

// conclusion is the error of failed checks. Checks that skip all cases do so.
func (s *session) conclusion(all []results.Check) error {
	var failed, skipping []string
	for _, r := range all {
		switch {
		case r.Status == results.OK, r.Warns():
		case r.FailsSession():
			failed = append(failed, r.Failed())
		default:
			skipping = append(skipping, r.Failed())
		}
	}
	if len(failed) > 0 {
		return &checkError{strings.Join(failed, "; ")}
	}
	if s.skipAll = strings.Join(skipping, "; "); s.skipAll != "" {
		for _, g := range s.ledger.Groups {
			s.ledger.DecideAll(s.ledger.Launchable(g), results.Skipped, s.skipAll)
		}
	}
	return nil
}

// checkCluster makes the checks of the cluster, before agents start there and wait for resources that the cluster does
// not have.
func (s *session) checkCluster(ctx context.Context) error {
	for _, c := range s.plan.Checks {
		if c.Cluster == nil || !s.makes(c) {
			continue
		}
		r := results.Check{Name: c.Name, Status: results.OK}
		lacks, err := []string{"this session cannot ask it"}, error(nil)
		if s.o.Inspect != nil {
			lacks, err = s.o.Inspect(ctx, c.Cluster)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			r.Status, r.Reason = "failed", err.Error()
		case len(lacks) > 0:
			r.Status, r.Reason = "failed", strings.Join(lacks, "; ")
		}
		s.clusterChecked = append(s.clusterChecked, s.judged(c, []results.Check{r})...)
	}
	err := s.conclusion(s.clusterChecked)
	if err != nil || s.skipAll != "" {
		s.ledger.Doc.Checks = s.clusterChecked
	}
	return err
}

// checkNodes makes a check of all nodes.
func (s *session) checkNodes(ctx context.Context, id string, c planner.Check) ([]results.Check, error) {
	if c.GPU == nil {
		return s.checkEverywhere(ctx, id, c)
	}
	var done []results.Check
	for _, n := range s.nodes.Inventories() {
		r := results.Check{Name: c.Name, Node: n.Name, Status: results.OK}
		if lacks := gpusLack(c.GPU, n); len(lacks) > 0 {
			r.Status, r.Reason = "failed", strings.Join(lacks, "; ")
		}
		done = append(done, r)
	}
	return done, nil
}

// gpusLack describes GPUs of a node that do not satisfy a check. The node was described before ranks started.
func gpusLack(c *planner.GPUCheck, n results.Node) (lacks []string) {
	for i, g := range n.GPUs {
		add := func(format string, args ...any) {
			lacks = append(lacks, fmt.Sprintf("GPU %d (%s): ", i, g.Name)+fmt.Sprintf(format, args...))
		}
		if c.Processes >= 0 && g.Processes == nil || c.MemoryFree > 0 && g.Memory == 0 {
			add("its use is unknown: %s", cmp.Or(g.Fault, n.GPUReason, "its library does not report it"))
			continue
		}
		if c.Processes >= 0 && *g.Processes > c.Processes {
			add("%d processes use it, at most %d may", *g.Processes, c.Processes)
		}
		if free := g.Memory - g.Used; free < c.MemoryFree {
			add("%v of its memory are free (needed: %v)", gibibytes(free), gibibytes(c.MemoryFree))
		}
	}
	return lacks
}

func gibibytes(n int64) string { return quantity.Digits(float64(n)/(1<<30), 3) + " GiB" }

// checkError ends a session because a node does not meet the scenario's requirements.
type checkError struct{ text string }

func (e *checkError) Error() string { return e.text }

func (s *session) checkEverywhere(ctx context.Context, id string, c planner.Check) ([]results.Check, error) {
	nodes := s.nodes.Names()
	check := agent.Task{Redact: s.secrets, Check: &agent.CheckTask{Name: c.Name, Command: c.Command}}
	var done []results.Check
	err := s.runTask(ctx, id, sameTask(nodes, check), func(r agent.Report) bool {
		if r.Check == nil {
			return false
		}
		done = append(done, *r.Check)
		return true
	}, func(node, cause string) {
		done = append(done, results.Check{
			Name: c.Name, Node: node, Status: "failed", Reason: "the node's agent is gone: " + cause,
		})
	})
	slices.SortFunc(done, func(a, b results.Check) int { return strings.Compare(a.Node, b.Node) })
	return done, err
}

func sameTask(nodes []string, t agent.Task) map[string]agent.Task {
	m := make(map[string]agent.Task, len(nodes))
	for _, n := range nodes {
		m[n] = t
	}
	return m
}

func (s *session) secretReferences() []string {
	p := s.plan
	set := map[string]bool{}
	add := func(m map[string]string) {
		for _, reference := range m {
			set[reference] = true
		}
	}
	lists := [][]planner.Command{p.Setup, p.Teardown}
	for _, r := range p.Runs {
		lists = append(lists, r.Setup, r.Teardown, r.LaunchSetup, r.LaunchTeardown)
	}
	for _, c := range slices.Concat(lists...) {
		add(c.Secrets)
	}
	for _, c := range p.Cases {
		if c.Status == planner.Planned && s.backendOf(c).processes() {
			add(c.Secrets)
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// checkSecrets checks, before the first launch, that every node has every secret and permits every variable of
// the ranks. The values of secrets stay on the nodes.
func (s *session) checkSecrets(ctx context.Context) error {
	ask := s.secretsTask()
	if len(s.secrets) == 0 && s.fleet == nil {
		return nil // agents in this process permit any variable
	}
	if len(ask.Names)+len(ask.Variables)+len(ask.Env)+len(ask.Revealed)+len(s.shell) == 0 {
		return nil
	}
	var problems []string
	err := s.askNodes(ctx, "secrets", agent.Task{Secrets: &ask}, func(r agent.Report) bool {
		if r.Secrets == nil {
			return false
		}
		for _, p := range r.Secrets.Problems {
			problems = append(problems, fmt.Sprintf("%s (on node %s)", p, r.Node))
		}
		return true
	}, func(node, cause string) {
		problems = append(problems, fmt.Sprintf("the agent of node %s is gone: %s", node, cause))
	})
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		slices.Sort(problems)
		return &checkError{strings.Join(problems, "; ")}
	}
	return nil
}

// clockRounds is how often each node is asked for its time; the fastest answer has the smallest error.
const clockRounds = 5

// compareClocks estimates the offsets of other hosts' clocks, for readers of logs and events. A node answers between
// the question and the arrival of the answer, so half of that time bounds the error (Cristian, Distributed
// Computing 3 (1989) 146–158). Measurements do not use these offsets: ranks compare clocks on the data path.
func (s *session) compareClocks(ctx context.Context) error {
	if s.fleet == nil {
		return nil
	}
	best := map[string]results.ClockOffset{}
	for round := range clockRounds {
		asked := time.Now()
		err := s.askNodes(ctx, fmt.Sprintf("clock-%d", round), agent.Task{Clock: true}, func(r agent.Report) bool {
			if r.Clock == nil {
				return false
			}
			took := time.Since(asked)
			o := results.ClockOffset{Value: r.Clock.Sub(asked.Add(took / 2)).Seconds(), Bound: took.Seconds() / 2}
			if known, ok := best[r.Node]; !ok || o.Bound < known.Bound {
				best[r.Node] = o
			}
			return true
		}, func(string, string) {})
		if err != nil {
			return err
		}
	}
	for i, n := range s.ledger.Doc.Environment.Nodes {
		s.ledger.Doc.Environment.Nodes[i].ClockOffset = best[n.Name]
	}
	return nil
}
