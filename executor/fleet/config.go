package fleet

import (
	"context"
	"net"
	"slices"
	"time"

	"weir/executor/agent"
	"weir/executor/cluster"
	"weir/executor/launch"
	"weir/executor/placement"
	"weir/executor/trust"
)

// Options say which agents a session has that are not in its own process: those that a
// launcher starts for it, or without one those that have registered in etcd.
type Options struct {
	Launcher launch.Launcher
	Request  launch.Request // what the launcher is to do; the session adds what it alone knows

	// of registered agents: only these, all of them; none: as many as the plan needs
	Nodes     []string
	Identity  trust.Identity   // of a coordinator of the cluster that registered agents have joined
	Authority *trust.Authority // of that cluster; nil: nobody can join it now
	// how agents that are launched reach the etcd of the session; nil: through their links
	Access    *trust.EtcdAccess
	Labels    map[string]map[string]string // of nodes whose agents are launched, by node; trust.AnyNode: of all
	Exclusive bool                         // share registered agents' nodes with no other session

	Listen    string        // address for agents to call; "": none calls, a launcher's pipes lead to them
	Advertise []string      // host:port for them to call instead of all of this host's addresses
	Wait      time.Duration // for the agents to come; 0: a minute
	Say       func(text string)
}

// Needs is what a plan asks of agents.
type Needs struct {
	Nodes         int               // at once
	Labels        map[string]string // of each
	NodeGPUs      int               // of each, at least
	Commands      bool              // it has commands for nodes
	Exclusive     bool              // no other session may have a node
	DistinctHosts bool
	Threads       int  // that ranks keep busy at once on a node
	GPUs, NICs    bool // ranks have some to themselves: the session claims all of a node
}

// Config is what the session gives its fleet.
type Config struct {
	*Options
	Needs   Needs
	Session string // its id
	Dir     string // the session directory
	Key     []byte // the public key that placements are signed with
	Fabrics []string
	Shell   map[string]string // library variables that every node gets
	Secrets []string          // references

	Etcd cluster.Config
	// to an etcd that only the coordinator reaches; nil: agents reach it
	Dial    func(context.Context) (net.Conn, error)
	Cluster *cluster.Session
	Changes <-chan cluster.Member
	Hosts   *placement.Cluster // the nodes that are here
	Owner   Owner
}

// Owner is the session. Report may be called from any goroutine, all else is called from the
// one that calls Assemble and Reacquire.
type Owner interface {
	Report(agent.Report)
	// Wait takes reports and changes until over says so or ctx ends, whose cause it gives.
	Wait(ctx context.Context, over func() bool) error
	Changed(cluster.Member) error
	Lost(node, cause string)
}

// named says whether the fleet may have a node of this name.
func (o *Options) named(node string) bool { return len(o.Nodes) == 0 || slices.Contains(o.Nodes, node) }
