// Package launcher has the flags and files about the agents of a session: launchers with their settings,
// labels of nodes, and the site.
package launcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/cmd/weir/access"
	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/program"
	"github.com/weir-bench/weir/executor/control/fleet"
	"github.com/weir-bench/weir/executor/control/link"
	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/executor/launcher"
	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/planner"
)

// Flags are the flags about the agents of a session.
type Flags struct {
	launcher  string
	hosts     []string
	tls       access.Certificates
	exclusive bool
	listen    string
	advertise []string
	wait      string
	labels    []string
	config    Config
	used      string // the launcher of Fleet
}

// The values of --launcher.
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
	f.tls.Add(set, access.CoordinatorFiles)
	set.BoolVar(&f.exclusive, "exclusive", false, "share the nodes of registered agents with no other session")
	set.StringVar(&f.listen, "listen", "",
		"listen for agents on `HOST:PORT` (default: a free port on all addresses; not needed with ssh)")
	set.StringSliceVar(&f.advertise, "advertise", nil, "`HOST:PORT` for agents to connect to (default: this host's addresses)")
	set.StringVar(&f.wait, "wait", "", "wait `TIME` for agents (default: 1m)")
	set.StringArrayVar(&f.labels, "node-label", nil, "label launched nodes for cluster.labels, as `[HOSTS:]NAME=VALUE`, such as gpu[01-08]:rail=3 (repeatable)")
}

// AddLaunchers adds the flags for the launcher, its hosts and its settings.
func (f *Flags) AddLaunchers(set *pflag.FlagSet) {
	set.StringVar(&f.launcher, "launcher", "", "how agents start: `"+strings.Join(launchers, "|")+
		"`; agents: registered in etcd (default: local; agents if --etcd has any; ssh with --hosts)")
	set.StringSliceVar(&f.hosts, "hosts", nil, "ssh `HOSTS`: a,b, 'gpu[01-16]', user@host, localhost (no ssh), @FILE (one per line); or names of agents")
	f.config.Add(set)
}

// Fleet are the executor's options for agents in other processes; nil: the session is local.
func (f *Flags) Fleet(ctx context.Context, etcd registry.Config, p *planner.Plan,
	stderr io.Writer) (*fleet.Options, error) {
	kind, err := f.kind(ctx, etcd, stderr)
	if err != nil {
		return nil, err
	}
	f.used = kind
	if len(f.labels) > 0 && (kind == Local || kind == Agents) {
		return nil, exit.Usage("--node-label is for agents that ssh, Slurm or Kubernetes start; label registered ones with `weir agent --label`")
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
		Exclusive: f.exclusive, Listen: f.listen, Advertise: f.advertise, Wait: wait,
		Say:     func(text string) { fmt.Fprintf(stderr, "weir: %s\n", printable.Text(text)) },
		Request: launcher.Request{Binary: self, AllowCommands: true},
	}
	if o.Listen == "" && kind != SSH {
		o.Listen = ":0"
	}
	switch kind {
	case Agents:
		o.Nodes = f.hosts
		o.Credentials, err = f.tls.Credentials(link.Coordinator, access.CoordinatorFiles)
	case SSH:
		l, failed := f.config.ssh.Launcher(f.hosts)
		if failed != nil {
			return nil, exit.Usage("%w", failed)
		}
		o.Launcher = l
		if o.Labels, err = nodeLabels(f.labels, l.Hosts); err == nil {
			l.Hosts, err = labelled(l.Hosts, o.Labels, p.Cluster.Labels)
		}
	case Slurm:
		o.Launcher = f.config.slurm.Launcher(f.hosts)
	case Kubernetes:
		if o.Launcher, err = f.config.kube.Launcher(p.Cluster.GPUsPerNode); err != nil {
			err = exit.Usage("%w", err)
		}
	}
	if err == nil && o.Labels == nil {
		o.Labels, err = nodeLabels(f.labels, nil)
	}
	return o, err
}

// checkHosts reports whether the launcher lacks hosts or cannot use them. Without a launcher, hosts are those of ssh.
func (f *Flags) checkHosts() error {
	given := len(f.hosts) > 0
	switch {
	case f.launcher == SSH && !given:
		return exit.Usage("--launcher ssh needs --hosts")
	case f.launcher == Local && given:
		return exit.Usage("--hosts cannot be used with --launcher local")
	case f.launcher == Kubernetes && given:
		return exit.Usage("--hosts cannot be used with --launcher kubernetes, which places pods: " +
			"select nodes by node_selector in its settings")
	case given && (f.launcher == "" || f.launcher == SSH):
		if _, err := f.config.ssh.Launcher(f.hosts); err != nil {
			return exit.Usage("%w", err)
		}
	}
	return nil
}

// kind is the launcher that is named, or that follows from --etcd and --hosts.
func (f *Flags) kind(ctx context.Context, etcd registry.Config, stderr io.Writer) (string, error) {
	switch {
	case f.launcher == Agents && len(etcd.Endpoints) == 0:
		return "", exit.Usage("--launcher agents needs --etcd")
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
			fmt.Fprintf(stderr, "weir: no agent is registered in etcd, so the scenario runs on this host only; `weir agent` registers one\n")
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
