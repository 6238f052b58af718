package fleet

import (
	"context"
	"net"
	"slices"
	"time"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/control/link"
	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/executor/launcher"
	"github.com/weir-bench/weir/executor/placement"
)

// Options configure the agents in other processes: those that a launcher starts or, without a launcher,
// registered agents.
type Options struct {
	Launcher launcher.Launcher
	Request  launcher.Request // for the launcher; the session completes it

	// Nodes are the names of registered agents, which must all join; none: as many as the plan needs.
	Nodes       []string
	Credentials link.Credentials             // of the coordinator, for registered agents
	Labels      map[string]map[string]string // of launched agents by node; link.AnyNode: of all nodes
	Exclusive   bool                         // share the nodes of registered agents with no other session

	Listen    string        // address for connections of agents; "": none, the launcher has pipes to them
	Advertise []string      // host:port for agents instead of all addresses of this host
	Wait      time.Duration // for agents to join; 0: a minute
	Say       func(text string)
}

// Needs are the requirements of a plan.
type Needs struct {
	Nodes         int               // at once
	Labels        map[string]string // of each node
	NodeGPUs      int               // of each node, at least
	Commands      bool              // nodes run commands
	Exclusive     bool              // no other session may use the nodes
	DistinctHosts bool
	Threads       int  // busy threads of ranks per node
	GPUs, NICs    bool // ranks have devices of their own: the session reserves all of a node
}

// Config is the session's configuration of its fleet.
type Config struct {
	*Options
	Needs   Needs
	Session string // its ID
	Dir     string // the session directory
	Fabrics []string
	Shell   map[string]string // library variables for all nodes
	Secrets []string          // references

	Cluster *registry.Session // nil without an etcd
	// Lend connects a node to the part of etcd that is lent to a task there.
	Lend  func(ctx context.Context, node, task string) (net.Conn, error)
	Hosts *placement.Cluster // the nodes that have joined
	Owner Owner
}

// Owner is the session. Report may be called from any goroutine; the other methods are called from the
// goroutine of Assemble, Reacquire and Changed.
type Owner interface {
	Report(agent.Report)
	// Wait handles reports and changes until over is true or ctx ends. It returns the cause of ctx.
	Wait(ctx context.Context, over func() bool) error
	Joined(node string, member placement.Node)
	Lost(node, cause string)
}

// named reports whether a node of this name may join.
func (o *Options) named(node string) bool { return len(o.Nodes) == 0 || slices.Contains(o.Nodes, node) }
