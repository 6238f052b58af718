package input

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/planner"
)

// Fresh refuses a saved plan if its scenario has changed since. If the scenario does not exist, as on
// another machine, the plan is accepted.
func Fresh(p *planner.Plan, arg string, options dsl.Options, stderr io.Writer) error {
	file := p.Scenario.File
	if _, err := os.Stat(file); err != nil && !strings.HasPrefix(file, CatalogPrefix) {
		return nil
	}
	options.Vars = p.Scenario.Variables
	s, _, diags, err := Load(file, options)
	if err != nil || diags.HasErrors() || s.Name != p.Scenario.Name {
		return stalePlan(arg, file, "its scenario can no longer be planned")
	}
	now, diags := build(s)
	if diags.HasErrors() {
		return stalePlan(arg, file, "its scenario can no longer be planned")
	}
	if now.Digest == p.Scenario.Digest {
		return nil
	}
	changes, same := planner.Diff(p, now)
	if err := planner.WriteDiff(stderr, changes, same); err != nil {
		return exit.With(gate.ExitExecution, err)
	}
	return stalePlan(arg, file, "its scenario has changed since, as above")
}

func stalePlan(arg, file, why string) error {
	return exit.With(gate.ExitStale, fmt.Errorf("%s is stale: %s; plan %s again, or run it as it is with --allow-stale",
		arg, why, file))
}
