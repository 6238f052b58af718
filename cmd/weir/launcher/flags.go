// Package launcher has the flags and files that say where the agents of a session are and
// who starts them: launchers with their settings, labels of nodes, the site.
package launcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"weir/cmd/weir/access"
	"weir/cmd/weir/exit"
	"weir/cmd/weir/program"
	"weir/executor/cluster"
	"weir/executor/fleet"
	"weir/executor/launch"
	"weir/executor/launch/kubernetes"
	"weir/executor/launch/slurm"
	"weir/executor/launch/ssh"
	"weir/executor/trust"
	"weir/planner"
	"weir/printable"
	"weir/quantity"
)

// Flags are the flags that say where the agents of a session are.
type Flags struct {
	launcher  string
	hosts     []string
	cluster   string
	exclusive bool
	listen    string
	advertise []string
	wait      string
	labels    []string
	config    Config
	ssh       ssh.Flags
	slurm     slurm.Flags
	kube      kubernetes.Flags
}

// The launchers, by the names that --launcher takes.
const (
	Local      = "local"
	Agents     = "agents"
	SSH        = "ssh"
	Slurm      = "slurm"
	Kubernetes = "kubernetes"
)

var launchers = []string{Local, Agents, SSH, Slurm, Kubernetes}

func (f *Flags) Add(set *pflag.FlagSet) {
	f.AddLaunchers(set)
	set.StringVar(&f.cluster, "cluster", "",
		"`DIR` of weir cluster init, for registered agents (default $XDG_CONFIG_HOME/weir/cluster)")
	set.BoolVar(&f.exclusive, "exclusive", false, "share registered agents' nodes with no other session")
	set.StringVar(&f.listen, "listen", "",
		"`HOST:PORT` on which agents call this process (default: a free port of all addresses; ssh needs none)")
	set.StringSliceVar(&f.advertise, "advertise", nil, "`HOST:PORT` that agents call instead of this host's addresses")
	set.StringVar(&f.wait, "wait", "", "`TIME` that agents may take to come (default 1m)")
	set.StringArrayVar(&f.labels, "node-label", nil, "label of nodes whose agents are launched, for cluster.labels, as `[HOSTS:]NAME=VALUE`: gpu[01-08]:rail=3 (repeatable); registered agents have their own")
}

// AddLaunchers adds the flags that say who starts agents, and what it is told.
func (f *Flags) AddLaunchers(set *pflag.FlagSet) {
	set.StringVar(&f.launcher, "launcher", "",
		"who starts agents: "+strings.Join(launchers, "|")+"; local is within this process, agents are those registered in etcd (default local, or agents where --etcd has any; ssh with --hosts)")
	set.StringSliceVar(&f.hosts, "hosts", nil, "`HOSTS` for ssh: a,b, ranges as 'gpu[01-16]', user@host, localhost for this one without ssh, @FILE with one a line; for agents: names of nodes")
	f.config.Add(set)
	f.ssh.Add(set)
	f.slurm.Add(set)
	f.kube.Add(set)
}

