// Package access has the flags and credentials for etcd, and the certificates of coordinators and agents.
package access

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/bounded"
)

// Etcd are the flags for the endpoints and credentials of etcd.
type Etcd struct {
	endpoints            []string
	prefix               string
	ca, certificate, key string // files
	user, passwordFile   string
	fromSite             bool
}

// settings are all settings but the URLs, by their names in the key etcd of a site file.
func (f *Etcd) settings() map[string]*string {
	return map[string]*string{
		"prefix": &f.prefix, "cacert": &f.ca, "cert": &f.certificate, "key": &f.key, "user": &f.user,
		"password_file": &f.passwordFile,
	}
}

// EtcdSettings are the names of the settings, sorted.
func EtcdSettings() []string { return slices.Sorted(maps.Keys(new(Etcd).settings())) }

// Take replaces the settings by those of a site file, if --etcd names an etcd.
func (f *Etcd) Take(site map[string]string) {
	if f.fromSite = !f.none(); f.fromSite {
		for name, v := range f.settings() {
			*v = site[name]
		}
	}
}

// none reports whether no external etcd is named.
func (f *Etcd) none() bool {
	return len(f.endpoints) == 0 || len(f.endpoints) == 1 && f.endpoints[0] == embedded
}

// name is the flag or the site key of a setting, for messages.
func (f *Etcd) name(setting string) string {
	if f.fromSite {
		return "etcd." + setting + " of the site"
	}
	return "--etcd-" + strings.ReplaceAll(setting, "_", "-")
}

// AddURLs adds only --etcd, for commands that read the other settings from the site file.
func (f *Etcd) AddURLs(flags *pflag.FlagSet, etcd string) {
	flags.StringSliceVar(&f.endpoints, "etcd", nil, etcd)
}

func (f *Etcd) Add(flags *pflag.FlagSet, etcd string) {
	f.AddURLs(flags, etcd)
	flags.StringVar(&f.prefix, "etcd-prefix", "", "`PREFIX` of all keys in etcd (default: "+registry.DefaultPrefix+")")
	flags.StringVar(&f.ca, "etcd-cacert", "",
		"CA bundle `FILE` for the etcd server certificate (default: system roots)")
	flags.StringVar(&f.certificate, "etcd-cert", "", "client certificate `FILE` for etcd")
	flags.StringVar(&f.key, "etcd-key", "", "private key `FILE` for --etcd-cert")
	flags.StringVar(&f.user, "etcd-user", "",
		"etcd user `NAME` (password: $"+passwordVariable+" or --etcd-password-file)")
	flags.StringVar(&f.passwordFile, "etcd-password-file", "",
		"`FILE` with the password of --etcd-user in its first line")
}

// embedded as the only URL of --etcd means an etcd within weir run, as without the flag.
const embedded = "embedded"

// Config is the configuration that the flags give; without --etcd it has no endpoints.
func (f *Etcd) Config() (registry.Config, error) {
	if f.none() {
		f.endpoints = nil
	}
	c := registry.Config{Endpoints: f.endpoints, Prefix: f.prefix, User: f.user}
	password, err := TakeVariable(passwordVariable)
	if err != nil {
		return c, err
	}
	if len(f.endpoints) == 0 {
		for setting, value := range f.settings() {
			if *value != "" {
				return c, exit.Usage("%s has no meaning without --etcd URLS", f.name(setting))
			}
		}
		return c, nil
	}
	encrypted, err := f.encrypted()
	if err == nil && encrypted {
		c.TLS, err = f.tls()
	}
	if err == nil {
		c.Password, err = f.password(password)
	}
	if err == nil {
		err = exit.With(gate.ExitUsage, c.Check())
	}
	return c, err
}

// encrypted reports whether all URLs are https. Errors: a mix of schemes, or certificates without https.
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
			return false, exit.Usage("--etcd: a URL must not contain a user, as all users of this host can read it; give %s NAME, and the password in $%s",
				f.name("user"), passwordVariable)
		case scheme != "http" && scheme != "https" && scheme != "unix" || rest == "":
			return false, exit.Usage("--etcd %s: must be a URL like https://host:2379", e)
		}
		if scheme != "unix" && !hasPort(e) {
			return false, exit.Usage("--etcd %s: it names no port; the default port of etcd is 2379: https://host:2379",
				e)
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
		return false, exit.Usage("%s and %s belong together", f.name("cert"), f.name("key"))
	}
	return secure > 0, nil
}

// hasPort reports whether an endpoint, with or without a scheme, names a host and a port.
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
		text, err := bounded.ReadFile(f.ca, bounded.Text)
		if err != nil {
			return nil, exit.Usage("%s: %w", f.name("cacert"), err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, exit.Usage("%s %s: it has no certificate in PEM form", f.name("cacert"), f.ca)
		}
	}
	if f.certificate != "" {
		var key []byte
		text, err := bounded.ReadFile(f.certificate, bounded.Text)
		if err == nil {
			key, err = bounded.ReadFile(f.key, bounded.Text)
		}
		var pair tls.Certificate
		if err == nil {
			pair, err = tls.X509KeyPair(text, key)
		}
		if err != nil {
			return nil, exit.Usage("%s, %s: %w", f.name("cert"), f.name("key"), err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// password is the password of the user, from the file or else from the environment.
func (f *Etcd) password(fromEnvironment string) (string, error) {
	switch {
	case strings.Contains(f.user, ":"):
		return "", exit.Usage("%s takes a name only, as all users of this host can read a command line; put the password into $%s, or into a file for %s",
			f.name("user"), passwordVariable, f.name("password_file"))
	case f.user == "" && f.passwordFile != "":
		return "", exit.Usage("%s needs %s", f.name("password_file"), f.name("user"))
	case f.user == "":
		return "", nil
	case f.passwordFile == "" && fromEnvironment == "":
		return "", exit.Usage("%s %s: its password is missing; set %s, or give %s",
			f.name("user"), f.user, passwordVariable, f.name("password_file"))
	case f.passwordFile == "":
		return fromEnvironment, nil
	}
	text, err := bounded.ReadFile(f.passwordFile, bounded.Text)
	if err != nil {
		return "", exit.Usage("%s: %w", f.name("password_file"), err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", exit.Usage("%s %s: its first line is empty", f.name("password_file"), f.passwordFile)
	}
	return line, nil
}

// Directory opens the registry, calls do, and closes the registry.
func (f *Etcd) Directory(ctx context.Context, do func(*registry.Directory) error) error {
	config, err := f.Config()
	if err != nil {
		return err
	}
	if len(config.Endpoints) == 0 {
		return exit.Usage("--etcd is missing: give the URL of etcd, such as https://host:2379")
	}
	d, err := registry.OpenDirectory(ctx, config)
	if err == nil {
		err = do(d)
		if closed := d.Close(err != nil); err == nil {
			err = closed
		}
	}
	return exit.Execution(err)
}
