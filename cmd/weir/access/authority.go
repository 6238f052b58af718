package access

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/executor/control/link"
)

// CoordinatorFiles is the name of a coordinator's certificate and key files, without .pem and .key.
const CoordinatorFiles = "coordinator"

// ClusterDir is the default directory of this user's cluster certificates.
func ClusterDir() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("no default directory for cluster files, so give a directory: %w", err)
	}
	return filepath.Join(dir, "weir", "cluster"), nil
}

// Certificates are the flags for the mutual TLS between coordinator and registered agents.
type Certificates struct{ dir, certificate, key, ca string }

// Add adds the flags; name is the base name of this process's files in DIR.
func (c *Certificates) Add(set *pflag.FlagSet, name string) {
	set.StringVar(&c.dir, "cluster", "", fmt.Sprintf("`DIR` with ca.pem, %s.pem and %[1]s.key, from weir cluster init "+
		"(default: $XDG_CONFIG_HOME/weir/cluster)", name))
	set.StringVar(&c.certificate, "tls-cert", "", "certificate `FILE` of your own CA, instead of --cluster")
	set.StringVar(&c.key, "tls-key", "", "private key `FILE` for --tls-cert")
	set.StringVar(&c.ca, "tls-ca", "", "CA bundle `FILE` for the peer's certificate")
}

// Credentials loads the certificate that the flags name, anew for each connection. name is the base
// name of its files in the cluster directory.
func (c *Certificates) Credentials(role link.Role, name string) (link.Credentials, error) {
	files, err := c.files(name)
	if err != nil {
		return nil, err
	}
	i, err := files.Load()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit.Usage("the %s has no certificate: make one with `weir cluster init`, or give --cluster DIR, or --tls-cert, --tls-key and --tls-ca (%w)",
			role, err)
	}
	if err == nil {
		err = i.Check(role, name)
	}
	if err != nil {
		return nil, exit.Usage("%s: %w", files.Certificate, err)
	}
	return files.Load, nil
}

// Check checks what the flags name, without reading it.
func (c *Certificates) Check() error {
	if *c == (Certificates{}) {
		return nil
	}
	if _, err := c.files(""); err != nil || c.dir == "" {
		return err
	}
	if st, err := os.Stat(c.dir); err != nil || !st.IsDir() {
		return exit.Usage("--cluster %s: there is no such directory", c.dir)
	}
	return nil
}

func (c *Certificates) files(name string) (link.Files, error) {
	given := 0
	for _, file := range []string{c.certificate, c.key, c.ca} {
		if file != "" {
			given++
		}
	}
	switch {
	case given == 3 && c.dir != "":
		return link.Files{}, exit.Usage("--cluster and --tls-cert cannot be used together")
	case given == 3:
		return link.Files{CA: c.ca, Certificate: c.certificate, Key: c.key}, nil
	case given > 0:
		return link.Files{}, exit.Usage("--tls-cert, --tls-key and --tls-ca belong together")
	}
	dir := c.dir
	if dir == "" {
		var err error
		if dir, err = ClusterDir(); err != nil {
			return link.Files{}, exit.Usage("%w; give --cluster DIR", err)
		}
	}
	return link.FilesIn(dir, name), nil
}
