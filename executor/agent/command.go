package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"weir/results"
)

// command runs a setup or teardown command on this node. Its output is kept in a
// file, the end of it in the report.
func (a *Agent) command(ctx context.Context, c CommandTask, h hidden) *results.Command {
	begin := time.Now()
	r := &results.Command{Name: c.Name, Node: a.o.Node, Started: begin.UTC(), Status: results.OK}
	log := filepath.Join(a.o.LogDir, c.Log)
	if err := a.runCommand(ctx, c, log, h); err != nil {
		r.Status, r.Reason = "failed", h.redact(err.Error())
	}
	r.Duration = time.Since(begin).Seconds()
	r.Log = h.lines(tailOf(log))
	return r
}

func (a *Agent) runCommand(ctx context.Context, c CommandTask, log string, h hidden) error {
	if a.o.NoCommands {
		return errors.New(refusal)
	}
	secrets, err := resolveAll(c.Secrets)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(log), 0o755); err != nil {
		return err
	}
	file, err := os.Create(log)
	if err != nil {
		return err
	}
	stop, err := boundLog(file)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	out := h.output(file)
	limit := c.Timeout
	if limit <= 0 {
		limit = a.o.Deadlines.Command
	}
	env := slices.Concat(os.Environ(), pairs(c.Env), pairs(secrets))
	err = a.spawner.run(ctx, limit, c.Command, env, out, out)
	return errors.Join(err, out.Close(), stop())
}
