package launcher

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/cmd/weir/access"
	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/internal/yamlsyntax"
	"github.com/weir-bench/weir/results"
)

// Site is the content of a site file: the access to a cluster, and its properties.
type Site struct {
	file, by   string // by: the flag or variable with the path
	name       string
	Launcher   *yamlsyntax.Node   // one launcher with its settings; nil: none
	links      map[string]float64 // nominal, in GB/s
	References *dsl.References    // nil: none
	etcd       map[string]string
}

// SiteVariable is the variable for the site file; NoSite in --site or the variable means none.
const (
	SiteVariable = "WEIR_SITE"
	NoSite       = "none"
)

// SiteFlag is --site.
type SiteFlag struct{ file string }

func (f *SiteFlag) Add(set *pflag.FlagSet) {
	set.StringVar(&f.file, "site", "", "site `FILE` with launcher, etcd, links and references of a cluster; none: no file (default: $"+
		SiteVariable+", else $XDG_CONFIG_HOME/weir/site.yaml)")
}

// File is the value of --site.
func (f *SiteFlag) File() string { return f.file }

// Read reads the site file; nil if there is none.
func (f *SiteFlag) Read() (*Site, error) {
	s := &Site{file: f.file, by: "--site"}
	if s.file == "" {
		s.file, s.by = os.Getenv(SiteVariable), SiteVariable
	}
	if s.file == NoSite {
		return nil, nil
	}
	own := s.file == ""
	if own {
		dir, err := os.UserConfigDir()
		if err != nil {
			return nil, nil // no home directory
		}
		s.file, s.by = filepath.Join(dir, "weir", "site.yaml"), "the user's own"
	}
	text, err := bounded.ReadFile(s.file, bounded.Text)
	if own && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, exit.Usage("site (%s): %w", s.by, err)
	}
	return s, s.parse(text)
}

func (s *Site) parse(text []byte) error {
	root, wrong := yamlsyntax.ParsePlain(text, s.file)
	if wrong.HasErrors() {
		return exit.Usage("site (%s): %w", s.by, wrong)
	}
	if root.Kind != yamlsyntax.Mapping {
		return wrongConfig(root.Range, "a site is a mapping with the keys site, launcher, etcd, links and references")
	}
	for _, p := range root.Pairs {
		var err error
		switch p.Key {
		case "site":
			s.name, err = siteText("its name", p.Value)
		case "launcher":
			s.Launcher = p.Value
			err = checkSettings(p.Value)
		case "etcd":
			err = s.readEtcd(p.Value)
		case "links":
			err = s.readLinks(p.Value)
		case "references":
			err = s.readReferences(p.Value)
		default:
			known := []string{"site", "launcher", "etcd", "links", "references"}
			err = wrongConfig(p.KeyRange, "there is no %q in a site. %s", p.Key, suggest.Sentence(p.Key, known, "keys"))
		}
		if err != nil {
			return err
		}
	}
	if s.name == "" {
		return wrongConfig(root.Range, "the site has no name. Add site: NAME")
	}
	return nil
}

// siteText is the text of a scalar that must not be empty.
func siteText(what string, n *yamlsyntax.Node) (string, error) {
	text := strings.TrimSpace(n.Text)
	if n.Kind != yamlsyntax.Scalar || text == "" {
		return "", wrongConfig(n.Range, "%s must be a text", what)
	}
	return text, nil
}

// checkSettings checks the settings of a launcher, so that all commands report errors in them.
func checkSettings(n *yamlsyntax.Node) error {
	var f Flags
	f.AddLaunchers(pflag.NewFlagSet("site", pflag.ContinueOnError))
	_, err := f.config.Take(n, "")
	return err
}

// readEtcd reads the settings for etcd. Files are relative to the site file.
func (s *Site) readEtcd(n *yamlsyntax.Node) error {
	if n.Kind != yamlsyntax.Mapping {
		return wrongConfig(n.Range, "etcd must be a mapping, as {cacert: ca.pem, user: NAME}")
	}
	s.etcd = map[string]string{}
	for _, p := range n.Pairs {
		if !slices.Contains(access.EtcdSettings(), p.Key) {
			return wrongConfig(p.KeyRange, "there is no %q of etcd. %s", p.Key,
				suggest.Sentence(p.Key, access.EtcdSettings(), "settings"))
		}
		text, err := siteText("etcd."+p.Key, p.Value)
		if err != nil {
			return err
		}
		if p.Key != "prefix" && p.Key != "user" {
			text = s.beside(text)
		}
		s.etcd[p.Key] = text
	}
	return nil
}

// Etcd has the settings of etcd by name; s may be nil.
func (s *Site) Etcd() map[string]string {
	if s == nil {
		return nil
	}
	return s.etcd
}

// beside resolves a path relative to the site file.
func (s *Site) beside(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(filepath.Dir(s.file), file)
}

func (s *Site) readLinks(n *yamlsyntax.Node) error {
	if n.Kind != yamlsyntax.Mapping {
		return wrongConfig(n.Range, "links must be a mapping of names to bandwidths, as {efa: 12.5 GB/s}")
	}
	s.links = map[string]float64{}
	for _, p := range n.Pairs {
		text, err := siteText("the bandwidth of link "+p.Key, p.Value)
		if err != nil {
			return err
		}
		q, err := quantity.Parse(text)
		if err != nil {
			return wrongConfig(p.Value.Range, "link %s: %v", p.Key, err)
		}
		v, err := q.In("GB/s")
		if err != nil || v <= 0 {
			return wrongConfig(p.Value.Range, "link %s: %q is no bandwidth above zero; write 12.5 GB/s or 100 Gbps",
				p.Key, text)
		}
		s.links[p.Key] = v
	}
	return nil
}

// readReferences takes the file of expected values, relative to the site file.
func (s *Site) readReferences(n *yamlsyntax.Node) error {
	file, err := siteText("references", n)
	if err != nil {
		return err
	}
	file = s.beside(file)
	if _, err := os.Stat(file); err != nil {
		return wrongConfig(n.Range, "references: %v", err)
	}
	s.References = &dsl.References{File: file, At: n.Range}
	return nil
}

// Links are the nominal bandwidths of the links in GB/s, by name.
func (s *Site) Links() map[string]float64 { return s.links }

// Document is the part of the site that results keep; s may be nil.
func (s *Site) Document() *results.Site {
	if s == nil {
		return nil
	}
	return &results.Site{Name: s.name, File: s.file, Links: s.links}
}
