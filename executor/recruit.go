package executor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"weir/engine"
	"weir/executor/agent"
	"weir/executor/cluster"
	"weir/executor/daemon"
	"weir/executor/launch"
	"weir/executor/trust"
	"weir/planner"
	"weir/workload"
)

// recruits are the registered agents that a session has invited.
type recruits struct {
	dir     *cluster.Directory
	invited map[string]bool
	refused map[string]string // why a node cannot be had, by name
	said    map[string]string // what agents say of why they do not come, by node
}

// absent is how many have been invited and are not here.
func (r *recruits) absent(members map[string]agent.Member) int {
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
func (f *fleet) listen(ctx context.Context) (news []string) {
	ctx, cancel := context.WithTimeout(ctx, wordTime)
	defer cancel()
	r := f.recruits
	for _, node := range slices.Sorted(maps.Keys(r.invited)) {
		if _, here := f.s.members[node]; here {
			continue
		}
		why, err := r.dir.Refusal(ctx, node, f.s.o.SessionID)
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
func (f *fleet) recruit(ctx context.Context) error {
	dir, err := cluster.OpenDirectory(ctx, f.s.etcd)
	if err != nil {
		return err
	}
	f.recruits = &recruits{dir: dir, invited: map[string]bool{}, refused: map[string]string{}, said: map[string]string{}}
	return f.invite(ctx, f.want())
}

// want is how many agents the session is to have.
func (f *fleet) want() int {
	if f.o.Launcher == nil && len(f.o.Nodes) > 0 {
		return len(f.o.Nodes)
	}
	return f.s.wanted()
}

// invite asks further registered agents to come until so many have been asked. Too few is
// no error: whoever waits for them says so if none comes.
func (f *fleet) invite(ctx context.Context, total int) error {
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
		if _, claimed := errors.AsType[*cluster.ClaimedError](err); err != nil && !claimed && ctx.Err() == nil && r.refused[a.Node] == "" {
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
func (f *fleet) ask(ctx context.Context, a daemon.About, all []cluster.Registered) error {
	if why := f.s.useless(a); why != "" {
		return errors.New(why)
	}
	if other := f.beside(a, all); other != "" {
		return fmt.Errorf("it is on the same host as node %s, and the scenario asks for distinct ones", other)
	}
	claim := cluster.Claim{Exclusive: f.o.Exclusive || f.s.plan.Cluster.Exclusive}
	if !claim.Exclusive {
		held, err := f.held(ctx, a, all)
		if err != nil {
			return err
		}
		claim.CPUs = free(a.CPUs, held, f.s.threadsPerNode())
		claim.GPUs, claim.NICs = f.s.devices(a)
	}
	if err := f.s.cluster.Claim(ctx, a.Node, claim); err != nil {
		return err
	}
	expires := time.Now().Add(sessionLife)
	text := daemon.Invitation{
		Session: f.s.o.SessionID, Coordinator: f.address, SessionKey: f.s.signer.Public(), Fabrics: f.s.fabrics(), CPUs: claim.CPUs, Expires: expires,
		Shell: f.s.shell, Secrets: f.s.secrets,
	}.Encode()
	sealed, err := f.identity.Invite(trust.Subject{Session: f.s.o.SessionID, Node: a.Node, Name: daemon.InvitationName}, text, expires)
	if err != nil {
		return err
	}
	return f.s.cluster.Invite(ctx, a.Node, sealed)
}

// beside is another agent of the same machine that has been invited, where the plan wants
// its nodes on different ones.
func (f *fleet) beside(a daemon.About, all []cluster.Registered) string {
	if !f.s.plan.Cluster.DistinctHosts {
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
func (f *fleet) held(ctx context.Context, a daemon.About, all []cluster.Registered) ([]cluster.Claim, error) {
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

// useless says why an agent is of no use to the plan, "" if it is: what it says of itself
// saves asking it in vain.
func (s *session) useless(a daemon.About) string {
	for _, name := range slices.Sorted(maps.Keys(s.plan.Cluster.Labels)) {
		if want := s.plan.Cluster.Labels[name]; a.Labels[name] != want {
			return fmt.Sprintf("it has no label %s=%s, which the scenario asks for", name, want)
		}
	}
	if need := s.plan.Cluster.GPUsPerNode; a.GPUs < need {
		return fmt.Sprintf("it has %d GPUs, and the scenario asks for %d", a.GPUs, need)
	}
	if !a.Commands && (runsCommands(s.plan) || s.runsPrograms()) {
		return "it runs no commands, which the scenario has: start it with --allow-commands"
	}
	return ""
}

// runsCommands says whether a plan has commands for nodes.
func runsCommands(p *planner.Plan) bool {
	if len(p.Checks)+len(p.Setup)+len(p.Teardown)+len(p.Artifacts) > 0 {
		return true
	}
	for _, r := range p.Runs {
		if len(r.Setup)+len(r.Teardown)+len(r.LaunchSetup)+len(r.LaunchTeardown) > 0 {
			return true
		}
	}
	return false
}

// runsPrograms says whether ranks of the plan are programs that its scenario names.
func (s *session) runsPrograms() bool {
	return slices.ContainsFunc(s.plan.Cases, func(c *planner.Case) bool {
		d, err := s.demandOf(c)
		return err == nil && engine.RunsCommands(d.Runner)
	})
}

// devices are those of a node that the session claims, if its plan asks for any of a kind:
// all of that kind, as which of them ranks have is dealt out by each session for itself.
func (s *session) devices(a daemon.About) (gpus []int, nics []string) {
	for _, c := range s.plan.Cases {
		needs, err := s.demandOf(c)
		if err != nil || simulated(c) {
			continue
		}
		d := s.demand(c, needs)
		if len(gpus) == 0 && d.nodeGPUs+d.each.gpus > 0 {
			for i := range a.GPUs {
				gpus = append(gpus, i)
			}
		}
		if d.each.nics > 0 {
			nics = []string{"*"}
		}
	}
	return gpus, nics
}

// threadsPerNode is how many processors of a node a launch can keep busy at most, with
// the background load that may run beside it.
func (s *session) threadsPerNode() int {
	return s.perNode(func(d workload.Demand) int { return d.Threads })
}

// perNode is the most that there is of something at a time on a node of which each rank
// has so many.
func (s *session) perNode(of func(workload.Demand) int) int {
	alone, beside := 1, 0
	for _, g := range s.groups {
		most := 0
		for _, c := range g.cases {
			d, err := s.demandOf(c)
			if err != nil || simulated(c) {
				continue
			}
			nodes := max(c.Place.Nodes, 1)
			most = max(most, (d.Ranks+nodes-1)/nodes*of(d))
		}
		if g.background() {
			beside += most
		} else {
			alone = max(alone, most)
		}
	}
	return alone + beside
}

// RegisteredAgents are the names of the agents that wait for sessions in an etcd.
func RegisteredAgents(ctx context.Context, etcd cluster.Config) ([]string, error) {
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
