package input

import (
	"errors"
	"slices"

	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/planner"
)

// Selection are the flags that select cases of a plan and set the number of launches.
type Selection struct {
	only, skip []string
	launches   int
	flags      *pflag.FlagSet
}

func (s *Selection) Add(f *pflag.FlagSet) {
	s.flags = f
	f.StringArrayVar(&s.only, "only", nil, "run only the cases of `SELECTOR` and their dependencies (repeatable): a run, a case key with *, tag:NAME, or where:EXPR")
	f.StringArrayVar(&s.skip, "skip", nil, "skip the cases of `SELECTOR` and their dependents (repeatable)")
	f.IntVar(&s.launches, "launches", 0, "run exactly `N` launches of each case (default: the looks of the scenario)")
}

// mostLaunches bounds --launches: no verdict needs more.
const mostLaunches = 1000

// Given reports whether any of the flags is set.
func (s *Selection) Given() bool { return len(s.only)+len(s.skip)+s.launches > 0 }

// CheckTags returns an error if a selected tag is in none of the plans.
func (s *Selection) CheckTags(plans ...*planner.Plan) error {
	all, err := selectors(slices.Concat(s.only, s.skip))
	if err != nil {
		return err
	}
	if err := planner.CheckTags(all, plans); err != nil {
		return exit.With(gate.ExitEmpty, err)
	}
	return nil
}

// Apply applies the flags to a plan.
func (s *Selection) Apply(p *planner.Plan) error {
	if s.flags.Changed("launches") && s.launches < 1 {
		return exit.Usage("--launches %d: at least one launch is needed", s.launches)
	}
	if s.launches > mostLaunches {
		return exit.Usage("--launches %d: at most %d launches can be made", s.launches, mostLaunches)
	}
	only, err := selectors(s.only)
	if err != nil {
		return err
	}
	skip, err := selectors(s.skip)
	if err != nil {
		return err
	}
	if len(only)+len(skip) > 0 || len(p.Groups) == 0 { // Select explains an empty plan
		err = p.Select(only, skip)
	}
	switch {
	case errors.Is(err, planner.ErrNothing):
		return exit.With(gate.ExitEmpty, err)
	case err != nil:
		return exit.With(gate.ExitUsage, err)
	}
	if s.launches > 0 {
		p.SetLaunches(s.launches)
	}
	return nil
}

func selectors(texts []string) ([]planner.Selector, error) {
	var out []planner.Selector
	for _, t := range texts {
		s, err := planner.ParseSelector(t)
		if err != nil {
			return nil, exit.With(gate.ExitUsage, err)
		}
		out = append(out, s)
	}
	return out, nil
}
