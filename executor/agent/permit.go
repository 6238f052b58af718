package agent

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/engine"
)

var errCommandsRefused = errors.New(
	"this agent runs the engine's workloads only: the node's owner can start it with --allow-commands")

// permitCommands is an error if this agent runs no commands of scenarios. Each task that runs a program, reads a
// file or asks an address of the scenario begins with it.
func (a *Agent) permitCommands() error {
	if a.o.RefuseCommands {
		return errCommandsRefused
	}
	return nil
}

// permittedShell are the permitted variables of the shell. Other variables reach no process, and launches are
// refused because of them.
func (a *Agent) permittedShell(shell map[string]string) map[string]string {
	permitted := maps.Clone(shell)
	maps.DeleteFunc(permitted, func(name, value string) bool { return a.policy.Check(name, value) != nil })
	return permitted
}

func (a *Agent) refusedShell() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(a.o.Shell)) {
		if err := a.policy.Check(name, a.o.Shell[name]); err != nil {
			all = append(all, fmt.Sprintf("the shell of weir run sets %s: %v; unset it there, or %s", name, err,
				allowEnvHint(name)))
		}
	}
	return all
}

// refusedVariable is why this agent refuses a variable of the scenario; "": it does not.
func refusedVariable(name string, err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("the scenario sets %s: %v; %s", name, err, allowEnvHint(name))
}

func allowEnvHint(name string) string {
	return "the node's owner can start its agent with --allow-env " + name
}

// checkEnvironment refuses launches with variables of the scenario or the shell that are not permitted.
func (a *Agent) checkEnvironment(scenario, secrets map[string]string) error {
	all := a.refusedShell()
	for _, variables := range []map[string]string{scenario, secrets} {
		for _, name := range slices.Sorted(maps.Keys(variables)) {
			if why := refusedVariable(name, a.policy.Check(name, variables[name])); why != "" {
				all = append(all, why)
			}
		}
	}
	return refuseAll(all)
}

func refuseAll(reasons []string) error {
	if len(reasons) == 0 {
		return nil
	}
	return errors.New(strings.Join(reasons, "; "))
}

// checkRevealed refuses launches with ranks that send variables of this node, or secrets, to endpoints of the scenario,
// unless that is permitted. Variables of the scenario or the shell are not the node's.
func (a *Agent) checkRevealed(task *assignment) error {
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
	return refuseAll(a.refusedRevealed(names))
}

// refusedRevealed names the variables and secrets of this node that may not be sent to endpoints of a scenario, with
// reasons. Files of --secrets may be sent.
func (a *Agent) refusedRevealed(names []string) (all []string) {
	for _, name := range names {
		_, carried := a.shell[name]
		err := a.policy.CheckRevealed(name)
		if err == nil || carried || strings.HasPrefix(name, filePrefix) {
			continue
		}
		all = append(all, fmt.Sprintf("the scenario sends the value of %s to its endpoint: %v; %s", name, err,
			allowEnvHint(name)))
	}
	return all
}

// secretProblems names secrets that cannot be used here, and variables of the scenario and the shell that are
// refused.
func (a *Agent) secretProblems(t SecretsTask) []string {
	all := a.vault.problems(t.Names)
	for _, name := range slices.Sorted(slices.Values(t.Variables)) {
		if why := refusedVariable(name, a.policy.CheckName(name)); why != "" {
			all = append(all, why)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Env)) {
		for _, value := range t.Env[name] {
			if why := refusedVariable(name, a.policy.Check(name, value)); why != "" {
				all = append(all, why)
				break
			}
		}
	}
	return slices.Concat(all, a.refusedRevealed(t.Revealed), a.refusedShell())
}