// Fleet is what the executor is told of agents elsewhere; nil: there are none.
func (f *Flags) Fleet(ctx context.Context, etcd cluster.Config, access *trust.EtcdAccess, p *planner.Plan,
	stderr io.Writer) (*fleet.Options, error) {
	kind, err := f.kind(ctx, etcd, stderr)
	if err != nil {
		return nil, err
	}
	if len(f.labels) > 0 && (kind == Local || kind == Agents) {
		return nil, exit.Usage("--node-label is for agents that ssh, Slurm or Kubernetes start; registered ones have those of `weir agent --label`")
	}
	if kind == Local {
		return nil, nil
	}
	wait, err := f.waiting()
	if err != nil {
		return nil, err
	}
	self, err := program.File()
	if err != nil {
		return nil, err
	}
	o := &fleet.Options{
		Access: access, Exclusive: f.exclusive, Listen: f.listen, Advertise: f.advertise, Wait: wait,
		Say:     func(text string) { fmt.Fprintf(stderr, "weir: %s\n", printable.Text(text)) },
		Request: launch.Request{Binary: self, AllowCommands: true},
	}
	if o.Listen == "" && kind != SSH {
		o.Listen = ":0"
	}
	switch kind {
	case Agents:
		o.Nodes = f.hosts
		err = f.credentials(o)
	case SSH:
		l, failed := f.ssh.Launcher(f.hosts)
		if failed != nil {
			return nil, exit.Usage("%w", failed)
		}
		o.Launcher = l
		if o.Labels, err = nodeLabels(f.labels, l.Hosts); err == nil {
			l.Hosts, err = labelled(l.Hosts, o.Labels, p.Cluster.Labels)
		}
	case Slurm:
		o.Launcher = f.slurm.Launcher(f.hosts)
	case Kubernetes:
		if o.Launcher, err = f.kube.Launcher(p.Cluster.GPUsPerNode); err != nil {
			err = exit.Usage("%w", err)
		}
	}
	if err == nil && o.Labels == nil {
		o.Labels, err = nodeLabels(f.labels, nil)
	}
	return o, err
}

// kind is the launcher that was asked for, or that follows from what else was said.
func (f *Flags) kind(ctx context.Context, etcd cluster.Config, stderr io.Writer) (string, error) {
	switch {
	case f.launcher != "" && !slices.Contains(launchers, f.launcher):
		return "", exit.Usage("--launcher %s: must be one of %s", f.launcher, strings.Join(launchers, ", "))
	case f.launcher == SSH && len(f.hosts) == 0:
		return "", exit.Usage("--launcher ssh needs --hosts")
	case f.launcher == Local && len(f.hosts) > 0:
		return "", exit.Usage("--hosts cannot be used with --launcher local, which has this host alone")
	case f.launcher == Agents && len(etcd.Endpoints) == 0:
		return "", exit.Usage("--launcher agents needs --etcd, where they are registered")
	case f.launcher != "":
		return f.launcher, nil
	case len(etcd.Endpoints) > 0:
		names, err := fleet.Registered(ctx, etcd)
		if err != nil {
			return "", err
		}
		if len(names) > 0 {
			return Agents, nil
		}
		if len(f.hosts) == 0 {
			fmt.Fprintf(stderr, "weir: no agent is registered in etcd, so this host alone runs the scenario; `weir agent` registers one\n")
			return Local, nil
		}
		return SSH, nil
	case len(f.hosts) > 0:
		return SSH, nil
	}
	return Local, nil
}

func (f *Flags) waiting() (time.Duration, error) {
	if f.wait == "" {
		return 0, nil
	}
	d, err := quantity.ParseTime(f.wait)
	if err == nil && d <= 0 {
		err = errors.New("it leaves no time")
	}
	if err != nil {
		return 0, exit.Usage("--wait: %w", err)
	}
	return d, nil
}

// credentials are those of a coordinator of the cluster that the agents have joined.
func (f *Flags) credentials(o *fleet.Options) error {
	dir := f.cluster
	if dir == "" {
		var err error
		if dir, err = access.ClusterDir(); err != nil {
			return exit.Usage("%w; give --cluster DIR", err)
		}
	}
	var err error
	if o.Identity, err = trust.LoadIdentity(dir, access.CoordinatorFiles); errors.Is(err, fs.ErrNotExist) {
		return exit.Usage("registered agents obey a coordinator of their cluster, and %s holds none: make one with `weir cluster init`, or give --cluster DIR",
			dir)
	} else if err != nil {
		return exit.Usage("--cluster: %w", err)
	}
	// without the authority's key only agents that have joined can be used
	o.Authority, err = trust.LoadAuthority(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return exit.Usage("--cluster: %w", err)
	}
	return nil
}
