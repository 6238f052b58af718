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

	"weir/cmd/weir/access"
	"weir/cmd/weir/exit"
	"weir/cmd/weir/program"
	"weir/executor/cgroup"
	"weir/executor/confine"
	"weir/executor/daemon"
	"weir/executor/launch"
	"weir/executor/trust"
	"weir/gate"
	"weir/printable"
	"weir/quantity"
)

// agentFlags are the flags of weir agent.
type agentFlags struct {
	etcd      access.Etcd
	node      string
	labels    map[string]string
	state     string
	join      string
	bootstrap string
	commands  bool
	allowEnv  []string
	secrets   string
	memory    string
	tasks     uint64
	rankUser  string
	identity  bool
	quiet     bool

	given string // the join token in the environment
}

func newAgent() *cobra.Command {
	var f agentFlags
	cmd := &cobra.Command{
		Use:   "agent --etcd URLS [--join FILE] | --bootstrap FILE|-",
		Short: "be a node of a cluster: run ranks for sessions on other hosts",
		Long: `agent registers this node in etcd and runs rank processes for each session that
invites it, until it is ended by SIGTERM or Ctrl-C. It obeys coordinators of the
cluster that it has joined and nobody else: make the cluster with "weir cluster
init" and a join token with "weir cluster token". The token is needed once; the
certificate that it is exchanged for is kept in the state directory.

An agent runs the engine's workloads. Checks, setup commands and artefacts of a
scenario, which are commands, need --allow-commands. Launchers (weir run
--launcher ssh|slurm|kubernetes) start agents themselves, with --bootstrap.

Without --allow-commands an agent takes from a scenario's env and from the shell
of weir run only variables that tune a library it knows (UCX, libfabric, NIXL,
NCCL, NVSHMEM, CUDA, OpenMP), with values that are no path and no command;
--allow-env NAME permits another variable, with any value, and lets requests of
workload serving carry the value that it has here. Files with secrets
(secret("file:PATH")) must be below the directory of --secrets. The environment of
the agent itself, as LD_LIBRARY_PATH in it, reaches all that it starts.

What a session starts here is in a control group of its own, where version 2 of
them is this process's to divide (root, or a service with Delegate=yes): it ends
together and may use 95% of the memory and half of the process numbers together,
or --memory and --tasks. Elsewhere these two bound each process by its rlimits.

Ranks gain no privileges, and of root's they have those to lock and place memory.
An agent that root starts should be given --rank-user: then all that a session runs
here is another user's.`,
		Example: `  weir agent --etcd https://etcd-0:2379 --join token.txt
  weir agent --etcd http://10.0.0.1:2379 --node gpu-7 --label rail=3 --allow-commands
  weir agent --etcd https://etcd-0:2379 --memory 64GiB --tasks 4096
  weir agent --print-identity`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.etcd.Add(cmd.Flags(), "`URLS` of the etcd cluster that sessions use")
	cmd.Flags().StringVar(&f.node, "node", "",
		"`NAME` of this node in sessions (default: of the launcher's environment, or the host's)")
	cmd.Flags().StringToStringVar(&f.labels, "label", nil,
		"`NAME=VALUE` that scenarios can ask for in cluster.labels; repeatable")
	cmd.Flags().StringVar(&f.state, "state", "", "`DIR` for the certificate (default $XDG_STATE_HOME/weir/agent)")
	cmd.Flags().StringVar(&f.join, "join", "",
		"`FILE` with a join token, - is stdin; or WEIR_JOIN_TOKEN in the environment")
	cmd.Flags().StringVar(&f.bootstrap, "bootstrap", "",
		"`FILE|-` that a launcher has written: serve its session and end")
	cmd.Flags().BoolVar(&f.commands, "allow-commands", false, "run commands that a scenario names, too")
	cmd.Flags().StringArrayVar(&f.allowEnv, "allow-env", nil,
		"let scenarios and shells set variable `NAME` to any value, without --allow-commands too; repeatable")
	cmd.Flags().StringVar(&f.secrets, "secrets", "",
		"`DIR` below which files with secrets are, without --allow-commands (default: there are none)")
	cmd.Flags().StringVar(&f.memory, "memory", "", "most memory, a `SIZE`, for all that a session runs here")
	cmd.Flags().Uint64Var(&f.tasks, "tasks", 0, "most processes and threads, `N`, for all that a session runs here")
	cmd.Flags().StringVar(&f.rankUser, "rank-user", "",
		"`USER[:GROUP]` whose processes are all that a session runs here (needs root; default: of the agent)")
	cmd.Flags().BoolVar(&f.identity, "print-identity", false,
		"print what the environment says of this process's place, and which rule says it")
	cmd.Flags().BoolVar(&f.quiet, "quiet", false, "say nothing but errors")
	return cmd
}

func (f *agentFlags) run(cmd *cobra.Command) error {
	place := launch.Identify(os.Environ())
	if f.identity {
		return exit.With(gate.ExitExecution, printIdentity(cmd.OutOrStdout(), place))
	}
	o, err := f.options(cmd, place)
	if err != nil {
		return err
	}
	if err := confine.NoDumps(); err != nil { // it holds keys
		return exit.With(gate.ExitExecution, err)
	}
	if f.given, err = access.TakeVariable(access.TokenVariable); err != nil {
		return exit.With(gate.ExitExecution, err)
	}
	// whoever reads its output, or the other end of its connection, may be gone: it still has to clean up
	exit.SurvivePipes()
	ctx, _, stop := exit.Abortable(cmd.Context(), 0)
	defer stop()
	if f.bootstrap != "" {
		err = f.bootstrapped(ctx, cmd, o, place)
	} else {
		err = f.registered(ctx, cmd, o)
	}
	if cause, ok := errors.AsType[*exit.Abort](context.Cause(ctx)); ok {
		return exit.Code(cause.ExitCode()) // it was told to end, and has
	}
	return err
}

func (f *agentFlags) options(cmd *cobra.Command, place launch.Identity) (daemon.Options, error) {
	self, err := program.Processes()
	if err != nil {
		return daemon.Options{}, exit.With(gate.ExitExecution, err)
	}
	limits := cgroup.Limits{Tasks: f.tasks}
	if f.memory != "" {
		size, err := quantity.ParseSize(f.memory)
		if err != nil {
			return daemon.Options{}, exit.Usage("--memory: %w", err)
		}
		limits.Memory = uint64(size)
	}
	var ranks *confine.User
	if f.rankUser != "" {
		if ranks, err = confine.ParseUser(f.rankUser); err == nil {
			err = ranks.Possible()
		}
		if err != nil {
			return daemon.Options{}, exit.Usage("--rank-user: %w", err)
		}
	}
	for _, name := range f.allowEnv {
		if name == "" || strings.ContainsAny(name, "=,* \t") {
			return daemon.Options{}, exit.Usage("--allow-env %q: must be the name of one variable", name)
		}
	}
	if f.secrets != "" {
		if f.secrets, err = directory(f.secrets); err != nil {
			return daemon.Options{}, exit.Usage("--secrets: %w", err)
		}
	}
	o := daemon.Options{
		Limits: limits, RankUser: ranks,
		Node: f.node, Labels: f.labels, Version: buildVersion(), RankCommand: self.Rank, ProbeCommand: self.Probe,
		GuardCommand: self.Guard,
		Commands:     f.commands,
		AllowEnv:     f.allowEnv, SecretsDir: f.secrets,
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

// registered runs the daemon.
func (f *agentFlags) registered(ctx context.Context, cmd *cobra.Command, o daemon.Options) error {
	etcd, err := f.etcd.Config()
	if err != nil {
		return err
	}
	if len(etcd.Endpoints) == 0 {
		return exit.Usage("an agent needs --etcd URLS, the etcd cluster that sessions use, or --bootstrap FILE from a launcher")
	}
	o.Etcd, o.State = etcd, f.state
	if o.State == "" {
		if o.State, err = stateDir(); err != nil {
			return exit.Usage("%w; give --state DIR", err)
		}
	}
	if o.Join, err = access.ReadToken(f.join, f.given, cmd.InOrStdin()); err != nil {
		return err
	}
	err = daemon.Run(ctx, o)
	if _, wrong := errors.AsType[*daemon.SetupError](err); wrong {
		return exit.With(gate.ExitUsage, err)
	}
	return exit.With(gate.ExitExecution, err)
}

// nodeVariable names the node where its host name does not: a pod may have its host's.
const nodeVariable = "WEIR_NODE"

// directory is the absolute path of one that is there.
func directory(path string) (string, error) {
	st, err := os.Stat(path)
	if err == nil && !st.IsDir() {
		err = fmt.Errorf("%s is no directory", path)
	}
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// stateDir is where the XDG base directory specification wants state to be.
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

// bootstrapped serves the session that a launcher has started this agent for.
func (f *agentFlags) bootstrapped(ctx context.Context, cmd *cobra.Command, o daemon.Options,
	place launch.Identity) error {
	var b trust.Bootstrap
	var pipe net.Conn
	var err error
	if f.bootstrap == "-" {
		b, pipe, err = daemon.Inherit(os.Stdin, os.Stdout)
		os.Stdout = os.Stderr // nothing else may be said on the connection
	} else {
		var text []byte
		if text, err = os.ReadFile(f.bootstrap); err == nil {
			b, err = trust.DecodeBootstrap(text)
		}
	}
	if err != nil {
		return exit.Usage("--bootstrap: %w", err)
	}
	if b.Node != "" && b.Node != "*" {
		o.Node = b.Node
	}
	return exit.With(gate.ExitExecution, daemon.Bootstrapped(ctx, o, b, pipe))
}

// printIdentity says what the environment tells of this process.
func printIdentity(w io.Writer, i launch.Identity) error {
	known := func(n int) string {
		if n < 0 {
			return "not known"
		}
		return strconv.Itoa(n)
	}
	rows := []struct{ name, value string }{
		{"rule", i.Rule}, {"node", i.Node}, {"rank", known(i.Rank)}, {"size", known(i.Size - 1)},
		{"local rank", known(i.LocalRank)},
		{"coordinator", i.Coordinator},
	}
	if i.Size > 0 {
		rows[3].value = strconv.Itoa(i.Size)
	}
	for _, r := range rows {
		if r.value == "" {
			r.value = "not known"
		}
		if _, err := fmt.Fprintf(w, "%-12s %s\n", r.name, r.value); err != nil {
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
