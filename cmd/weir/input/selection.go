package input

import (
	"errors"

	"github.com/spf13/pflag"

	"weir/cmd/weir/exit"
	"weir/gate"
	"weir/planner"
)

// Selection are the flags that change what of a plan is run.
type Selection struct {
	only, skip []string
	launches   int
	flags      *pflag.FlagSet
}

func (s *Selection) Add(f *pflag.FlagSet) {
	s.flags = f
	f.StringArrayVar(&s.only, "only", nil, "run only what `SELECTOR` picks and what that needs (repeatable); a selector is a run name, a case key with *, or where:EXPR")
	f.StringArrayVar(&s.skip, "skip", nil, "leave out what `SELECTOR` picks and what needs it (repeatable)")
	f.IntVar(&s.launches, "launches", 0, "exactly `N` launches of everything, instead of the looks in the scenario")
}

// mostLaunches is more than any verdict needs.
const mostLaunches = 1000

// Given says whether anything is selected or changed.
func (s *Selection) Given() bool { return len(s.only)+len(s.skip)+s.launches > 0 }

// Apply changes the plan.
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
	if len(only)+len(skip) > 0 || len(p.Groups) == 0 { // which it explains; ids of large cases take time
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
