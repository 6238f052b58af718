package cluster

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/input"
	flags "github.com/weir-bench/weir/cmd/weir/launcher"
	"github.com/weir-bench/weir/cmd/weir/stored"
	"github.com/weir-bench/weir/executor/launcher"
	"github.com/weir-bench/weir/executor/launcher/kubernetes"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/bounded"
)

// manifestsFlags are the flags of weir cluster manifests.
type manifestsFlags struct {
	variables     input.Variables
	config        flags.Config
	nodes         int
	session       string
	secret        string
	allowCommands bool
}

func newManifests() *cobra.Command {
	var f manifestsFlags
	cmd := &cobra.Command{
		Use:   "manifests (SCENARIO | --nodes N) --kube-image IMAGE",
		Short: "print the Kubernetes objects that the launcher creates",
		Long: `manifests prints the Indexed Job, the headless Service and the Secret with which
--launcher kubernetes starts agents, one on each node, with the number of nodes and
GPUs that the scenario asks for. weir run applies the same objects with kubectl. It
creates the Job first, as the owner of the others: deleting the Job deletes all.

The Secret is printed without its values. An agent needs the bootstrap document in
it. --with-secret includes one, for manifests that you apply by hand: any reader of
the output can then join the session, and the image must contain weir at the path of
the setting command. All objects have the label weir.dev/session.

Patches are merged into the pod template: mappings are merged, null removes a key, and
lists that Kubernetes merges by a key (containers, volumes, variables) are merged by it.
The settings file has patch, node_selector and others: "weir docs hosts" lists them.`,
		Example: `  weir cluster manifests examples/quickstart.yaml --kube-image registry.example.com/weir:1.7
  weir cluster manifests --nodes 4 --kube-image registry.example.com/weir:1.7 --kube-resource nvidia.com/gpu=8 --kube-resource vpc.amazonaws.com/efa=32 --kube-resource memory=900Gi --kube-resource hugepages-2Mi=5120Mi
  weir cluster manifests --nodes 2 --launcher-config kube.yaml | kubectl create --dry-run=server -f -`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	s := cmd.Flags()
	s.SortFlags = false
	s.IntVar(&f.nodes, "nodes", 0, "number `N` of nodes, instead of a scenario")
	s.StringVar(&f.session, "session", "", "session `ID` (default: the name of the scenario)")
	s.StringVar(&f.secret, "with-secret", "", "include the bootstrap document in `FILE` (-: stdin) in the Secret")
	s.BoolVar(&f.allowCommands, "allow-commands", false, "let agents run the scenario's commands")
	f.variables.Add(s)
	f.config.Add(s)
	return cmd
}

func (f *manifestsFlags) run(cmd *cobra.Command, args []string) error {
	r, gpus, err := f.request(cmd, args)
	if err != nil {
		return err
	}
	if _, err := f.config.Read(flags.Kubernetes); err != nil {
		return err
	}
	at, err := f.variables.Site.Read()
	if err != nil {
		return err
	}
	if at != nil && at.Launcher != nil && at.Launcher.Pairs[0].Key == flags.Kubernetes {
		if _, err := f.config.Take(at.Launcher, flags.Kubernetes); err != nil {
			return err
		}
	}
	l, err := f.config.Kubernetes(gpus)
	if err != nil {
		return err
	}
	text, err := f.render(cmd.InOrStdin(), l, r)
	if err != nil {
		return exit.With(gate.ExitUsage, err)
	}
	if _, err := cmd.OutOrStdout().Write(text); err != nil {
		return exit.With(gate.ExitExecution, fmt.Errorf("writing the manifests: %w", err))
	}
	return nil
}

// request is the request to the launcher, with the number of GPUs per node.
func (f *manifestsFlags) request(cmd *cobra.Command, args []string) (r launcher.Request, gpus int, err error) {
	r = launcher.Request{Session: f.session, Nodes: f.nodes, AllowCommands: f.allowCommands}
	byHand := cmd.Flags().Changed("nodes")
	switch {
	case byHand == (len(args) == 1):
		return r, 0, exit.Usage("give either a scenario or --nodes N")
	case byHand && f.nodes < 1:
		return r, 0, exit.Usage("--nodes %d: there must be at least one", f.nodes)
	case byHand:
		if r.Session == "" {
			r.Session = "agents"
		}
		return r, 0, nil
	}
	options, err := f.variables.Options()
	if err != nil {
		return r, 0, err
	}
	p, err := input.ReadShown(cmd, args[0], options)
	if err != nil {
		return r, 0, err
	}
	if r.Session == "" {
		r.Session = stored.Slug(p.Scenario.Name)
	}
	r.Nodes = max(1, p.Cluster.Nodes)
	return r, p.Cluster.GPUsPerNode, nil
}

func (f *manifestsFlags) render(in io.Reader, l *kubernetes.Launcher, r launcher.Request) ([]byte, error) {
	if f.secret == "" {
		return l.Render(r)
	}
	if l.NeedsCopy() {
		return nil, errors.New("--with-secret: weir is not copied into pods of manifests that you apply by hand: use an image that contains weir, and give its path with kubernetes: {command: weir} in --launcher-config")
	}
	b, err := readBootstrap(in, f.secret)
	if err != nil {
		return nil, fmt.Errorf("--with-secret %s: %w", f.secret, err)
	}
	if f.session != "" && f.session != b.Session {
		return nil, fmt.Errorf("--with-secret: the document is for session %s, not %s", b.Session, f.session)
	}
	r.Session = b.Session
	r.Bootstrap = func(string) (launcher.Bootstrap, error) { return b, nil }
	return l.RenderWithSecret(r)
}

// readBootstrap reads a bootstrap document from a file, or from in if it is "-".
func readBootstrap(in io.Reader, file string) (launcher.Bootstrap, error) {
	if file != "-" {
		opened, err := bounded.Open(file, bounded.Text)
		if err != nil {
			return launcher.Bootstrap{}, err
		}
		defer opened.Close()
		in = opened
	}
	text, err := io.ReadAll(io.LimitReader(in, launcher.MaxBootstrap+1))
	if err != nil {
		return launcher.Bootstrap{}, err
	}
	return launcher.DecodeBootstrap(text)
}
