package agent

import (
	"context"
	"errors"
	"time"

	"weir/executor/environ"
	"weir/redact"
	"weir/results"
)

// command runs a setup or teardown command on this node. Its output is kept in a
// file, which is shipped, and the end of it in the report.
func (a *Agent) command(ctx context.Context, id string, c CommandTask, h redact.Values) *results.Command {
	begin := time.Now()
	r := &results.Command{Name: c.Name, Node: a.o.Node, Started: begin.UTC(), Status: results.OK}
	log, err := a.runCommand(ctx, c, h)
	if err != nil {
		r.Status, r.Reason = "failed", h.Text(err.Error())
	}
	r.Duration = time.Since(begin).Seconds()
	r.Log = redactLines(h, log.tail())
	a.ship(id, log)
	log.close()
	return r
}

// runCommand gives the command's log, nil if it did not come so far.
func (a *Agent) runCommand(ctx context.Context, c CommandTask, h redact.Values) (*logFile, error) {
	if a.o.NoCommands {
		return nil, errors.New(refusal)
	}
	secrets, err := a.vault.resolveAll(c.Secrets)
	if err != nil {
		return nil, err
	}
	log, file, err := a.logs.create(c.Log)
	if err != nil {
		return nil, err
	}
	stop, err := BoundLog(file)
	if err != nil {
		return log, errors.Join(err, file.Close())
	}
	out := redacted(h, file)
	limit := c.Timeout
	if limit <= 0 {
		limit = a.o.Deadlines.Command
	}
	env := a.environment(environ.Layers{Scenario: c.Env, Secrets: secrets})
	err = a.spawner.run(ctx, limit, ofCommands, c.Command, env.Env, out, out)
	return log, errors.Join(err, out.Close(), stop())
}
