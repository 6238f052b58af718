package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"weir/executor/cluster"
	"weir/executor/daemon"
	"weir/executor/launch"
	"weir/executor/placement"
	"weir/executor/trust"
)

// recruits are the registered agents that a session has invited.
type recruits struct {
	dir     *cluster.Directory
	invited map[string]bool
	refused map[string]string // why a node cannot be had, by name
	said    map[string]string // what agents say of why they do not come, by node
}

// absent is how many have been invited and are not here.
func (r *recruits) absent(members map[string]placement.Node) int {
	n := 0
	for node := range r.invited {
		if _, here := members[node]; !here {
			n++
		}
	}
	return n
}

// listen reads what those say who have been invited and are not here, and gives what is
// new of it, for a person. An etcd that does not answer says nothing.
func (f *Fleet) listen(ctx context.Context) (news []string) {
	ctx, cancel := context.WithTimeout(ctx, wordTime)
	defer cancel()
	r := f.recruits
	for _, node := range slices.Sorted(maps.Keys(r.invited)) {
		if _, here := f.c.Hosts.Nodes[node]; here {
			continue
		}
		why, err := r.dir.Refusal(ctx, node, f.c.Session)
		if err != nil {
			return news
		}
		if why = launch.Printable(why); why != r.said[node] && why != "" {
			news = append(news, fmt.Sprintf("node %s does not come, and says: %s", node, why))
		}
		r.said[node] = why
	}
	return news
}

// recruit invites as many registered agents as the plan needs, or all that the command
// line names.
func (f *Fleet) recruit(ctx context.Context) error {
	dir, err := cluster.OpenDirectory(ctx, f.c.Etcd)
	if err != nil {
		return err
	}
	f.recruits = &recruits{
		dir: dir, invited: map[string]bool{}, refused: map[string]string{}, said: map[string]string{},
	}
	return f.invite(ctx, f.want())
}

// want is how many agents the session is to have.
func (f *Fleet) want() int {
	if f.o.Launcher == nil && len(f.o.Nodes) > 0 {
		return len(f.o.Nodes)
	}
	return f.c.Needs.Nodes
}

