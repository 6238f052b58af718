package agent

import (
	"context"

	"weir/executor/environ"
	"weir/redact"
	"weir/results"
)

// check runs a scenario's check on this node.
func (a *Agent) check(ctx context.Context, c CheckTask, h redact.Values) *results.Check {
	r := &results.Check{Name: c.Name, Node: a.o.Node, Status: "ok"}
	if a.o.NoCommands {
		r.Status, r.Reason = "failed", refusal
		return r
	}
	if _, err := a.spawner.output(ctx, a.o.Deadlines.Command, ofCommands, c.Command,
		a.environment(environ.Layers{}).Env); err != nil {
		r.Status, r.Reason = "failed", h.Text(err.Error())
	}
	return r
}
