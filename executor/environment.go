package executor

import (
	"maps"
	"slices"

	"weir/executor/agent"
	"weir/planner"
	"weir/results"
)

// carried are the variables of the shell that every node gets: those in which no secret of
// the scenario is.
func carried(shell map[string]string, secrets []string) map[string]string {
	all := maps.Clone(shell)
	maps.DeleteFunc(all, func(name, value string) bool {
		return slices.Contains(secrets, name) || agent.Reveals(value, secrets)
	})
	return all
}

// carriedVariables are those of the shell that the document tells: a session without
// processes has none.
func (s *session) carriedVariables() map[string]string {
	if s.needsNoNode() {
		return nil
	}
	return s.shell
}

// asked are the variables that the plan's ranks are to have, and its secrets.
func (s *session) asked() agent.SecretsTask {
	ask := agent.SecretsTask{Names: s.secrets, Env: map[string][]string{}}
	named, valued, revealed := map[string]bool{}, map[[2]string]bool{}, map[string]bool{}
	for _, c := range s.plan.Cases {
		if c.Status != planner.Planned || !s.backendOf(c).processes() { // which has no processes
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
				continue // an agent looks at each launch's
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

// revealedBy are the variables of nodes, and the references to secrets, whose values ranks of a
// case send to where the scenario says.
func (s *session) revealedBy(c *planner.Case) (names []string) {
	d, err := s.demandOf(c)
	if err != nil {
		return nil // which is said where it is launched
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

// variablesOf are what a node says of the ranks that it runs.
func (l *launched) variablesOf(node string, said []results.Variable) []results.Variable {
	for i := range said {
		said[i].Ranks = slices.DeleteFunc(said[i].Ranks, func(r int) bool {
			return r < 0 || r >= len(l.engine.Nodes) || l.engine.Nodes[r] != node
		})
	}
	return slices.DeleteFunc(said, func(v results.Variable) bool { return len(v.Ranks) == 0 })
}

// merged are the library variables of the launch's ranks. Launches that have the same share
// them: there may be very many.
func (l *launched) merged() []results.Variable {
	all := results.MergeVariables(l.variables, l.engine.Ranks)
	if equal := l.s.variables; slices.EqualFunc(equal, all, results.Variable.Equal) {
		return equal
	}
	l.s.variables = all
	return all
}
