package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/executor/launcher"
	"github.com/weir-bench/weir/executor/placement"
)

// recruits are the registered agents that a session has invited.
type recruits struct {
	dir      *registry.Directory
	invited  map[string]bool
	unusable map[string]string // reasons why nodes were not invited
	refusals map[string]string // reasons why agents refuse an invitation, by node
}

// absent is the number of invited agents that have not joined.
func (r *recruits) absent(members map[string]placement.Node) int {
	n := 0
	for node := range r.invited {
		if _, here := members[node]; !here {
			n++
		}
	}
	return n
}

// readRefusals reads the refusals of agents that have not joined, and returns messages about new ones. It
// ignores errors of etcd.
func (f *Fleet) readRefusals(ctx context.Context) (news []string) {
	ctx, cancel := context.WithTimeout(ctx, refusalTime)
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
		if why = launcher.Printable(why); why != r.refusals[node] && why != "" {
			news = append(news, fmt.Sprintf("node %s refuses the invitation: %s", node, why))
		}
		r.refusals[node] = why
	}
	return news
}

// recruit invites as many registered agents as the plan needs, or all named ones.
func (f *Fleet) recruit(ctx context.Context) error {
	f.recruits = &recruits{
		dir: f.c.Cluster.Directory(), invited: map[string]bool{}, unusable: map[string]string{},
		refusals: map[string]string{},
	}
	return f.invite(ctx, f.want())
}

// want is the number of agents that the session needs.
func (f *Fleet) want() int {
	if f.o.Launcher == nil && len(f.o.Nodes) > 0 {
		return len(f.o.Nodes)
	}
	return f.c.Needs.Nodes
}

// invite invites further registered agents, up to a total. Too few are no error: Assemble reports that.
func (f *Fleet) invite(ctx context.Context, total int) error {
	r := f.recruits
	if len(r.invited) >= total {
		return nil
	}
	agents, err := r.dir.Agents(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(agents, func(a, b registry.Registered) int { return strings.Compare(a.Node, b.Node) })
	for _, a := range agents {
		if len(r.invited) >= total {
			break
		}
		if r.invited[a.Node] || !f.o.named(a.Node) {
			continue
		}
		about, err := DecodeAbout(a.Node, a.About)
		if err == nil {
			err = f.ask(ctx, about, agents)
		}
		if _, reserved := errors.AsType[*registry.ReservedError](err); err != nil && !reserved && ctx.Err() == nil &&
			r.unusable[a.Node] == "" {
			f.sayf("node %s: %v", a.Node, err)
		}
		if err != nil {
			r.unusable[a.Node] = err.Error()
			continue
		}
		delete(r.unusable, a.Node)
		r.invited[a.Node] = true
	}
	return context.Cause(ctx)
}

// ask reserves what the session needs of a node and invites its agent.
func (f *Fleet) ask(ctx context.Context, a About, all []registry.Registered) error {
	if why := f.c.Needs.lacking(a); why != "" {
		return errors.New(why)
	}
	if other := f.sameHost(a, all); other != "" {
		return fmt.Errorf("it is on the same host as node %s, and the scenario needs distinct hosts", other)
	}
	r := registry.Reservation{Exclusive: f.o.Exclusive || f.c.Needs.Exclusive}
	if !r.Exclusive {
		held, err := f.held(ctx, a, all)
		if err != nil {
			return err
		}
		r.CPUs = free(a.CPUs, held, f.c.Needs.Threads)
		r.GPUs, r.NICs = f.c.Needs.devices(a)
	}
	if err := f.c.Cluster.Reserve(ctx, a.Node, r); err != nil {
		return err
	}
	f.mu.Lock()
	f.reserved[a.Node] = r.CPUs
	f.mu.Unlock()
	return f.c.Cluster.Invite(ctx, a.Node, Invitation{Coordinator: f.address}.Encode())
}

// sameHost is an invited agent on the same machine, if the plan needs distinct hosts.
func (f *Fleet) sameHost(a About, all []registry.Registered) string {
	if !f.c.Needs.DistinctHosts {
		return ""
	}
	for _, other := range all {
		if !f.recruits.invited[other.Node] {
			continue
		}
		if about, err := DecodeAbout(other.Node, other.About); err == nil && about.Machine == a.Machine {
			return other.Node
		}
	}
	return ""
}

// held are the reservations of all sessions on a node's machine, which may have several agents.
func (f *Fleet) held(ctx context.Context, a About, all []registry.Registered) ([]registry.Reservation, error) {
	var held []registry.Reservation
	for _, other := range all {
		about, err := DecodeAbout(other.Node, other.About)
		if err != nil || about.Machine != a.Machine {
			continue
		}
		some, err := f.recruits.dir.Reservations(ctx, other.Node)
		if err != nil {
			return nil, err
		}
		held = append(held, some...)
	}
	return held, nil
}

// free are the needed number of processors that no session has reserved or, if there are too few, any
// processors: the reservation then fails and names the other session.
func free(all []int, held []registry.Reservation, need int) []int {
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

// lacking is the reason why an agent does not meet the needs of the plan, or "".
func (n Needs) lacking(a About) string {
	for _, name := range slices.Sorted(maps.Keys(n.Labels)) {
		if want := n.Labels[name]; a.Labels[name] != want {
			return fmt.Sprintf("it has no label %s=%s, which the scenario needs", name, want)
		}
	}
	if need := n.NodeGPUs; a.GPUs < need {
		return fmt.Sprintf("it has %d GPUs, and the scenario needs %d", a.GPUs, need)
	}
	if !a.Commands && n.Commands {
		return "it may not run commands, which the scenario has: start it with --allow-commands"
	}
	return ""
}

// devices are the GPUs and NICs to reserve: all or none, as each session binds its ranks to devices itself.
func (n Needs) devices(a About) (gpus []int, nics []string) {
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

// Registered are the names of the registered agents in an etcd.
func Registered(ctx context.Context, etcd registry.Config) ([]string, error) {
	dir, err := registry.OpenDirectory(ctx, etcd)
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
