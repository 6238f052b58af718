// Package daemon is weir's agent as a process of its own: it waits on a node for
// sessions that want it, or was started for one, and does for each what an agent
// inside `weir run` does, over a link to its coordinator.
//
// It trusts nobody who can merely write to etcd: an invitation is signed by a
// coordinator of the cluster that it has joined, the coordinator shows its certificate
// when the agent calls it, and each task is signed with the key that the invitation
// names.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"weir/executor/agent"
	"weir/executor/cgroup"
	"weir/executor/cluster"
	"weir/executor/confine"
	"weir/executor/scratch"
	"weir/executor/trust"
	"weir/results"
)

// Options say who a daemon is and how it works.
type Options struct {
	Node         string            // how sessions call this node
	Labels       map[string]string // that scenarios may ask for
	Version      results.Version
	RankCommand  []string // as those of agent.Options
	ProbeCommand []string
	GuardCommand []string
	Deadlines    agent.Deadlines
	Commands     bool     // run commands that a scenario names
	AllowEnv     []string // as those of agent.Options
	SecretsDir   string
	Limits       cgroup.Limits // as those of agent.Options
	RankUser     *confine.User
	Say          func(text string) // tells whoever runs it what happens, a line at a time

	Etcd  cluster.Config // where to register
	State string         // directory for what must outlive the process: its certificate
	Join  string         // token; "": it has joined before
}

// Run registers this node and serves every session that invites it, until ctx ends. The
// error says why it could not go on.
func Run(ctx context.Context, o Options) error {
	d := &daemon{Options: o, sessions: map[string]context.CancelFunc{}, refused: map[string]bool{}}
	var err error
	if d.lock, d.id, err = lockState(o.State); err != nil {
		return err
	}
	defer d.lock.Close()
	if d.over, err = readOver(d.State); err != nil {
		return err
	}
	if err := d.credentials(time.Now()); err != nil {
		return err
	}
	if d.Limits != (cgroup.Limits{}) {
		d.Say(agent.Bounds(d.Limits))
	}
	if d.RankUser.Root() {
		d.Say("ranks run as root, as this agent does: --rank-user NAME has them run as another user")
	}
	cgroup.Sweep() // what an agent that was killed has left
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
			d.said = text // once, however long it takes
			d.Say(text)
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return nil
		}
	}
}

// again is how long to wait before something that failed is tried again.
const again = time.Second

// errAway says that what was registered is there no more.
var errAway = errors.New("the registration is gone")

// daemon is a registered agent.
type daemon struct {
	Options
	lock     *os.File
	id       string         // of the state directory
	identity trust.Identity // without a certificate until it is enrolled
	token    trust.Token
	wg       sync.WaitGroup
	known    bool                      // it was registered once: its etcd is no mistake, and may come back
	said     string                    // of why it is not registered, since it was
	answer   func(session, why string) // tells a session why this node does not come, "" that it does

	mu       sync.Mutex
	sessions map[string]context.CancelFunc // being served
	over     map[string]time.Time          // sessions that ended in order, until their invitations do
	refused  map[string]bool               // sessions whose invitation stands and is refused
	refusals limit                         // of what is said of invitations that are refused
}

// mostSessions is how many invitations are attended to at once. A client with write access to
// etcd can put any number there.
const mostSessions = 32

