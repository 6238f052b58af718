package ssh

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weir-bench/weir/executor/launcher"
)

const (
	loginTime = 20 * time.Second // for the login and the start of a shell, after connecting
	copyTime  = 5 * time.Minute  // for the copy of weir's file; ssh detects dead hosts sooner
)

// Start logs in to all hosts and starts their agents. After a failure, no agent is left, and the error has
// ssh's message and advice for each host.
func (l *Launcher) Start(ctx context.Context, r launcher.Request) (launcher.Handle, error) {
	if err := l.Check(ctx, r); err != nil {
		return nil, err
	}
	p, err := l.copyOf(r)
	if err != nil {
		return nil, err
	}
	h := &handle{launcher: l, request: r, program: p, spare: l.Hosts}
	n := len(l.hosts(r))
	begun, errs := h.start(ctx, n, h.tellUnlessAll(n))
	if begun == n && ctx.Err() == nil {
		if len(h.spare) > 0 {
			r.Tell("nodes that the scenario asks for: %d; used only in place of others: %s", n,
				strings.Join(h.spare, ", "))
		}
		return h, nil
	}
	err = failedHosts(errs)
	if ctx.Err() != nil {
		err = fmt.Errorf("starting agents over ssh: %w", context.Cause(ctx))
	}
	if err != nil {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return nil, errors.Join(err, h.Stop(stopping, 5*time.Second))
	}
	return h, nil
}

// failedHosts is the error of hosts without an agent: a line for each if there are several; nil without errors.
func failedHosts(errs []error) error {
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("starting agents over ssh: %w", errs[0])
	}
	return fmt.Errorf("starting agents over ssh failed on %d hosts:\n%w", len(errs), errors.Join(errs...))
}

// tell prints the error of a host.
func (h *handle) tell(_ string, err error) { h.request.Tell("%v", err) }

// tellUnlessAll is tell for the start of n agents. If no spare host is left, the error of the start has the errors of
// all hosts.
func (h *handle) tellUnlessAll(n int) func(string, error) {
	return func(host string, err error) {
		switch {
		case len(h.spare) > 0:
			h.tell(host, err)
		case n > 1:
			h.request.Tell("%s: no agent; waiting for the other hosts", host)
		}
	}
}

// start starts agents on n of the spare hosts, and tries the next ones after failures. It tells of each failure at
// once, as others may still wait for a timeout, and returns the number of started agents and the errors.
func (h *handle) start(ctx context.Context, n int, tell func(host string, err error)) (begun int, errs []error) {
	for begun < n && ctx.Err() == nil {
		if len(h.spare) < n-begun {
			break // not enough hosts are left
		}
		var hosts []string
		hosts, h.spare = h.spare[:n-begun], h.spare[n-begun:]
		workers, failed := h.launcher.startAll(ctx, h.request, h.program, hosts, tell)
		h.add(workers)
		begun, errs = begun+len(workers), append(errs, failed...)
	}
	return begun, errs
}

// Replace starts agents on spare hosts, or again on the hosts of ended agents. It must not be called concurrently.
func (h *handle) Replace(ctx context.Context, n int) (begun int) {
	h.spare = append(h.spare, h.forget()...)
	n = min(n, len(h.spare))
	if n > 0 {
		h.request.Tell("starting %d agents in place of ended ones, on the first of %s", n,
			strings.Join(h.spare, ", "))
	}
	begun, _ = h.start(ctx, n, h.tell)
	return begun
}

// startAll starts an agent on each host. It returns the started agents and the errors.
func (l *Launcher) startAll(ctx context.Context, r launcher.Request, p program, hosts []string,
	tell func(host string, err error)) ([]*worker, []error) {
	workers := make([]*worker, len(hosts))
	errs := make([]error, len(hosts))
	var group errgroup.Group
	group.SetLimit(l.parallel())
	for i, host := range hosts {
		group.Go(func() error {
			if workers[i], errs[i] = l.startOne(ctx, r, p, host); errs[i] != nil && ctx.Err() == nil {
				tell(host, errs[i])
			}
			return nil
		})
	}
	group.Wait() // each has its own error
	return slices.DeleteFunc(workers, func(w *worker) bool { return w == nil }),
		slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

func (l *Launcher) startOne(ctx context.Context, r launcher.Request, p program, host string) (*worker, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	greeting, err := greet(r, host)
	if err != nil {
		return nil, err
	}
	for second := false; ; second = true {
		c, err := l.dial(host, p.start(r))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", host, err)
		}
		word, machine, err := c.await(ctx, l.connectTimeout()+loginTime, started, missing)
		switch {
		case err != nil:
			c.close()
			return nil, hostError(host, "logging in", c.log.All(), err.Error())
		case word == started:
			if _, err := c.pipe.Write(greeting); err != nil {
				c.close()
				return nil, hostError(host, "handing over to the agent", c.log.All(), err.Error())
			}
			return newWorker(c, r), nil
		}
		c.close()
		switch {
		case p.Sum == "":
			return nil, fmt.Errorf("%s: %s is not executable there", host, p.path)
		case second:
			return nil, fmt.Errorf("%s: weir's copy in ~/.cache/weir cannot be run (is it mounted noexec?): put weir elsewhere and name it in the setting ssh.weir",
				host)
		}
		if err := l.copyTo(ctx, r, p, host, machine); err != nil {
			return nil, err
		}
	}
}

// greet is the start of an agent's stdin: its environment, an empty line, and its bootstrap document in one line.
func greet(r launcher.Request, host string) ([]byte, error) {
	b, err := r.Bootstrap(Node(host))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", host, err)
	}
	b.Coordinator = []string{launcher.Stdio}
	document, err := b.Encode()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", host, err)
	}
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		fmt.Fprintf(&text, "%s=%s\n", name, r.Env[name])
	}
	text.WriteByte('\n')
	text.Write(document)
	return text.Bytes(), nil
}

// copyTo copies weir to a host of the same machine type.
func (l *Launcher) copyTo(ctx context.Context, r launcher.Request, p program, host, machine string) error {
	if built := launcher.MachineOf(p.File); built != "" && machine != "" && built != machine {
		return fmt.Errorf("%s: its machine type is %s, and this weir is for %s; build or install weir there and name it in the setting ssh.weir",
			host, machine, built)
	}
	r.Tell("%s: copying weir (%d MiB)", host, (p.Size+1<<19)>>20)
	c, err := l.dial(host, p.receive(rand.Text()))
	if err != nil {
		return fmt.Errorf("%s: %w", host, err)
	}
	defer c.close()
	defer context.AfterFunc(ctx, c.kill)()
	file, err := os.Open(p.File)
	if err != nil {
		return fmt.Errorf("reading weir's own file: %w", err)
	}
	defer file.Close()
	_ = c.pipe.SetWriteDeadline(time.Now().Add(copyTime)) // sockets have deadlines
	_, broken := io.Copy(c.pipe, file)
	c.pipe.CloseWrite() // await returns the error of a broken connection
	word, _, err := c.await(ctx, loginTime, copied, unusable)
	switch {
	case err != nil && broken != nil:
		return hostError(host, "copying weir", c.log.All(), broken.Error())
	case err != nil:
		return hostError(host, "copying weir", c.log.All(), err.Error())
	case word == unusable:
		c.finish()
		return unusableError(host, c.log.All())
	}
	c.finish()
	return nil
}
