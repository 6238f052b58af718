package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/access"
	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/executor/control/link"
	"github.com/weir-bench/weir/executor/launcher"
	"github.com/weir-bench/weir/gate"
)

// validity is the lifetime of an authority and its certificates.
const validity = 10 * 365 * 24 * time.Hour

func newInit() *cobra.Command {
	var nodes []string
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "make a certificate authority and certificates, for sites without their own",
		Long: `init makes the certificates for mutual TLS between weir run and agents that were
started by hand: a certificate authority (ca.pem, ca.key), the certificate of weir run
(coordinator.pem, coordinator.key), and the certificate of each node (NODE.pem,
NODE.key). The default DIR is weir/cluster in $XDG_CONFIG_HOME or ~/.config. A second
call adds certificates of further nodes. Existing files are never replaced.

The .key files are secrets: coordinator.key lets its holder run on every agent what the
agent permits, a node's key lets its holder act as the node's agent, and ca.key lets its
holder act as any of them. To revoke a node's certificate, make a new authority: remove
the files, and run init again for the other nodes.

With your own CA you need none of this: give weir run and weir agent their certificates
with --tls-cert, --tls-key and --tls-ca. A coordinator needs a server certificate with the
DNS name weir-coordinator, an agent a client certificate with the name of its node.`,
		Example: `  weir cluster init --node 'gpu[01-16]'
  weir cluster init /srv/weir/cluster --node gpu17`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runInit(cmd, args, nodes) },
	}
	cmd.Flags().StringSliceVar(&nodes, "node", nil, "`NODES` that get certificates: a,b or ranges such as 'gpu[01-16]'")
	return cmd
}

func runInit(cmd *cobra.Command, args, lists []string) error {
	dir, where := "", ""
	var err error
	if len(args) > 0 && args[0] != "" {
		dir, where = args[0], " --cluster "+args[0]
	} else if dir, err = access.ClusterDir(); err != nil {
		return exit.With(gate.ExitUsage, err)
	}
	var nodes []string
	for _, list := range lists {
		some, err := launcher.Hosts(list)
		if err != nil {
			return exit.Usage("--node %s: %w", list, err)
		}
		nodes = append(nodes, some...)
	}
	made, err := initCluster(dir, nodes)
	if err == nil && len(made) == 0 {
		err = fmt.Errorf("%s and all other files exist already: name further nodes with --node, give another DIR, or remove the files, after which all agents need new certificates",
			link.FilesIn(dir, "ca").Certificate)
	}
	if err != nil {
		return exit.With(gate.ExitUsage, err)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), nextSteps, dir, "  "+strings.Join(made, "\n  "),
		time.Now().Add(validity).UTC().Format("2 January 2006"), where)
	return exit.With(gate.ExitExecution, err)
}

// subject is the subject of a certificate; its files have its name.
type subject struct {
	role link.Role
	name string
}

// initCluster makes the files that are missing, and returns a line for each that it made.
func initCluster(dir string, nodes []string) (made []string, err error) {
	authority, err := link.LoadAuthority(dir)
	if errors.Is(err, fs.ErrNotExist) {
		authority, err = newAuthority(dir)
		made = append(made, "ca.pem, ca.key: an authority")
	}
	if err != nil {
		return nil, err
	}
	all := []subject{{link.Coordinator, access.CoordinatorFiles}}
	for _, node := range nodes {
		if node == access.CoordinatorFiles || node == "ca" {
			return nil, fmt.Errorf("a node cannot be called %s: another certificate has this file name", node)
		}
		all = append(all, subject{link.Agent, node})
	}
	for _, h := range all {
		if _, err := os.Lstat(link.FilesIn(dir, h.name).Certificate); err == nil {
			continue
		}
		i, err := authority.Issue(h.role, h.name, validity)
		if err == nil {
			err = i.Save(dir, h.name)
		}
		if err != nil {
			return nil, err
		}
		made = append(made, fmt.Sprintf("%s.pem, %[1]s.key: a certificate of role %s", h.name, h.role))
	}
	return made, nil
}

// newAuthority makes an authority in a directory without files of another one.
func newAuthority(dir string) (*link.Authority, error) {
	files := link.FilesIn(dir, access.CoordinatorFiles)
	for _, path := range []string{link.FilesIn(dir, "ca").Certificate, files.Certificate, files.Key} {
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("%s exists already: give another DIR, or remove the old files", path)
		}
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("naming the authority: %w", err)
	}
	a, err := link.NewAuthority("weir on "+host, validity)
	if err == nil {
		err = a.Save(dir)
	}
	return a, err
}

const nextSteps = `Made in %s:
%s
The .key files are secrets. All certificates expire on %s.

Next:
  1. on each node, with ca.pem, NODE.pem and NODE.key:  weir agent --etcd URLS%[4]s
  2. here:                                              weir run --etcd URLS%[4]s SCENARIO
`
