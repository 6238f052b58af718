package agent

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/engine"
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

// reveals says whether this agent lets ranks of a launch send values of variables to where the
// scenario says. Those that the scenario or the shell of weir run has given are theirs; all
// others, secrets among them, are the node's.
func (a *Agent) reveals(task *assignment) error {
	names, err := engine.RevealedBy(task.launch)
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		_, secret := task.Secrets[name]
		_, given := task.Env[name]
		return given && !secret
	})
	for _, name := range slices.Clone(names) {
		if reference, secret := task.Secrets[name]; secret {
			names = append(names, reference)
		}
	}
	if all := a.refusedRevealed(names); len(all) > 0 {
		return errors.New(strings.Join(all, "; "))
	}
	return nil
}

// refusedRevealed says which variables and secrets of this node may not be sent to where a
// scenario says. A file below the directory of --secrets is there to be used.
func (a *Agent) refusedRevealed(names []string) (all []string) {
	for _, name := range names {
		_, carried := a.shell[name]
		err := a.policy.CheckRevealed(name)
		if err == nil || carried || strings.HasPrefix(name, filePrefix) {
			continue
		}
		all = append(all, fmt.Sprintf("the scenario sends the value of %s to its endpoint: %v; %s", name, err,
			ownerAllows(name)))
	}
	return all
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
	return slices.Concat(all, a.refusedRevealed(t.Revealed), a.refusedShell())
}

// policy is what variables an agent takes from others.
func (o Options) policy() environ.Policy {
	return environ.Policy{All: !o.NoCommands, Names: o.AllowEnv}
}