// registered waits for invitations as long as the registration holds.
func (d *daemon) registered(ctx context.Context) error {
	opening, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	dir, err := cluster.OpenDirectory(opening, d.Etcd)
	if err != nil {
		return d.unregistered(err)
	}
	defer func() { _ = dir.Close(ctx.Err() != nil) }() // its lease ends it where this does not
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

// answerIn tells sessions in etcd why a node does not come. What it has told it takes back with
// "", however long etcd is away: the session is over, and nobody else removes it.
func answerIn(ctx context.Context, dir *cluster.Directory, node string) func(session, why string) {
	return func(session, why string) {
		answering := ctx
		if why != "" {
			var cancel context.CancelFunc
			answering, cancel = context.WithTimeout(ctx, again)
			defer cancel()
		}
		_ = dir.Refuse(answering, node, session, why) // the output of this process has it in any case
	}
}

// unregistered is the error of not being registered: that of an etcd that is away, where
// it has been here before and nobody else has the name.
func (d *daemon) unregistered(err error) error {
	if d.known && !errors.Is(err, cluster.ErrTaken) {
		return fmt.Errorf("%w: %w", errAway, err)
	}
	return err
}

// patience is how long an etcd may take to answer at the start.
const patience = 15 * time.Second

// succession is how long the registration of an agent that was killed may stand in the
// way of the next one: for longer than the 20 s of its lease, which an etcd that was
// away itself meanwhile begins anew to count.
const succession = 45 * time.Second

// predecessor says of what a registered agent says of itself that it was the last process
// to have this state directory. It is gone then, for the directory is this one's now; of
// another boot it is not sure that the lock was the same.
func (d *daemon) predecessor(about []byte) bool {
	a, err := DecodeAbout(d.Node, about)
	return err == nil && d.id != "" && a.State == d.id && a.Machine == agent.HostID()
}

// register puts the node's name into etcd. One that another agent has is an error, unless
// that agent is gone and its lease only has to run out.
func (d *daemon) register(ctx context.Context, dir *cluster.Directory) error {
	about := About{
		About: cluster.AboutThis(d.Version.Version), Node: d.Node, Machine: agent.HostID(), State: d.id,
		Labels: d.Labels, Commands: d.Commands, CPUs: agent.AllowedCPUs(),
	}
	n := agent.Describe(os.DirFS("/"))
	about.GPUs, about.System = len(n.GPUs), SystemOf(n)
	patient, cancel := context.WithTimeout(ctx, succession)
	defer cancel()
	for told := false; ; told = true {
		err := dir.Register(ctx, d.Node, about.Encode(), d.predecessor)
		if !errors.Is(err, cluster.ErrTaken) {
			return err
		}
		if !told {
			d.Say(fmt.Sprintf("an agent named %s is registered already; waiting whether its lease runs out", d.Node))
		}
		select {
		case <-time.After(again):
		case <-patient.Done():
			return fmt.Errorf("%w; give this one another --node", err)
		}
	}
}

// invited takes an invitation, or ends the session that was withdrawn.
func (d *daemon) invited(ctx context.Context, i cluster.Invitation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	end, serving := d.sessions[i.Session]
	switch {
	case i.Gone && serving:
		end()
	case i.Gone:
		if d.refused[i.Session] { // nobody reads any more why
			delete(d.refused, i.Session)
			d.wg.Go(func() { d.answer(i.Session, "") })
		}
	case serving:
	case len(d.sessions) >= mostSessions:
		d.refused[i.Session] = true
		d.refuse(i.Session, fmt.Sprintf("this agent attends to %d sessions at a time, and has as many", mostSessions))
	default:
		life, end := context.WithCancel(ctx)
		d.sessions[i.Session] = end
		d.wg.Go(func() {
			refused := d.attend(life, i)
			if !refused && ctx.Err() == nil { // whether it was told so, or its invitation was withdrawn
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

// attend serves a session as long as its invitation stands. One that was lost is begun
// anew: the session may still have use for the node. Why it is not served the session is
// told, and refused says that this stands.
func (d *daemon) attend(ctx context.Context, i cluster.Invitation) (refused bool) {
	told := ""
	for ctx.Err() == nil {
		err := d.accept(ctx, i)
		switch {
		case ctx.Err() != nil:
			return told != ""
		case err == nil:
			if told != "" {
				d.answer(i.Session, "")
			}
			return false
		case errors.Is(err, errRefused):
			d.refuse(i.Session, err.Error())
			return true
		case err.Error() != told:
			told = err.Error()
			d.answer(i.Session, told)
		}
		if !errors.Is(err, errBroken) {
			d.Say(fmt.Sprintf("session %s: %v", i.Session, err))
			return true
		}
		d.Say(fmt.Sprintf("session %s: %v; trying again", i.Session, err))
		select {
		case <-time.After(again):
		case <-ctx.Done():
		}
	}
	return told != ""
}

// refuse tells a session, and whoever runs this process, why an invitation is refused: of so
// many of them as a person reads, and of the others how many there were.
func (d *daemon) refuse(session, why string) {
	ok, before := d.refusals.take(time.Now())
	if !ok {
		return
	}
	if before > 0 {
		d.Say(fmt.Sprintf("%d further invitations were refused", before))
	}
	d.Say(fmt.Sprintf("session %s: %s", session, why))
	d.wg.Go(func() { d.answer(session, why) })
}

// errRefused is of what was not even an invitation of the cluster's, or is one no more.
var errRefused = errors.New("refused")

// accept checks an invitation and serves its session once.
func (d *daemon) accept(ctx context.Context, i cluster.Invitation) error {
	invitation, coordinator, err := openInvitation(d.authority(), d.Node, i, time.Now())
	if err != nil {
		return err
	}
	if d.done(i.Session) {
		return fmt.Errorf("%w an invitation to a session that is over", errRefused)
	}
	identity, err := d.enrolled(ctx, invitation.Coordinator)
	if err != nil {
		return err
	}
	d.Say(fmt.Sprintf("session %s of %s begins", i.Session, coordinator))
	s := &served{
		Options: d.Options, session: i.Session, node: d.Node, identity: identity, key: invitation.SessionKey,
		cpus:    invitation.CPUs,
		fabrics: invitation.Fabrics, shell: invitation.Shell, secrets: invitation.Secrets,
		connect: dialer(invitation.Coordinator), etcd: d.Etcd,
	}
	err = s.run(ctx)
	if err == nil && ctx.Err() == nil {
		d.ended(i.Session, invitation.Expires)
	}
	return err
}

// openInvitation gives what an invitation of a node says and the name of the coordinator
// that signed it, if that is one of the authority's. Nothing is done with it before.
func openInvitation(authority []byte, node string, i cluster.Invitation, now time.Time) (Invitation, string, error) {
	about := trust.Subject{Session: i.Session, Node: node, Name: InvitationName}
	text, coordinator, err := trust.OpenInvitation(authority, about, i.Body, now)
	if err != nil {
		return Invitation{}, "", fmt.Errorf("%w: %w", errRefused, err)
	}
	invitation, err := decodeInvitation(i.Session, text)
	if err != nil {
		return Invitation{}, "", fmt.Errorf("%w an invitation of %s: %w", errRefused, coordinator, err)
	}
	return invitation, coordinator, nil
}
