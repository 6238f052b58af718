package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/access"
	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/program"
	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/control/fleet"
	"github.com/weir-bench/weir/executor/control/link"
	"github.com/weir-bench/weir/executor/host/cgroup"
	"github.com/weir-bench/weir/executor/host/confine"
	"github.com/weir-bench/weir/executor/launcher"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/internal/quantity"
)

// agentFlags are the flags of weir agent.
type agentFlags struct {
	etcd      access.Etcd
	node      string
	labels    map[string]string
	state     string
	tls       access.Certificates
	bootstrap string
	commands  bool
	allowEnv  []string
	secrets   string
	memory    string
	tasks     uint64
	rankUser  string
	identity  bool
	quiet     bool
}

func newAgent() *cobra.Command {
	var f agentFlags
	cmd := &cobra.Command{
		Use:   "agent --etcd URLS | --bootstrap FILE|-",
		Short: "run ranks on this node for sessions on other hosts",
		Long: `agent registers this node in etcd and runs rank processes for each session that
invites it, until SIGTERM or Ctrl-C. It connects to the session's coordinator with
mutual TLS, and accepts only a coordinator certificate that is signed by its CA and
has the name weir-coordinator. "weir cluster init --node NODE" makes a CA and a
certificate for the node; with your own CA, give --tls-cert, --tls-key and --tls-ca.
The files are read for each session, so a certificate can be renewed while the agent
runs.

An agent always runs the engine's workloads. Commands of a scenario (checks, setup
commands, artifacts) need --allow-commands. Launchers (weir run --launcher
ssh|slurm|kubernetes) start agents themselves, with --bootstrap.

Without --allow-commands, an agent accepts from a scenario's env and from the shell
of weir run only variables that tune a known library (UCX, libfabric, NIXL, NCCL,
NVSHMEM, CUDA, OpenMP), with values that are neither a path nor a command.
--allow-env NAME permits another variable, with any value, and lets requests of
workload serving send its value on this node. Files with secrets
(secret("file:PATH")) must be below the directory of --secrets. All processes
inherit the environment of the agent itself, such as LD_LIBRARY_PATH.

The processes of a session run in their own cgroup, where cgroup v2 is delegated to
this process (root, or a service with Delegate=yes). They end together, and may use
95% of the memory and half of the process IDs in total, or --memory and --tasks.
Without a cgroup, --memory and --tasks limit each process (rlimits).

Ranks gain no privileges; of root's they keep those to lock and to place memory.
Give an agent that root starts --rank-user: all processes of a session then run as
that user.`,
		Example: `  weir agent --etcd https://etcd-0:2379
  weir agent --etcd https://etcd-0:2379 --tls-ca site.pem --tls-cert gpu-7.pem --tls-key gpu-7.key
  weir agent --etcd http://10.0.0.1:2379 --node gpu-7 --label rail=3 --allow-commands
  weir agent --etcd https://etcd-0:2379 --memory 64GiB --tasks 4096
  weir agent --print-identity`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.etcd.Add(cmd.Flags(), "`URLS` of the etcd cluster that sessions use")
	cmd.Flags().StringVar(&f.node, "node", "",
		"node `NAME` (default: from the launcher's environment, else the host name)")
	cmd.Flags().StringToStringVar(&f.labels, "label", nil,
		"`NAME=VALUE` label, for cluster.labels of scenarios (repeatable)")
	cmd.Flags().StringVar(&f.state, "state", "", "state `DIR` of this agent (default: $XDG_STATE_HOME/weir/agent)")
	f.tls.Add(cmd.Flags(), "NODE")
	cmd.Flags().StringVar(&f.bootstrap, "bootstrap", "",
		"bootstrap document `FILE|-` of a launcher: serve one session and exit")
	cmd.Flags().BoolVar(&f.commands, "allow-commands", false, "run the commands of scenarios")
	cmd.Flags().StringArrayVar(&f.allowEnv, "allow-env", nil,
		"let scenarios and shells set variable `NAME` to any value (repeatable)")
	cmd.Flags().StringVar(&f.secrets, "secrets", "",
		"`DIR` with the files that scenarios may read as secrets without --allow-commands")
	cmd.Flags().StringVar(&f.memory, "memory", "", "memory limit `SIZE` for all processes of a session on this node")
	cmd.Flags().Uint64Var(&f.tasks, "tasks", 0, "limit `N` of processes and threads of a session on this node")
	cmd.Flags().StringVar(&f.rankUser, "rank-user", "",
		"run all processes of a session as `USER[:GROUP]` (needs root; default: the agent's user)")
	cmd.Flags().BoolVar(&f.identity, "print-identity", false,
		"print node, rank and size as found in the environment, and by which rule")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "print only errors")
	return cmd
}

func (f *agentFlags) run(cmd *cobra.Command) error {
	place := launcher.Identify(os.Environ())
	if f.identity {
		return exit.With(gate.ExitExecution, printIdentity(cmd.OutOrStdout(), place))
	}
	o, err := f.options(cmd, place)
	if err != nil {
		return err
	}
	if err := confine.NoDumps(); err != nil { // this process holds keys
		return exit.With(gate.ExitExecution, err)
	}
	exit.SurvivePipes() // the agent cleans up even when its output or its connection is closed
	ctx, _, stop := exit.Abortable(cmd.Context(), 0)
	defer stop()
	if f.bootstrap != "" {
		err = f.bootstrapped(ctx, cmd, o, place)
	} else {
		err = f.registered(ctx, cmd, o)
	}
	if cause, ok := errors.AsType[*exit.Abort](context.Cause(ctx)); ok {
		return exit.Code(cause.ExitCode()) // it ended as it was told to
	}
	return err
}

