package executor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/executor/agent"
	"weir/planner"
)

// secretsOf are the references to all secrets that processes of a plan get.
func (s *session) secretsOf() []string {
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

// findSecrets makes sure that every node has every secret and takes every variable of the
// scenario's ranks, before anything is launched. The values of secrets stay where they are.
func (s *session) findSecrets(ctx context.Context) error {
	ask := s.asked()
	if len(s.secrets) == 0 && s.fleet == nil {
		return nil // the agents in this process take any variable
	}
	if len(ask.Names)+len(ask.Variables)+len(ask.Env)+len(ask.Revealed)+len(s.shell) == 0 {
		return nil
	}
	var problems []string
	err := s.ask(ctx, "secrets", agent.Task{Secrets: &ask}, func(r agent.Report) bool {
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
