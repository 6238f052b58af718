package executor

import (
	"maps"
	"slices"

	"weir/engine"
	"weir/executor/event"
	"weir/fabric"
	"weir/planner"
	"weir/results"
	"weir/workload"
)

// unread are the variables of a case that tune a library which its fabric does not use. Programs that weir did
// not write may read anything.
func unread(c *planner.Case, needs workload.Demand, moves string) (all []results.Ignored) {
	if engine.RunsCommands(needs.Runner) || len(needs.Services) > 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		if why := fabric.Unread(name, moves, c.Env["FI_PROVIDER"]); why != "" {
			all = append(all, results.Ignored{Name: name, Reason: why})
		}
	}
	return all
}

// tellUnread tells of them before the first launch. Where the scenario names the fabric its diagnostics have done so.
func (s *session) tellUnread(c *planner.Case, needs workload.Demand, nodes []string) {
	for _, v := range unread(c, needs, s.hosts.Choose(needs, nodes).Fabric) {
		if !s.warned[v] && needs.Fabric == fabric.AutoName {
			s.ledger.Events.Emit(event.Event{Type: event.EnvIgnored, Reason: v.String()})
		}
		s.warned[v] = true
	}
}
