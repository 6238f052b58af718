package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/control/link"
	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/executor/host/cgroup"
	"github.com/weir-bench/weir/executor/host/scratch"
	"github.com/weir-bench/weir/results"
)

// AgentOptions configure an agent in a process of its own.
type AgentOptions struct {
	agent.Options // for each session, which sets what is its own
	Version       results.Version
	Commands      bool              // run the commands of scenarios
	Say           func(text string) // prints a line

	// of a registered agent
	Etcd        registry.Config
	State       string           // state directory, which identifies successive processes of this agent
	Credentials link.Credentials // of this node; the certificate has its name
}

// RunAgent registers this node and serves the sessions that invite it, until ctx ends or an error occurs.
func RunAgent(ctx context.Context, o AgentOptions) error {
	d := &daemon{AgentOptions: o, sessions: map[string]context.CancelFunc{}, refused: map[string]bool{}}
	var err error
	if d.lock, d.id, err = lockState(o.State); err != nil {
		return err
	}
	defer d.lock.Close()
	if err := d.checkCredentials(); err != nil {
		return err
	}
	if d.Limits != (cgroup.Limits{}) {
		d.Say(agent.DescribeLimits(d.Limits))
	}
	if d.RankUser.Root() {
		d.Say("ranks run as root, as this agent does: --rank-user NAME has them run as another user")
	}
	cgroup.Sweep() // leftovers of a killed agent
	for _, root := range scratch.Roots() {
		scratch.Sweep(root)
	}
	for {
		err := d.registered(ctx)
		d.wg.Wait()
		if ctx.Err() != nil {
			return nil
		}
		if !errors.Is(err, errAway) {
			return err
		}
		if text := fmt.Sprintf("etcd is gone, or this process was suspended; registering again: %v",
			err); text != d.said {
			d.said = text
			d.Say(text)
		}
		select {
		case <-time.After(retryPause):
		case <-ctx.Done():
			return nil
		}
	}
}

// retryPause is the pause before a failed attempt is repeated.
const retryPause = time.Second

// errAway means that the registration was lost.
var errAway = errors.New("the registration is gone")

// daemon is a registered agent.
type daemon struct {
	AgentOptions
	lock   *os.File
	id     string // of the state directory
	wg     sync.WaitGroup
	known  bool                      // it was registered once: the configuration of etcd is right
	said   string                    // the last message about a lost registration
	answer func(session, why string) // tells a session why this node refuses; "": it does not

	mu       sync.Mutex
	sessions map[string]context.CancelFunc // that are served
	refused  map[string]bool               // sessions with a refused invitation
	refusals rateLimit
}

// mostSessions is the largest number of sessions at a time: clients of etcd can write any number of invitations.
const mostSessions = 32

