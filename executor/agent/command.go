package agent

import (
	"context"
	"errors"
	"time"

	"github.com/weir-bench/weir/executor/host/environ"
	"github.com/weir-bench/weir/internal/redact"
	"github.com/weir-bench/weir/results"
)

// command runs a setup or teardown command on this node. Its output goes into a log, and the last lines into the
// report.
func (a *Agent) command(ctx context.Context, id string, c CommandTask, h redact.Values) *results.Command {
	begin := time.Now()
	r := &results.Command{Name: c.Name, Node: a.o.Node, Status: results.OK}
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

// runCommand runs a command and returns its log; nil: it has none, because of the error.
func (a *Agent) runCommand(ctx context.Context, c CommandTask, h redact.Values) (*logFile, error) {
	if err := a.permitCommands(); err != nil {
		return nil, err
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
	err = a.spawner.run(ctx, limit, forCommands, c.Command, env.Env, out, out)
	return log, errors.Join(err, out.Close(), stop())
}

func (a *Agent) check(ctx context.Context, c CheckTask, h redact.Values) *results.Check {
	r := &results.Check{Name: c.Name, Node: a.o.Node, Status: "ok"}
	err := a.permitCommands()
	if err == nil {
		env := a.environment(environ.Layers{}).Env
		_, err = a.spawner.output(ctx, a.o.Deadlines.Command, forCommands, c.Command, env)
	}
	if err != nil {
		r.Status, r.Reason = "failed", h.Text(err.Error())
	}
	return r
}
