package agent

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/executor/environ"
)

// refusal is what an agent says that was asked for more than it permits.
const refusal = "this agent runs the engine's workloads only: whoever runs the node can start it with --allow-commands"

// permitted are the carried variables of the shell that this agent takes. The others reach
// no process, and each launch is refused because of them.
func (a *Agent) permitted(shell map[string]string) map[string]string {
	taken := maps.Clone(shell)
	maps.DeleteFunc(taken, func(name, value string) bool { return a.policy.Check(name, value) != nil })
	return taken
}

// refusedShell says which carried variables of the shell this agent refuses.
func (a *Agent) refusedShell() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(a.o.Shell)) {
		if err := a.policy.Check(name, a.o.Shell[name]); err != nil {
			why := fmt.Sprintf("the shell of weir run sets %s: %v; unset it there, or %s", name, err, ownerAllows(name))
			all = append(all, why)
		}
	}
	return all
}

// refusedOfScenario says why this agent refuses a variable of the scenario; "": it does not.
func refusedOfScenario(name string, err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("the scenario sets %s: %v; %s", name, err, ownerAllows(name))
}

func ownerAllows(name string) string {
	return "whoever runs the node can start its agent with --allow-env " + name
}

// permits says whether this agent gives ranks what a launch asks for: variables of the
// scenario, values of secrets and carried variables of the shell.
func (a *Agent) permits(scenario, secrets map[string]string) error {
	all := a.refusedShell()
	for _, variables := range []map[string]string{scenario, secrets} {
		for _, name := range slices.Sorted(maps.Keys(variables)) {
			if why := refusedOfScenario(name, a.policy.Check(name, variables[name])); why != "" {
				all = append(all, why)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return errors.New(strings.Join(all, "; "))
}

// problems says what of a scenario's secrets cannot be used here, and which variables of
// the scenario and of the shell are refused.
func (a *Agent) problems(t SecretsTask) []string {
	all := a.vault.problems(t.Names)
	for _, name := range slices.Sorted(slices.Values(t.Variables)) {
		if why := refusedOfScenario(name, a.policy.CheckName(name)); why != "" {
			all = append(all, why)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Env)) {
		for _, value := range t.Env[name] {
			if why := refusedOfScenario(name, a.policy.Check(name, value)); why != "" {
				all = append(all, why)
				break
			}
		}
	}
	return append(all, a.refusedShell()...)
}

// policy is what variables an agent takes from others.
func (o Options) policy() environ.Policy {
	return environ.Policy{All: !o.NoCommands, Names: o.AllowEnv}
}
