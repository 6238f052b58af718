package main

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

	"weir/executor/cluster"
	"weir/executor/fleet"
	"weir/executor/launch"
	"weir/executor/launch/kubernetes"
	"weir/executor/launch/slurm"
	"weir/executor/launch/ssh"
	"weir/executor/trust"
	"weir/planner"
	"weir/quantity"
)

// fleetFlags are the flags that say where the agents of a session are.
type fleetFlags struct {
	launcher  string
	hosts     []string
	cluster   string
	exclusive bool
	listen    string
	advertise []string
	wait      string
	labels    []string
	config    launcherConfig
	ssh       ssh.Flags
	slurm     slurm.Flags
	kube      kubernetes.Flags
}

// The launchers, by the names that --launcher takes.
const (
	launchLocal      = "local"
	launchAgents     = "agents"
	launchSSH        = "ssh"
	launchSlurm      = "slurm"
	launchKubernetes = "kubernetes"
)

var launchers = []string{launchLocal, launchAgents, launchSSH, launchSlurm, launchKubernetes}

func (f *fleetFlags) add(set *pflag.FlagSet) {
	f.addLaunchers(set)
	set.StringVar(&f.cluster, "cluster", "", "`DIR` of weir cluster init, for registered agents (default $XDG_CONFIG_HOME/weir/cluster)")
	set.BoolVar(&f.exclusive, "exclusive", false, "share registered agents' nodes with no other session")
	set.StringVar(&f.listen, "listen", "", "`HOST:PORT` on which agents call this process (default: a free port of all addresses; ssh needs none)")
	set.StringSliceVar(&f.advertise, "advertise", nil, "`HOST:PORT` that agents call instead of this host's addresses")
	set.StringVar(&f.wait, "wait", "", "`TIME` that agents may take to come (default 1m)")
	set.StringArrayVar(&f.labels, "node-label", nil, "label of nodes whose agents are launched, for cluster.labels, as `[HOSTS:]NAME=VALUE`: gpu[01-08]:rail=3 (repeatable); registered agents have their own")
}

// addLaunchers adds the flags that say who starts agents, and what it is told.
func (f *fleetFlags) addLaunchers(set *pflag.FlagSet) {
	set.StringVar(&f.launcher, "launcher", "", "who starts agents: "+strings.Join(launchers, "|")+"; local is within this process, agents are those registered in etcd (default local, or agents where --etcd has any; ssh with --hosts)")
	set.StringSliceVar(&f.hosts, "hosts", nil, "`HOSTS` for ssh: a,b, ranges as 'gpu[01-16]', user@host, localhost for this one without ssh, @FILE with one a line; for agents: names of nodes")
	f.config.add(set)
	f.ssh.Add(set)
	f.slurm.Add(set)
	f.kube.Add(set)
}

// fleet is what the executor is told of agents elsewhere; nil: there are none.
func (f *fleetFlags) fleet(ctx context.Context, etcd cluster.Config, access *trust.EtcdAccess, p *planner.Plan, stderr io.Writer) (*fleet.Options, error) {
	kind, err := f.kind(ctx, etcd, stderr)
	if err != nil {
		return nil, err
	}
	if len(f.labels) > 0 && (kind == launchLocal || kind == launchAgents) {
		return nil, wrongUsage("--node-label is for agents that ssh, Slurm or Kubernetes start; registered ones have those of `weir agent --label`")
	}
	if kind == launchLocal {
		return nil, nil
	}
	wait, err := f.waiting()
	if err != nil {
		return nil, err
	}
	self, err := program()
	if err != nil {
		return nil, err
	}
	o := &fleet.Options{
		Access: access, Exclusive: f.exclusive, Listen: f.listen, Advertise: f.advertise, Wait: wait,
		Say:     func(text string) { fmt.Fprintf(stderr, "weir: %s\n", text) },
		Request: launch.Request{Binary: self, AllowCommands: true},
	}
	if o.Listen == "" && kind != launchSSH {
		o.Listen = ":0"
	}
	switch kind {
	case launchAgents:
		o.Nodes = f.hosts
		err = f.credentials(o)
	case launchSSH:
		l, failed := f.ssh.Launcher(f.hosts)
		if failed != nil {
			return nil, wrongUsage("%w", failed)
		}
		o.Launcher = l
		if o.Labels, err = nodeLabels(f.labels, l.Hosts); err == nil {
			l.Hosts, err = labelled(l.Hosts, o.Labels, p.Cluster.Labels)
		}
	case launchSlurm:
		o.Launcher = f.slurm.Launcher(f.hosts)
	case launchKubernetes:
		if o.Launcher, err = f.kube.Launcher(p.Cluster.GPUsPerNode); err != nil {
			err = wrongUsage("%w", err)
		}
	}
	if err == nil && o.Labels == nil {
		o.Labels, err = nodeLabels(f.labels, nil)
	}
	return o, err
}

// kind is the launcher that was asked for, or that follows from what else was said.
func (f *fleetFlags) kind(ctx context.Context, etcd cluster.Config, stderr io.Writer) (string, error) {
	switch {
	case f.launcher != "" && !slices.Contains(launchers, f.launcher):
		return "", wrongUsage("--launcher %s: must be one of %s", f.launcher, strings.Join(launchers, ", "))
	case f.launcher == launchSSH && len(f.hosts) == 0:
		return "", wrongUsage("--launcher ssh needs --hosts")
	case f.launcher == launchLocal && len(f.hosts) > 0:
		return "", wrongUsage("--hosts cannot be used with --launcher local, which has this host alone")
	case f.launcher == launchAgents && len(etcd.Endpoints) == 0:
		return "", wrongUsage("--launcher agents needs --etcd, where they are registered")
	case f.launcher != "":
		return f.launcher, nil
	case len(etcd.Endpoints) > 0:
		names, err := fleet.Registered(ctx, etcd)
		if err != nil {
			return "", err
		}
		if len(names) > 0 {
			return launchAgents, nil
		}
		if len(f.hosts) == 0 {
			fmt.Fprintf(stderr, "weir: no agent is registered in etcd, so this host alone runs the scenario; `weir agent` registers one\n")
			return launchLocal, nil
		}
		return launchSSH, nil
	case len(f.hosts) > 0:
		return launchSSH, nil
	}
	return launchLocal, nil
}

func (f *fleetFlags) waiting() (time.Duration, error) {
	if f.wait == "" {
		return 0, nil
	}
	d, err := quantity.ParseTime(f.wait)
	if err == nil && d <= 0 {
		err = errors.New("it leaves no time")
	}
	if err != nil {
		return 0, wrongUsage("--wait: %w", err)
	}
	return d, nil
}

// credentials are those of a coordinator of the cluster that the agents have joined.
func (f *fleetFlags) credentials(o *fleet.Options) error {
	dir := f.cluster
	if dir == "" {
		var err error
		if dir, err = clusterDir(); err != nil {
			return wrongUsage("%w; give --cluster DIR", err)
		}
	}
	var err error
	if o.Identity, err = trust.LoadIdentity(dir, coordinatorFiles); errors.Is(err, fs.ErrNotExist) {
		return wrongUsage("registered agents obey a coordinator of their cluster, and %s holds none: make one with `weir cluster init`, or give --cluster DIR", dir)
	} else if err != nil {
		return wrongUsage("--cluster: %w", err)
	}
	// without the authority's key only agents that have joined can be used
	o.Authority, err = trust.LoadAuthority(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return wrongUsage("--cluster: %w", err)
	}
	return nil
}
