// This file holds the environment variables of a session's shell and of a launch's ranks.

package executor

import (
	"maps"
	"slices"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// withoutSecrets are the variables of the shell that contain no secret of the scenario.
func withoutSecrets(shell map[string]string, secrets []string) map[string]string {
	all := maps.Clone(shell)
	maps.DeleteFunc(all, func(name, value string) bool {
		return slices.Contains(secrets, name) || agent.Reveals(value, secrets)
	})
	return all
}

// secretsTask asks agents for the plan's secrets, and whether they permit the variables of its ranks.
func (s *session) secretsTask() agent.SecretsTask {
	ask := agent.SecretsTask{Names: s.secrets, Env: map[string][]string{}}
	named, valued, revealed := map[string]bool{}, map[[2]string]bool{}, map[string]bool{}
	for _, c := range s.plan.Cases {
		if c.Status != planner.Planned || !s.backendOf(c).processes() {
			continue
		}
		for name := range c.Secrets {
			named[name] = true
		}
		for _, name := range s.revealedBy(c) {
			revealed[name] = true
		}
		for name, value := range c.Env {
			if slices.Contains(c.EnvLater, name) {
				continue // agents check them at each launch
			}
			if !valued[[2]string{name, value}] {
				valued[[2]string{name, value}] = true
				ask.Env[name] = append(ask.Env[name], value)
			}
		}
	}
	ask.Variables, ask.Revealed = slices.Sorted(maps.Keys(named)), slices.Sorted(maps.Keys(revealed))
	return ask
}

// revealedBy are the variables of nodes, and the references to secrets, that ranks of a case send to endpoints
// of the scenario.
func (s *session) revealedBy(c *planner.Case) (names []string) {
	d, err := s.demandOf(c)
	if err != nil {
		return nil // admitCases reports it
	}
	for _, name := range d.Reveals {
		reference, secret := c.Secrets[name]
		if _, given := c.Env[name]; given && !secret {
			continue
		}
		if names = append(names, name); secret {
			names = append(names, reference)
		}
	}
	return names
}

// ownVariables are the variables that a node reports, limited to its own ranks.
func (l *launchRun) ownVariables(node string, reported []results.Variable) []results.Variable {
	for i := range reported {
		reported[i].Ranks = slices.DeleteFunc(reported[i].Ranks, func(r int) bool {
			return r < 0 || r >= len(l.engine.Nodes) || l.engine.Nodes[r] != node
		})
	}
	return slices.DeleteFunc(reported, func(v results.Variable) bool { return len(v.Ranks) == 0 })
}

// mergedVariables are the library variables of the launch's ranks. Launches with equal variables share one list to
// save memory.
func (l *launchRun) mergedVariables() []results.Variable {
	all := results.MergeVariables(l.variables, l.engine.Ranks)
	if equal := l.s.variables; slices.EqualFunc(equal, all, results.Variable.Equal) {
		return equal
	}
	l.s.variables = all
	return all
}

// unusedVariables are the variables of a case that tune a library which its fabric does not use. Programs and
// services may use any variable.
func unusedVariables(c *planner.Case, needs workload.Demand, moves string) (all []results.Ignored) {
	if engine.RunsCommands(needs.Runner) || len(needs.Services) > 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		if why := fabric.Unread(name, moves, c.Env["FI_PROVIDER"]); why != "" {
			all = append(all, results.Ignored{Name: name, Reason: why})
		}
	}
	return all
}

// warnUnused warns of unused variables before the first launch. If the scenario names the fabric, its diagnostics
// have warned already.
func (s *session) warnUnused(c *planner.Case, needs workload.Demand, nodes []string) {
	for _, v := range unusedVariables(c, needs, s.nodes.Choose(needs, nodes).Fabric) {
		if !s.warned[v] && needs.Fabric == fabric.AutoName {
			s.ledger.Events.Emit(event.Event{Type: event.EnvIgnored, Reason: v.String()})
		}
		s.warned[v] = true
	}
}