// invite asks further registered agents to come until so many have been asked. Too few is
// no error: whoever waits for them says so if none comes.
func (f *Fleet) invite(ctx context.Context, total int) error {
	r := f.recruits
	if len(r.invited) >= total {
		return nil
	}
	agents, err := r.dir.Agents(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(agents, func(a, b cluster.Registered) int { return strings.Compare(a.Node, b.Node) })
	for _, a := range agents {
		if len(r.invited) >= total {
			break
		}
		if r.invited[a.Node] || !f.o.named(a.Node) {
			continue
		}
		about, err := daemon.DecodeAbout(a.Node, a.About)
		if err == nil {
			err = f.ask(ctx, about, agents)
		}
		if _, claimed := errors.AsType[*cluster.ClaimedError](err); err != nil && !claimed && ctx.Err() == nil &&
			r.refused[a.Node] == "" {
			f.sayf("node %s: %v", a.Node, err)
		}
		if err != nil {
			r.refused[a.Node] = err.Error()
			continue
		}
		delete(r.refused, a.Node)
		r.invited[a.Node] = true
	}
	return context.Cause(ctx)
}

// ask claims what the session needs of a node and invites its agent.
func (f *Fleet) ask(ctx context.Context, a daemon.About, all []cluster.Registered) error {
	if why := f.c.Needs.refuses(a); why != "" {
		return errors.New(why)
	}
	if other := f.beside(a, all); other != "" {
		return fmt.Errorf("it is on the same host as node %s, and the scenario asks for distinct ones", other)
	}
	claim := cluster.Claim{Exclusive: f.o.Exclusive || f.c.Needs.Exclusive}
	if !claim.Exclusive {
		held, err := f.held(ctx, a, all)
		if err != nil {
			return err
		}
		claim.CPUs = free(a.CPUs, held, f.c.Needs.Threads)
		claim.GPUs, claim.NICs = f.c.Needs.devices(a)
	}
	if err := f.c.Cluster.Claim(ctx, a.Node, claim); err != nil {
		return err
	}
	expires := time.Now().Add(sessionLife)
	text := daemon.Invitation{
		Session: f.c.Session, Coordinator: f.address, SessionKey: f.c.Key, Fabrics: f.c.Fabrics, CPUs: claim.CPUs,
		Expires: expires,
		Shell:   f.c.Shell, Secrets: f.c.Secrets,
	}.Encode()
	sealed, err := f.identity.Invite(trust.Subject{Session: f.c.Session, Node: a.Node, Name: daemon.InvitationName},
		text, expires)
	if err != nil {
		return err
	}
	return f.c.Cluster.Invite(ctx, a.Node, sealed)
}

// beside is another agent of the same machine that has been invited, where the plan wants
// its nodes on different ones.
func (f *Fleet) beside(a daemon.About, all []cluster.Registered) string {
	if !f.c.Needs.DistinctHosts {
		return ""
	}
	for _, other := range all {
		if !f.recruits.invited[other.Node] {
			continue
		}
		if about, err := daemon.DecodeAbout(other.Node, other.About); err == nil && about.Machine == a.Machine {
			return other.Node
		}
	}
	return ""
}

// held is what sessions, this one included, have claimed of a node's machine, which may
// have other agents.
func (f *Fleet) held(ctx context.Context, a daemon.About, all []cluster.Registered) ([]cluster.Claim, error) {
	var held []cluster.Claim
	for _, other := range all {
		about, err := daemon.DecodeAbout(other.Node, other.About)
		if err != nil || about.Machine != a.Machine {
			continue
		}
		claims, err := f.recruits.dir.Claims(ctx, other.Node)
		if err != nil {
			return nil, err
		}
		held = append(held, claims...)
	}
	return held, nil
}

// free are so many of a node's processors that no other session has. Where there are not
// so many, it is all that the session would need: the claim then says who has them.
func free(all []int, held []cluster.Claim, need int) []int {
	taken := map[int]bool{}
	for _, c := range held {
		for _, cpu := range c.CPUs {
			taken[cpu] = true
		}
	}
	list := slices.DeleteFunc(slices.Clone(all), func(cpu int) bool { return taken[cpu] })
	if len(list) < need {
		list = all
	}
	return list[:min(need, len(list))]
}

// refuses says why an agent is of no use to the plan, "" if it is: what it says of itself
// saves asking it in vain.
func (n Needs) refuses(a daemon.About) string {
	for _, name := range slices.Sorted(maps.Keys(n.Labels)) {
		if want := n.Labels[name]; a.Labels[name] != want {
			return fmt.Sprintf("it has no label %s=%s, which the scenario asks for", name, want)
		}
	}
	if need := n.NodeGPUs; a.GPUs < need {
		return fmt.Sprintf("it has %d GPUs, and the scenario asks for %d", a.GPUs, need)
	}
	if !a.Commands && n.Commands {
		return "it runs no commands, which the scenario has: start it with --allow-commands"
	}
	return ""
}

// devices are those of a node that the session claims: all of a kind, as which of them ranks
// have is decided by each session for itself.
func (n Needs) devices(a daemon.About) (gpus []int, nics []string) {
	for i := range a.GPUs {
		if n.GPUs {
			gpus = append(gpus, i)
		}
	}
	if n.NICs {
		nics = []string{"*"}
	}
	return gpus, nics
}

// Registered are the names of the agents that wait for sessions in an etcd.
func Registered(ctx context.Context, etcd cluster.Config) ([]string, error) {
	dir, err := cluster.OpenDirectory(ctx, etcd)
	if err != nil {
		return nil, err
	}
	agents, err := dir.Agents(ctx)
	if err := errors.Join(err, dir.Close(false)); err != nil {
		return nil, err
	}
	var names []string
	for _, a := range agents {
		names = append(names, a.Node)
	}
	return names, nil
}