func (f *agentFlags) options(cmd *cobra.Command, place launcher.Identity) (fleet.AgentOptions, error) {
	self, err := program.Processes()
	if err != nil {
		return fleet.AgentOptions{}, exit.With(gate.ExitExecution, err)
	}
	limits := cgroup.Limits{Tasks: f.tasks}
	if f.memory != "" {
		size, err := quantity.ParseSize(f.memory)
		if err != nil {
			return fleet.AgentOptions{}, exit.Usage("--memory: %w", err)
		}
		limits.Memory = uint64(size)
	}
	var ranks *confine.User
	if f.rankUser != "" {
		if ranks, err = confine.ParseUser(f.rankUser); err == nil {
			err = ranks.Possible()
		}
		if err != nil {
			return fleet.AgentOptions{}, exit.Usage("--rank-user: %w", err)
		}
	}
	for _, name := range f.allowEnv {
		if name == "" || strings.ContainsAny(name, "=,* \t") {
			return fleet.AgentOptions{}, exit.Usage("--allow-env %q: must be the name of one variable", name)
		}
	}
	if f.secrets != "" {
		if f.secrets, err = directory(f.secrets); err != nil {
			return fleet.AgentOptions{}, exit.Usage("--secrets: %w", err)
		}
	}
	o := fleet.AgentOptions{
		Options: agent.Options{
			Limits: limits, RankUser: ranks, Node: f.node, Labels: f.labels, RankCommand: self.Rank,
			ProbeCommand: self.Probe, GuardCommand: self.Guard, AllowEnv: f.allowEnv, SecretsDir: f.secrets,
		},
		Version: buildVersion(), Commands: f.commands,
		Say: func(text string) {
			if !f.quiet {
				fmt.Fprintf(cmd.ErrOrStderr(), "weir agent: %s\n", printable.Text(text))
			}
		},
	}
	if o.Node == "" {
		o.Node = cmp.Or(os.Getenv(nodeVariable), place.Node)
	}
	if o.Node == "" {
		if o.Node, err = os.Hostname(); err != nil {
			return o, exit.With(gate.ExitExecution, fmt.Errorf("naming this node: %w", err))
		}
	}
	return o, nil
}

// registered registers the agent in etcd and serves sessions.
func (f *agentFlags) registered(ctx context.Context, cmd *cobra.Command, o fleet.AgentOptions) error {
	etcd, err := f.etcd.Config()
	if err != nil {
		return err
	}
	if len(etcd.Endpoints) == 0 {
		return exit.Usage("an agent needs --etcd URLS (the etcd cluster that sessions use) or --bootstrap FILE (from a launcher)")
	}
	o.Etcd, o.State = etcd, f.state
	if o.State == "" {
		if o.State, err = stateDir(); err != nil {
			return exit.Usage("%w; give --state DIR", err)
		}
	}
	if o.Credentials, err = f.tls.Credentials(link.Agent, o.Node); err != nil {
		return err
	}
	err = fleet.RunAgent(ctx, o)
	if _, wrong := errors.AsType[*fleet.SetupError](err); wrong {
		return exit.With(gate.ExitUsage, err)
	}
	return exit.With(gate.ExitExecution, err)
}

// nodeVariable overrides the host name as the name of the node: a pod may have its host's name.
const nodeVariable = "WEIR_NODE"

// directory is the absolute path of an existing directory.
func directory(path string) (string, error) {
	st, err := os.Stat(path)
	if err == nil && !st.IsDir() {
		err = fmt.Errorf("%s is not a directory", path)
	}
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// stateDir is the default of --state, by the XDG base directory specification.
func stateDir() (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "weir", "agent"), nil
}

// bootstrapped serves the session for which a launcher has started this agent.
func (f *agentFlags) bootstrapped(ctx context.Context, cmd *cobra.Command, o fleet.AgentOptions,
	place launcher.Identity) error {
	var b launcher.Bootstrap
	var pipe net.Conn
	var err error
	if f.bootstrap == "-" {
		b, pipe, err = fleet.Inherit(os.Stdin, os.Stdout)
		os.Stdout = os.Stderr // stdout is the connection
	} else {
		var text []byte
		if text, err = bounded.ReadFile(f.bootstrap, bounded.Text); err == nil {
			b, err = launcher.DecodeBootstrap(text)
		}
	}
	if err != nil {
		return exit.Usage("--bootstrap: %w", err)
	}
	if b.Node != "" && b.Node != "*" {
		o.Node = b.Node
	}
	return exit.With(gate.ExitExecution, fleet.RunBootstrapped(ctx, o, b, pipe))
}

// printIdentity prints the identity that was read from the environment.
func printIdentity(w io.Writer, i launcher.Identity) error {
	known := func(n int) string {
		if n < 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	size := i.Size
	if size == 0 {
		size = -1
	}
	rows := []struct{ name, value string }{
		{"rule", i.Rule}, {"node", i.Node}, {"rank", known(i.Rank)}, {"size", known(size)},
		{"local rank", known(i.LocalRank)}, {"coordinator", i.Coordinator},
	}
	for _, r := range rows {
		if _, err := fmt.Fprintf(w, "%-12s %s\n", r.name, cmp.Or(r.value, "not known")); err != nil {
			return err
		}
	}
	for _, note := range i.Notes {
		if _, err := fmt.Fprintf(w, "%-12s %s\n", "note", note); err != nil {
			return err
		}
	}
	return nil
}
