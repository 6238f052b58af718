// Package launch says what a launcher is: something that puts one `weir agent` on each
// of some nodes, hands it a bootstrap document, and takes it away again. A launcher
// does nothing else. Who is there, who is alive and what is measured goes through etcd
// and the agents' connections, which notice a lost node within seconds; what launchers
// know of it comes late (a minute with Slurm, minutes with Kubernetes) and serves to say
// why.
//
// Launchers are packages of their own below this one. They drive the programs that
// users have (ssh, sbatch, kubectl), so that what users have configured holds.
package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"weir/executor/trust"
)

// Request is what every launcher is asked. What only one of them understands are its
// own options.
type Request struct {
	Session string // the session's id; what is left of it is found by this alone
	Nodes   int    // how many agents; 0: one on each node that the launcher has been given
	Binary  string // weir's own file, absolute
	Dir     string // absolute; for scripts and output. It is kept
	// Bootstrap makes the document of a node, or with "*" the one that any node can use.
	Bootstrap func(node string) (trust.Bootstrap, error)
	// Serve takes the coordinator's end of a connection that comes with the agent (its
	// standard input and output) and returns when it is over.
	Serve         func(net.Conn)
	AllowCommands bool // agents may run the scenario's commands
	// Env is added to the agents' environment. It appears neither in arguments nor in
	// files.
	Env map[string]string
	// Say tells the user what goes on meanwhile, a line at a time; nil: nobody asks.
	Say func(format string, args ...any)
}

// File is one of those that a launcher would write or run.
type File struct {
	Name string
	Mode os.FileMode
	Text []byte
}

// States of a worker.
const (
	Pending  = "pending"  // in a queue
	Starting = "starting" // its node is known, its agent not yet running
	Running  = "running"
	Exited   = "exited" // by itself or because it was told to
	Lost     = "lost"   // the launcher does not know what became of it
)

// Worker is one agent, as its launcher sees it.
type Worker struct {
	Node   string // "": not known yet
	State  string // one of the above
	Code   int    // exit code, if it exited
	Reason string // why it is pending, lost or has failed; "": nothing to say
	Log    []string
}

// Launcher starts agents in one way.
type Launcher interface {
	// Check says what is missing or wrong before anything is started.
	Check(ctx context.Context, r Request) error
	// Render writes what would be run, without anything secret.
	Render(r Request) ([]File, error)
	// Start returns once every agent has been started, and starts none that it does not
	// return a handle for.
	Start(ctx context.Context, r Request) (Handle, error)
}

// Handle is the agents of one Start.
type Handle interface {
	Poll(ctx context.Context) ([]Worker, error)
	// Stop asks the agents to end, waits for them and ends what is left after grace.
	Stop(ctx context.Context, grace time.Duration) error
}

// Replacer is a handle that can start further agents.
type Replacer interface {
	// Replace starts n agents in the place of those that have ended, and says how many have
	// begun: fewer where no host is left to start one on. It tells the user why not.
	Replace(ctx context.Context, n int) (begun int)
}

// Reaper is a launcher that can find what a killed coordinator left.
type Reaper interface {
	// Reap ends all agents of a session. None to be found is no error.
	Reap(ctx context.Context, session string) error
}

// Tell says something to the user.
func (r *Request) Tell(format string, args ...any) {
	if r.Say != nil {
		r.Say(format, args...)
	}
}

// Check says what no launcher could do anything with.
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
		return fmt.Errorf("weir's own file, which agents are started from: %w", err)
	case !st.Mode().IsRegular() || st.Mode()&0o111 == 0:
		return fmt.Errorf("weir's own file, which agents are started from: %s is no program", r.Binary)
	}
	for name, value := range r.Env {
		if !variable(name) || strings.ContainsAny(value, "\n\x00") {
			return fmt.Errorf("variable %q of the agents' environment: a name has letters, digits and '_', a value is one line",
				name)
		}
	}
	return nil
}

// CheckSession refuses ids that could mean anything to a shell or a scheduler.
func CheckSession(id string) error {
	if !plain(id) {
		return fmt.Errorf("session %.80q: an id has letters, digits, '.', '_' and '-', and begins with a letter or digit",
			id)
	}
	return nil
}

// AgentArguments is how weir is called to be an agent with this bootstrap, a file or
// "-", standard input.
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

// plain says whether a name means the same to every shell, scheduler and file system.
func plain(s string) bool {
	return len(s) <= 128 && only(s, letters+digits+"._-") && !strings.ContainsAny(s[:1], "._-")
}

func variable(s string) bool {
	return only(s, letters+digits+"_") && !strings.Contains(digits, s[:1])
}
