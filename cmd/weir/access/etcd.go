// Package access is by what weir is let in: the flags and credentials of an etcd, and the
// files of a cluster's authority.
package access

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"weir/cmd/weir/exit"
	"weir/executor/cluster"
	"weir/executor/trust"
	"weir/gate"
)

// Etcd are the flags that say where etcd is and who asks.
type Etcd struct {
	endpoints            []string
	prefix               string
	ca, certificate, key string // files
	user, passwordFile   string
}

func (f *Etcd) Add(flags *pflag.FlagSet, etcd string) {
	flags.StringSliceVar(&f.endpoints, "etcd", nil, etcd)
	flags.StringVar(&f.prefix, "etcd-prefix", "", "`PREFIX` of all keys in etcd (default "+cluster.DefaultPrefix+")")
	flags.StringVar(&f.ca, "etcd-cacert", "",
		"certificates in `FILE` that etcd's may be signed by, instead of the system's")
	flags.StringVar(&f.certificate, "etcd-cert", "", "certificate in `FILE` to show to etcd")
	flags.StringVar(&f.key, "etcd-key", "", "key of that certificate, in `FILE`")
	flags.StringVar(&f.user, "etcd-user", "",
		"`NAME` of a user of etcd, whose password is in the environment as "+passwordVariable+" or in a file")
	flags.StringVar(&f.passwordFile, "etcd-password-file", "", "password of that user, in the first line of `FILE`")
}

// Config is what the flags say; without --etcd it has no endpoints.
func (f *Etcd) Config() (cluster.Config, error) {
	c := cluster.Config{Endpoints: f.endpoints, Prefix: f.prefix, User: f.user}
	word, err := TakeVariable(passwordVariable)
	if err != nil {
		return c, err
	}
	if len(f.endpoints) == 0 {
		for flag, value := range map[string]string{
			"prefix": f.prefix, "cacert": f.ca, "cert": f.certificate, "key": f.key, "user": f.user,
			"password-file": f.passwordFile,
		} {
			if value != "" {
				return c, exit.Usage("--etcd-%s has no meaning without --etcd, which says where etcd is", flag)
			}
		}
		return c, nil
	}
	encrypted, err := f.encrypted()
	if err == nil && encrypted {
		c.TLS, err = f.tls()
	}
	if err == nil {
		c.Password, err = f.password(word)
	}
	if err == nil {
		err = exit.With(gate.ExitUsage, c.Check())
	}
	return c, err
}

// Access is the same for agents that a launcher starts: files become their contents.
func (f *Etcd) Access(c cluster.Config) (*trust.EtcdAccess, error) {
	if len(c.Endpoints) == 0 {
		return nil, nil
	}
	a := &trust.EtcdAccess{Endpoints: c.Endpoints, Prefix: c.Prefix, User: c.User, Password: c.Password}
	for _, file := range []struct {
		flag, path string
		to         *[]byte
	}{{"cacert", f.ca, &a.CA}, {"cert", f.certificate, &a.Certificate}, {"key", f.key, &a.Key}} {
		if file.path == "" {
			continue
		}
		text, err := os.ReadFile(file.path)
		if err != nil {
			return nil, exit.Usage("--etcd-%s: %w", file.flag, err)
		}
		*file.to = text
	}
	return a, nil
}

// encrypted says whether all URLs ask for TLS; it is an error if only some do, or if
// there are certificates for nothing.
func (f *Etcd) encrypted() (bool, error) {
	secure := 0
	for _, e := range f.endpoints {
		scheme, rest, ok := strings.Cut(e, "://")
		u, err := url.Parse(e)
		switch {
		case !ok && !strings.ContainsAny(e, "/@"):
		case err != nil:
			return false, exit.Usage("--etcd: %w", err)
		case u.User != nil || strings.Contains(e, "@"):
			return false, exit.Usage("--etcd: a URL with a user in it is seen by everybody on this host; give --etcd-user NAME, and the password in the environment as %s",
				passwordVariable)
		case scheme != "http" && scheme != "https" && scheme != "unix" || rest == "":
			return false, exit.Usage("--etcd %s: must be a URL like https://host:2379", e)
		}
		if scheme != "unix" && !hasPort(e) {
			return false, exit.Usage("--etcd %s: it names no port; etcd's is 2379 as a rule: https://host:2379", e)
		}
		if scheme == "https" && ok {
			secure++
		}
	}
	certificates := f.ca != "" || f.certificate != "" || f.key != ""
	switch {
	case secure != 0 && secure != len(f.endpoints):
		return false, exit.Usage("--etcd: %d of %d URLs are https; all must be, or none", secure, len(f.endpoints))
	case secure == 0 && certificates:
		return false, exit.Usage("--etcd: certificates are of use with https only, and no URL begins with that")
	case (f.certificate == "") != (f.key == ""):
		return false, exit.Usage("--etcd-cert and --etcd-key belong together")
	}
	return secure > 0, nil
}

// hasPort says whether an endpoint, with or without a scheme, names a host and a port.
func hasPort(endpoint string) bool {
	if _, rest, ok := strings.Cut(endpoint, "://"); ok {
		endpoint, _, _ = strings.Cut(rest, "/")
	}
	host, port, err := net.SplitHostPort(endpoint)
	if err != nil || host == "" {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

func (f *Etcd) tls() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.ca != "" {
		text, err := os.ReadFile(f.ca)
		if err != nil {
			return nil, exit.Usage("--etcd-cacert: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, exit.Usage("--etcd-cacert %s: it has no certificate in PEM form", f.ca)
		}
	}
	if f.certificate != "" {
		pair, err := tls.LoadX509KeyPair(f.certificate, f.key)
		if err != nil {
			return nil, exit.Usage("--etcd-cert, --etcd-key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// password is that of the user, from a file or else from the environment.
func (f *Etcd) password(fromEnvironment string) (string, error) {
	switch {
	case strings.Contains(f.user, ":"):
		return "", exit.Usage("--etcd-user takes a name only: a command line is seen by everybody on this host; the password goes into the environment as %s, or into a file for --etcd-password-file",
			passwordVariable)
	case f.user == "" && f.passwordFile != "":
		return "", exit.Usage("--etcd-password-file needs --etcd-user")
	case f.user == "":
		return "", nil
	case f.passwordFile == "" && fromEnvironment == "":
		return "", exit.Usage("--etcd-user %s: its password is missing; set %s in the environment, or give --etcd-password-file",
			f.user, passwordVariable)
	case f.passwordFile == "":
		return fromEnvironment, nil
	}
	text, err := os.ReadFile(f.passwordFile)
	if err != nil {
		return "", exit.Usage("--etcd-password-file: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", exit.Usage("--etcd-password-file %s: its first line is empty", f.passwordFile)
	}
	return line, nil
}

// Directory opens etcd for a command about all sessions, and closes it behind the command.
func (f *Etcd) Directory(ctx context.Context, do func(*cluster.Directory) error) error {
	config, err := f.Config()
	if err != nil {
		return err
	}
	if len(config.Endpoints) == 0 {
		return exit.Usage("--etcd is missing: it says where etcd is, as https://host:2379")
	}
	d, err := cluster.OpenDirectory(ctx, config)
	if err == nil {
		err = do(d)
		if closed := d.Close(err != nil); err == nil {
			err = closed
		}
	}
	return exit.Execution(err)
}
