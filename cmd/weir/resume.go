package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"weir/executor"
	"weir/gate"
	"weir/planner"
)

// chosen are the plans to run: those of the arguments, or that of the session to
// go on with.
func (f *runFlags) chosen(cmd *cobra.Command, args []string) ([]*planner.Plan, error) {
	if f.resume == "" {
		return f.plans(cmd, args)
	}
	for _, other := range []string{"out", "baseline"} {
		if cmd.Flags().Changed(other) {
			return nil, wrongUsage("--%s cannot be used with --resume: the session in %s has its own", other, f.resume)
		}
	}
	saved, err := f.savedPlan()
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		for _, other := range []string{"var", "var-file", "only", "skip", "launches"} {
			if cmd.Flags().Changed(other) {
				return nil, wrongUsage("--%s cannot be used with --resume unless the scenario is given too: the session in %s has a plan", other, f.resume)
			}
		}
		return []*planner.Plan{saved}, nil
	}
	plans, err := f.plans(cmd, args)
	if err != nil {
		return nil, err
	}
	if len(plans) != 1 || plans[0] == nil {
		return nil, wrongUsage("--resume goes on with one session, and %s gives no single plan", args[0])
	}
	if plans[0].Digest != saved.Digest {
		return nil, withCode(gate.ExitStale, fmt.Errorf("%s is not what the session in %s runs: %s; start a new session, or leave the file out to go on with the saved plan", args[0], f.resume, changedCases(saved, plans[0])))
	}
	return plans, nil
}

func (f *runFlags) savedPlan() (*planner.Plan, error) {
	p, err := planner.Read(filepath.Join(f.resume, executor.PlanName))
	if errors.Is(err, planner.ErrDigest) {
		return nil, withCode(gate.ExitStale, err)
	}
	if err != nil {
		return nil, wrongUsage("--resume %s: it holds no session: %w", f.resume, err)
	}
	return p, nil
}

// changedCases says in a line which cases two plans do not have in common.
func changedCases(before, now *planner.Plan) string {
	var added, removed, changed []string
	for _, c := range now.Cases {
		switch old := before.Case(c.Key); {
		case old == nil:
			added = append(added, c.Key)
		case old.ID != c.ID || old.Status != c.Status:
			changed = append(changed, c.Key)
		}
	}
	for _, c := range before.Cases {
		if now.Case(c.Key) == nil {
			removed = append(removed, c.Key)
		}
	}
	var parts []string
	for _, p := range []struct {
		what string
		keys []string
	}{{"added", added}, {"removed", removed}, {"changed", changed}} {
		if len(p.keys) > 0 {
			parts = append(parts, p.what+" "+someOf(p.keys))
		}
	}
	if len(parts) == 0 {
		return "its cases are the same, but not how often, in which order or around which commands they run"
	}
	return strings.Join(parts, ", ")
}

// someOf lists the first few of many keys.
func someOf(keys []string) string {
	const most = 3
	text := strings.Join(slices.Clone(keys[:min(most, len(keys))]), ", ")
	if n := len(keys) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