// registered registers the node and serves invitations until the registration is lost.
func (d *daemon) registered(ctx context.Context) error {
	opening, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	dir, err := registry.OpenDirectory(opening, d.Etcd)
	if err != nil {
		return d.unregistered(err)
	}
	defer func() { _ = dir.Close(ctx.Err() != nil) }() // else its lease expires
	if err := d.register(ctx, dir); err != nil {
		return d.unregistered(err)
	}
	life, stop := context.WithCancel(ctx)
	defer stop()
	invitations, err := dir.Invites(life, d.Node)
	if err != nil {
		return d.unregistered(err)
	}
	d.answer = answerIn(ctx, dir, d.Node)
	d.Say(fmt.Sprintf("node %s is registered and waits for sessions", d.Node))
	d.known, d.said = true, ""
	for {
		select {
		case i, ok := <-invitations:
			if !ok {
				return errAway
			}
			d.invited(ctx, i)
		case <-dir.Lost():
			return errAway
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// answerIn returns a function that writes to etcd why a node refuses a session. It removes the entry for
// "", without a timeout: no other process removes it after the session.
func answerIn(ctx context.Context, dir *registry.Directory, node string) func(session, why string) {
	return func(session, why string) {
		ctx := ctx
		if why != "" {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, retryPause)
			defer cancel()
		}
		_ = dir.Refuse(ctx, node, session, why) // this process has printed it already
	}
}

// unregistered makes a failed registration an errAway if an earlier one succeeded and the name is free.
func (d *daemon) unregistered(err error) error {
	if d.known && !errors.Is(err, registry.ErrTaken) {
		return fmt.Errorf("%w: %w", errAway, err)
	}
	return err
}

// openTimeout is the time limit for the first answer of etcd.
const openTimeout = 15 * time.Second

// takeOverTimeout is the time limit for the lease of a killed agent to expire: 20 s, and more if etcd was
// restarted meanwhile.
const takeOverTimeout = 45 * time.Second

// isPredecessor reports whether a registered agent used this state directory before, on the same boot. It
// is dead then, as this process has locked the directory.
func (d *daemon) isPredecessor(about []byte) bool {
	a, err := DecodeAbout(d.Node, about)
	return err == nil && d.id != "" && a.State == d.id && a.Machine == agent.HostID()
}

// register registers the node. If another agent has its name, register waits for that agent's lease to expire.
func (d *daemon) register(ctx context.Context, dir *registry.Directory) error {
	about := About{
		About: registry.AboutThis(d.Version.Version), Node: d.Node, Machine: agent.HostID(), State: d.id,
		Labels: d.Labels, Commands: d.Commands, CPUs: agent.AllowedCPUs(),
	}
	n := agent.Describe(os.DirFS("/"))
	about.GPUs, about.System = len(n.GPUs), SystemOf(n)
	waiting, cancel := context.WithTimeout(ctx, takeOverTimeout)
	defer cancel()
	for notified := false; ; notified = true {
		err := dir.Register(ctx, d.Node, about.Encode(), d.isPredecessor)
		if !errors.Is(err, registry.ErrTaken) {
			return err
		}
		if !notified {
			d.Say(fmt.Sprintf("an agent named %s is registered already; waiting for its lease to expire", d.Node))
		}
		select {
		case <-time.After(retryPause):
		case <-waiting.Done():
			return fmt.Errorf("%w; give this one another --node", err)
		}
	}
}

// invited serves the session of an invitation, or ends it if the invitation was withdrawn.
func (d *daemon) invited(ctx context.Context, i registry.Invitation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	end, serving := d.sessions[i.Session]
	switch {
	case i.Gone && serving:
		end()
	case i.Gone:
		if d.refused[i.Session] {
			delete(d.refused, i.Session)
			d.wg.Go(func() { d.answer(i.Session, "") })
		}
	case serving:
	case len(d.sessions) >= mostSessions:
		d.refused[i.Session] = true
		d.refuse(i.Session, fmt.Sprintf("this agent already serves %d sessions, its maximum", mostSessions))
	default:
		life, end := context.WithCancel(ctx)
		d.sessions[i.Session] = end
		d.wg.Go(func() {
			begun, refused := d.attend(life, i)
			if begun && !refused && ctx.Err() == nil {
				d.Say(fmt.Sprintf("session %s is over", i.Session))
			}
			d.mu.Lock()
			delete(d.sessions, i.Session)
			gone := life.Err() != nil
			if refused && !gone {
				d.refused[i.Session] = true
			}
			d.mu.Unlock()
			end()
			if refused && gone {
				d.answer(i.Session, "")
			}
		})
	}
}

// longestPause is the longest pause between attempts to reach a coordinator.
const longestPause = 15 * time.Second

// attend serves a session until its invitation is withdrawn, and reconnects after a lost link. begun
// reports whether the coordinator was reached, refused whether a reason for a refusal is left in etcd.
func (d *daemon) attend(ctx context.Context, i registry.Invitation) (begun, refused bool) {
	invitation, err := decodeInvitation(i.Body)
	if err != nil {
		d.refuse(i.Session, err.Error())
		return false, true
	}
	answered := ""
	for pause := retryPause; ctx.Err() == nil; pause = min(2*pause, longestPause) {
		s := &served{
			AgentOptions: d.AgentOptions, session: i.Session, credentials: d.Credentials,
			connect: dialer(invitation.Coordinator), begun: func() {
				d.Say(fmt.Sprintf("session %s begins", i.Session))
				begun, pause = true, retryPause
			},
		}
		err := s.run(ctx)
		if ctx.Err() != nil {
			break
		}
		if err == nil {
			if answered != "" {
				d.answer(i.Session, "")
			}
			return begun, false
		}
		next := ""
		if errors.Is(err, errBroken) {
			next = "; trying again"
		}
		if err.Error() != answered {
			answered = err.Error()
			d.answer(i.Session, answered)
			d.say(fmt.Sprintf("session %s: %v%s", i.Session, err, next))
		}
		if next == "" {
			return begun, true
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
	return begun, answered != ""
}

// refuse prints why an invitation is refused, and writes it to etcd.
func (d *daemon) refuse(session, why string) {
	if d.say(fmt.Sprintf("session %s: %s", session, why)) {
		d.wg.Go(func() { d.answer(session, why) })
	}
}

// say prints a message that untrusted peers can cause, unless there are too many. It counts the skipped ones.
func (d *daemon) say(text string) bool {
	ok, before := d.refusals.take(time.Now())
	if before > 0 {
		d.Say(fmt.Sprintf("%d further messages about invitations were left out", before))
	}
	if ok {
		d.Say(text)
	}
	return ok
}
