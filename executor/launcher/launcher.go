// Package launcher defines launchers: a launcher starts one `weir agent` on each node, passes it a bootstrap
// document, and ends it. The agents' links report joins and losses within seconds; the launcher's own status
// comes later (a minute with Slurm, minutes with Kubernetes) and only adds the cause.
//
// The launchers are the packages below this one. They run the user's own programs (ssh, sbatch, kubectl) with
// their configuration.
package launcher

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// Request is the common part of the requests to launchers.
type Request struct {
	Session string // the session's ID, by which Reap finds its leftovers
	Nodes   int    // number of agents; 0: one on each node of the launcher
	Binary  string // absolute path of weir's own file
	Dir     string // absolute; for scripts and output. It is kept
	// Bootstrap makes the document of a node, or with "*" one for any node.
	Bootstrap func(node string) (Bootstrap, error)
	// Serve serves the coordinator's end of a connection over the agent's stdin and stdout, until it ends.
	Serve         func(net.Conn)
	AllowCommands bool // agents may run the scenario's commands
	// Env is added to the agents' environment, but never to arguments or files.
	Env map[string]string
	// Say prints a message to the user, one line each; it may be nil.
	Say func(format string, args ...any)
}

// States of a worker.
const (
	Pending  = "pending"  // in a queue
	Starting = "starting" // on a known node, not yet running
	Running  = "running"
	Exited   = "exited"
	Lost     = "lost" // with unknown outcome
)

// Worker is one agent, as its launcher sees it.
type Worker struct {
	Node   string // "": not known yet
	State  string
	Code   int    // exit code, if it exited
	Reason string // why it is pending, is lost or has failed, or ""
	Log    []string
}

// Launcher starts agents in one way.
type Launcher interface {
	// Check validates a request without starting anything.
	Check(ctx context.Context, r Request) error
	// Start returns when all agents were started. After an error, no agent is left.
	Start(ctx context.Context, r Request) (Handle, error)
}

// Handle is the agents of one Start.
type Handle interface {
	Poll(ctx context.Context) ([]Worker, error)
	// Stop tells the agents to end, waits for them, and kills the rest after grace.
	Stop(ctx context.Context, grace time.Duration) error
}

// Imaged is a handle of agents in containers.
type Imaged interface {
	// Images returns the image that each agent runs in, by node, with its digest if that is known.
	Images() map[string]string
}

// Replacer is a handle that can start further agents.
type Replacer interface {
	// Replace starts up to n agents in place of ended ones, and returns their number. It prints why there are
	// fewer.
	Replace(ctx context.Context, n int) (begun int)
}

// Reaper is a launcher that can end the agents of a dead coordinator.
type Reaper interface {
	// Reap ends all agents of a session. None to be found is no error.
	Reap(ctx context.Context, session string) error
}

// Tell prints a message to the user.
func (r *Request) Tell(format string, args ...any) {
	if r.Say != nil {
		r.Say(format, args...)
	}
}

// Check validates the common part of a request.
func (r *Request) Check() error {
	if err := CheckSession(r.Session); err != nil {
		return err
	}
	if r.Nodes < 0 {
		return fmt.Errorf("%d nodes: there must be at least one", r.Nodes)
	}
	if r.Bootstrap == nil {
		return errors.New("launch: a request needs a bootstrap")
	}
	st, err := os.Stat(r.Binary)
	switch {
	case err != nil:
		return fmt.Errorf("weir's own program file: %w", err)
	case !st.Mode().IsRegular() || st.Mode()&0o111 == 0:
		return fmt.Errorf("weir's own program file: %s is not executable", r.Binary)
	}
	for name, value := range r.Env {
		if !variable(name) || strings.ContainsAny(value, "\n\x00") {
			return fmt.Errorf("variable %q of the agents' environment: a name has letters, digits and '_', a value is one line",
				name)
		}
	}
	return nil
}

// CheckSession refuses IDs with special characters of shells or schedulers.
func CheckSession(id string) error {
	if !plain(id) {
		return fmt.Errorf("session %.80q: an ID has letters, digits, '.', '_' and '-', and begins with a letter or digit",
			id)
	}
	return nil
}

// AgentArguments are the arguments of weir as an agent with a bootstrap document in a file or stdin ("-").
func (r *Request) AgentArguments(bootstrap string) []string {
	argv := []string{"agent", "--bootstrap", bootstrap}
	if r.AllowCommands {
		argv = append(argv, "--allow-commands")
	}
	return argv
}

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)

func only(s, characters string) bool { return s != "" && strings.Trim(s, characters) == "" }

// plain reports whether a name is safe for all shells, schedulers and file systems.
func plain(s string) bool {
	return len(s) <= 128 && only(s, letters+digits+"._-") && !strings.ContainsAny(s[:1], "._-")
}

func variable(s string) bool {
	return only(s, letters+digits+"_") && !strings.Contains(digits, s[:1])
}
