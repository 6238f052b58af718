package cluster

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"weir/cmd/weir/exit"
	"weir/cmd/weir/input"
	"weir/cmd/weir/launcher"
	"weir/cmd/weir/stored"
	"weir/dsl"
	"weir/executor/launch"
	"weir/executor/launch/kubernetes"
	"weir/executor/trust"
	"weir/gate"
)

// manifestsFlags are the flags of weir cluster manifests.
type manifestsFlags struct {
	variables     input.Variables
	kube          kubernetes.Flags
	config        launcher.Config
	nodes         int
	session       string
	secret        string
	allowCommands bool
}

func newManifests() *cobra.Command {
	var f manifestsFlags
	cmd := &cobra.Command{
		Use:   "manifests (SCENARIO | --nodes N) --kube-image IMAGE",
		Short: "print what the launcher kubernetes would create",
		Long: `manifests prints the Indexed Job, the headless Service and the Secret with which the
launcher kubernetes puts an agent on each of as many nodes as a scenario asks for,
with the GPUs that it asks for. weir run applies the same with kubectl itself; it
creates the Job first, which owns the others, so that deleting it deletes all.

The Secret is printed without its values. An agent can do nothing without the
bootstrap document that belongs there; --with-secret puts one in, for manifests that
are to be applied by hand: whoever can read the output can then take part in the
session, and the image must have weir, as --kube-command says. All objects have the label weir.dev/session.

Patches are laid over the pod template: mappings are merged, null removes, containers,
volumes, variables and other lists that Kubernetes merges by a key are merged by it.`,
		Example: `  weir cluster manifests examples/quickstart.yaml --kube-image registry.example.com/weir:1.7
  weir cluster manifests --nodes 4 --kube-image registry.example.com/weir:1.7 --kube-resource nvidia.com/gpu=8 --kube-resource vpc.amazonaws.com/efa=32 --kube-resource memory=900Gi --kube-resource hugepages-2Mi=5120Mi
  weir cluster manifests --nodes 2 --kube-image registry.example.com/weir:1.7 --kube-patch pods.yaml | kubectl create --dry-run=server -f -`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	s := cmd.Flags()
	s.SortFlags = false
	s.IntVar(&f.nodes, "nodes", 0, "how many nodes, `N`, instead of what a scenario asks for")
	s.StringVar(&f.session, "session", "", "`ID` of the session (default what the scenario is called)")
	s.StringVar(&f.secret, "with-secret", "", "put the bootstrap document of `FILE` into the Secret; -: standard input")
	s.BoolVar(&f.allowCommands, "allow-commands", false, "agents may run the scenario's commands")
	f.variables.Add(s)
	f.config.Add(s)
	f.kube.Add(s)
	return cmd
}

func (f *manifestsFlags) run(cmd *cobra.Command, args []string) error {
	r, gpus, err := f.request(cmd, args)
	if err != nil {
		return err
	}
	if _, err := f.config.Read(launcher.Kubernetes); err != nil {
		return err
	}
	at, err := f.variables.Site.Read()
	if err != nil {
		return err
	}
	if at != nil && at.Launcher != nil && at.Launcher.Pairs[0].Key == launcher.Kubernetes {
		if _, err := f.config.Take(at.Launcher, launcher.Kubernetes); err != nil {
			return err
		}
	}
	l, err := f.kube.Launcher(gpus)
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

// request is what is asked of the launcher, and how many GPUs each node is to have.
func (f *manifestsFlags) request(cmd *cobra.Command, args []string) (r launch.Request, gpus int, err error) {
	r = launch.Request{Session: f.session, Nodes: f.nodes, AllowCommands: f.allowCommands}
	byHand := cmd.Flags().Changed("nodes")
	switch {
	case byHand == (len(args) == 1):
		return r, 0, exit.Usage("name a scenario or --nodes N, either of them")
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
	p, sources, diags, err := input.Read(args[0], options)
	if err != nil {
		return r, 0, err
	}
	if err := dsl.WriteDiagnostics(cmd.ErrOrStderr(), "text", diags, sources); err != nil {
		return r, 0, exit.With(gate.ExitExecution, fmt.Errorf("writing diagnostics: %w", err))
	}
	if diags.HasErrors() {
		return r, 0, exit.Code(gate.ExitUsage)
	}
	if r.Session == "" {
		r.Session = stored.Slug(p.Scenario.Name)
	}
	r.Nodes = max(1, p.Cluster.Nodes)
	return r, p.Cluster.GPUsPerNode, nil
}

func (f *manifestsFlags) render(in io.Reader, l *kubernetes.Launcher, r launch.Request) ([]byte, error) {
	if f.secret == "" {
		files, err := l.Render(r)
		if err != nil {
			return nil, err
		}
		return files[0].Text, nil
	}
	if l.NeedsCopy() {
		return nil, errors.New("--with-secret: nobody copies weir into the pods of manifests that are applied by hand: name an image with weir in it, and its program with --kube-command weir")
	}
	b, err := readBootstrap(in, f.secret)
	if err != nil {
		return nil, fmt.Errorf("--with-secret: %w", err)
	}
	if f.session != "" && f.session != b.Session {
		return nil, fmt.Errorf("--with-secret: the document is for session %s, not %s", b.Session, f.session)
	}
	r.Session = b.Session
	r.Bootstrap = func(string) (trust.Bootstrap, error) { return b, nil }
	return l.RenderWithSecret(r)
}

// readBootstrap reads a bootstrap document from a file, or from in if it is "-".
func readBootstrap(in io.Reader, file string) (trust.Bootstrap, error) {
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return trust.Bootstrap{}, err
		}
		defer opened.Close()
		in = opened
	}
	text, err := io.ReadAll(io.LimitReader(in, trust.MaxBootstrap+1))
	if err != nil {
		return trust.Bootstrap{}, err
	}
	return trust.DecodeBootstrap(text)
}
