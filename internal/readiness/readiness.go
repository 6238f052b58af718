// Package readiness waits until a foreign process is ready: it listens, answers, has written a line
// or a file, has registered in etcd, or a command succeeds. It never sleeps for a guessed time, and
// its checks do not disturb the process. Whether a port is listened on is read from the kernel,
// since a server for a single client, as ucx_perftest, would take a trial connection for it.
package readiness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Check has the conditions that must hold before others may rely on a process. All that are set
// must hold.
type Check struct {
	// Listens is a TCP port, HOST:PORT or the path of a Unix socket on which the process, or one
	// that began after it, listens.
	Listens string
	// HTTP is a URL that answers GET with status 200 to 299; Contains is in its body.
	HTTP     string
	Contains string
	// Log is a regular expression (RE2) that a line of the process's output must match.
	Log string
	// File is the path of a file that must exist.
	File string
	// Etcd is a key that must exist.
	Etcd string
	// Command is a program with its arguments that must exit with status 0.
	Command []string
	// Within is the time limit; 0: only that of the context.
	Within time.Duration
}

// Subject is the process of a Check.
type Subject struct {
	PID int // 0: it is not a process of this host
	// Ended is closed when the process has ended; Status then describes how. Nil: unknown.
	Ended  <-chan struct{}
	Status func() string
	// Listened are the sockets that listened at Check.Listens before it started, see Listening.
	Listened []string
	// Logged reports whether a line of its output has matched Log.
	Logged func() bool
	// HasKey looks up a key of etcd.
	HasKey func(ctx context.Context, key string) (bool, error)
	// Run runs a command and returns its output if it fails.
	Run func(ctx context.Context, argv []string) error
}

// A condition is one part of a Check. look returns nil if it holds, otherwise what is missing.
type condition struct {
	name string
	look func(ctx context.Context) error
}

// Pauses between two looks: short at first, since most processes are ready within milliseconds, and
// later long enough to leave the processor to the process.
const (
	firstPause = 2 * time.Millisecond
	lastPause  = 50 * time.Millisecond
)

// Wait returns nil when all conditions hold. Otherwise the error names the condition that does not,
// and the reason: the process ended, the time limit passed, or ctx is done.
func (c Check) Wait(ctx context.Context, s Subject) error {
	conditions, err := c.conditions(s)
	if err != nil {
		return err
	}
	if c.Within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Within, fmt.Errorf("not within %v", c.Within))
		defer cancel()
	}
	for _, one := range conditions {
		if err := one.wait(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return nil
}

func (c condition) wait(ctx context.Context, s Subject) error {
	pause := time.NewTimer(0)
	defer pause.Stop()
	var missing error
	var foreign time.Time // since when another process has the address
	for next := firstPause; ; next = min(2*next, lastPause) {
		now := c.look(ctx)
		if now == nil {
			return nil
		}
		if _, is := errors.AsType[*foreignError](now); !is {
			foreign = time.Time{}
		} else if foreign.IsZero() {
			foreign = time.Now()
		} else if time.Since(foreign) > foreignPatience {
			return now
		}
		if missing == nil || ctx.Err() == nil { // an interrupted look has no result
			missing = now
		}
		pause.Reset(next)
		select {
		case <-s.Ended:
			// A program may write its line and end.
			if c.look(ctx) == nil {
				return nil
			}
			return fmt.Errorf("the process ended before it was ready: %s", s.Status())
		case <-ctx.Done():
			return fmt.Errorf("%w: %v", context.Cause(ctx), missing)
		case <-pause.C:
		}
	}
}

// conditions returns those that are set, cheapest first. An error means that no process can satisfy
// them.
func (c Check) conditions(s Subject) ([]condition, error) {
	var all []condition
	if c.File != "" {
		all = append(all, condition{"file " + c.File, exists(c.File)})
	}
	if c.Log != "" {
		look, err := logs(c.Log, s.Logged)
		if err != nil {
			return nil, err
		}
		all = append(all, condition{fmt.Sprintf("log %q", c.Log), look})
	}
	if c.Listens != "" {
		look, err := listens(c.Listens, s)
		if err != nil {
			return nil, err
		}
		all = append(all, condition{"listens " + c.Listens, look})
	}
	if c.Etcd != "" {
		all = append(all, condition{"etcd " + c.Etcd, registered(c.Etcd, s.HasKey)})
	}
	if c.HTTP != "" {
		all = append(all, condition{"http " + c.HTTP, answers(c.HTTP, c.Contains)})
	}
	if len(c.Command) > 0 {
		look := func(ctx context.Context) error { return s.Run(ctx, c.Command) }
		all = append(all, condition{"command " + strings.Join(c.Command, " "), look})
	}
	return all, nil
}
