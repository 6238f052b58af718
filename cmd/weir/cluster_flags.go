package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"weir/executor/cluster"
	"weir/executor/trust"
	"weir/gate"
)

// passwordVariable has the password of etcd's user: a command line is everybody's to read.
const passwordVariable = "WEIR_ETCD_PASSWORD"

// clusterFlags say where etcd is and who asks.
type clusterFlags struct {
	endpoints            []string
	prefix               string
	ca, certificate, key string // files
	user, passwordFile   string
}

func (f *clusterFlags) add(flags *pflag.FlagSet, etcd string) {
	flags.StringSliceVar(&f.endpoints, "etcd", nil, etcd)
	flags.StringVar(&f.prefix, "etcd-prefix", "", "`PREFIX` of all keys in etcd (default "+cluster.DefaultPrefix+")")
	flags.StringVar(&f.ca, "etcd-cacert", "", "certificates in `FILE` that etcd's may be signed by, instead of the system's")
	flags.StringVar(&f.certificate, "etcd-cert", "", "certificate in `FILE` to show to etcd")
	flags.StringVar(&f.key, "etcd-key", "", "key of that certificate, in `FILE`")
	flags.StringVar(&f.user, "etcd-user", "", "`NAME` of a user of etcd, whose password is in the environment as "+passwordVariable+" or in a file")
	flags.StringVar(&f.passwordFile, "etcd-password-file", "", "password of that user, in the first line of `FILE`")
}

// config is what the flags say; without --etcd it has no endpoints.
func (f *clusterFlags) config() (cluster.Config, error) {
	c := cluster.Config{Endpoints: f.endpoints, Prefix: f.prefix, User: f.user}
	word, err := takeVariable(passwordVariable)
	if err != nil {
		return c, err
	}
	if len(f.endpoints) == 0 {
		for flag, value := range map[string]string{
			"prefix": f.prefix, "cacert": f.ca, "cert": f.certificate, "key": f.key, "user": f.user, "password-file": f.passwordFile,
		} {
			if value != "" {
				return c, wrongUsage("--etcd-%s has no meaning without --etcd, which says where etcd is", flag)
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
		err = withCode(gate.ExitUsage, c.Check())
	}
	return c, err
}

// takeVariable takes a variable with a credential out of the environment: what weir starts
// has no use for it.
func takeVariable(name string) (string, error) {
	value := os.Getenv(name)
	if err := os.Unsetenv(name); err != nil {
		return "", fmt.Errorf("taking %s out of the environment: %w", name, err)
	}
	return value, nil
}

// access is the same for agents that a launcher starts: files become their contents.
func (f *clusterFlags) access(c cluster.Config) (*trust.EtcdAccess, error) {
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
			return nil, wrongUsage("--etcd-%s: %w", file.flag, err)
		}
		*file.to = text
	}
	return a, nil
}

// encrypted says whether all URLs ask for TLS; it is an error if only some do, or if
// there are certificates for nothing.
func (f *clusterFlags) encrypted() (bool, error) {
	secure := 0
	for _, e := range f.endpoints {
		scheme, rest, ok := strings.Cut(e, "://")
		u, err := url.Parse(e)
		switch {
		case !ok && !strings.ContainsAny(e, "/@"):
		case err != nil:
			return false, wrongUsage("--etcd: %w", err)
		case u.User != nil || strings.Contains(e, "@"):
			return false, wrongUsage("--etcd: a URL with a user in it is seen by everybody on this host; give --etcd-user NAME, and the password in the environment as %s", passwordVariable)
		case scheme != "http" && scheme != "https" && scheme != "unix" || rest == "":
			return false, wrongUsage("--etcd %s: must be a URL like https://host:2379", e)
		}
		if scheme == "https" && ok {
			secure++
		}
	}
	certificates := f.ca != "" || f.certificate != "" || f.key != ""
	switch {
	case secure != 0 && secure != len(f.endpoints):
		return false, wrongUsage("--etcd: %d of %d URLs are https; all must be, or none", secure, len(f.endpoints))
	case secure == 0 && certificates:
		return false, wrongUsage("--etcd: certificates are of use with https only, and no URL begins with that")
	case (f.certificate == "") != (f.key == ""):
		return false, wrongUsage("--etcd-cert and --etcd-key belong together")
	}
	return secure > 0, nil
}

func (f *clusterFlags) tls() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.ca != "" {
		text, err := os.ReadFile(f.ca)
		if err != nil {
			return nil, wrongUsage("--etcd-cacert: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, wrongUsage("--etcd-cacert %s: it has no certificate in PEM form", f.ca)
		}
	}
	if f.certificate != "" {
		pair, err := tls.LoadX509KeyPair(f.certificate, f.key)
		if err != nil {
			return nil, wrongUsage("--etcd-cert, --etcd-key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// password is that of the user, from a file or else from the environment.
func (f *clusterFlags) password(fromEnvironment string) (string, error) {
	switch {
	case strings.Contains(f.user, ":"):
		return "", wrongUsage("--etcd-user takes a name only: a command line is seen by everybody on this host; the password goes into the environment as %s, or into a file for --etcd-password-file", passwordVariable)
	case f.user == "" && f.passwordFile != "":
		return "", wrongUsage("--etcd-password-file needs --etcd-user")
	case f.user == "":
		return "", nil
	case f.passwordFile == "" && fromEnvironment == "":
		return "", wrongUsage("--etcd-user %s: its password is missing; set %s in the environment, or give --etcd-password-file", f.user, passwordVariable)
	case f.passwordFile == "":
		return fromEnvironment, nil
	}
	text, err := os.ReadFile(f.passwordFile)
	if err != nil {
		return "", wrongUsage("--etcd-password-file: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", wrongUsage("--etcd-password-file %s: its first line is empty", f.passwordFile)
	}
	return line, nil
}
