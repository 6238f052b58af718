package run

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/planner"
)

// chosen are the plans to run: those of the arguments, or that of the session to resume.
func (f *flags) chosen(cmd *cobra.Command, args []string) ([]*planner.Plan, error) {
	if f.resume == "" {
		return f.plans(cmd, args)
	}
	for _, other := range []string{"out", "baseline"} {
		if cmd.Flags().Changed(other) {
			return nil, exit.Usage("--%s cannot be used with --resume: the session in %s has its own", other, f.resume)
		}
	}
	saved, err := f.savedPlan()
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		for _, other := range []string{"var", "var-file", "only", "skip", "launches"} {
			if cmd.Flags().Changed(other) {
				return nil, exit.Usage("--%s cannot be used with --resume unless the scenario is given too: the session in %s has a plan",
					other, f.resume)
			}
		}
		f.inputs = []string{filepath.Join(f.resume, ledger.PlanName)}
		return []*planner.Plan{saved}, nil
	}
	plans, err := f.plans(cmd, args)
	if err != nil {
		return nil, err
	}
	if len(plans) != 1 || plans[0] == nil {
		return nil, exit.Usage("--resume continues one session, and %s gives no single plan", args[0])
	}
	if plans[0].Digest != saved.Digest {
		changes, same := planner.Diff(saved, plans[0])
		if err := planner.WriteDiff(cmd.ErrOrStderr(), changes, same); err != nil {
			return nil, exit.With(gate.ExitExecution, err)
		}
		return nil, exit.With(gate.ExitStale, fmt.Errorf("%s differs from the plan of the session in %s, as above; start a new session, or omit the file to continue with the saved plan",
			args[0], f.resume))
	}
	return plans, nil
}

func (f *flags) savedPlan() (*planner.Plan, error) {
	p, err := planner.Read(filepath.Join(f.resume, ledger.PlanName))
	if errors.Is(err, planner.ErrDigest) {
		return nil, exit.With(gate.ExitStale, err)
	}
	if err != nil {
		if within, _ := filepath.Glob(filepath.Join(f.resume, "*", ledger.PlanName)); len(within) > 0 {
			return nil, exit.Usage("--resume %s: it holds no session, but folders of sessions, such as %s", f.resume,
				filepath.Dir(within[len(within)-1]))
		}
		return nil, exit.Usage("--resume %s: it holds no session: %w", f.resume, err)
	}
	return p, nil
}
