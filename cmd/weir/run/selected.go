package run

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/planner"
)

// selected applies --only, --skip and --launches to all plans. A plan is nil if nothing of it is left, and left out if
// that is by tags.
func (f *flags) selected(cmd *cobra.Command, plans []*planner.Plan) ([]*planner.Plan, error) {
	if err := f.selection.CheckTags(plans...); err != nil {
		return nil, err
	}
	all := slices.Clone(plans)
	var out []int
	for i, p := range all {
		err := f.selection.Apply(p)
		switch {
		case err == nil:
		case len(all) > 1 && errors.Is(err, planner.ErrByTags):
			out = append(out, i)
		default:
			code := exit.Explain(cmd.ErrOrStderr(), cmd, fmt.Errorf("%s: %w", p.Scenario.File, err))
			if code != gate.ExitEmpty {
				return nil, exit.Code(code)
			}
			plans[i] = nil
		}
	}
	if len(out) == len(all) {
		return nil, exit.With(gate.ExitEmpty, planner.ErrByTags)
	}
	if n := len(out); n > 0 && !f.style.Quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), "weir: left out by tags: %d of %d scenarios\n", n, len(all))
	}
	for _, i := range slices.Backward(out) {
		plans, f.inputs = slices.Delete(plans, i, i+1), slices.Delete(f.inputs, i, i+1)
	}
	return plans, nil
}
