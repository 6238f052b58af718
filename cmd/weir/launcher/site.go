package launcher

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"weir/cmd/weir/exit"
	"weir/dsl"
	"weir/dsl/yamlsyntax"
	"weir/quantity"
	"weir/results"
	"weir/suggest"
)

// Site is what a site file says: how a cluster is reached, and what it is.
type Site struct {
	file, by   string // and who named the file
	name       string
	Launcher   *yamlsyntax.Node   // one launcher with its settings; nil: none
	links      map[string]float64 // nominal, in GB/s
	References *dsl.References    // nil: none
}

// SiteVariable names the site file where --site does not, and NoSite in either is none.
const (
	SiteVariable = "WEIR_SITE"
	NoSite       = "none"
)

// SiteFlag is --site.
type SiteFlag struct{ file string }

func (f *SiteFlag) Add(set *pflag.FlagSet) {
	set.StringVar(&f.file, "site", "", "`FILE` in YAML with what is said of a cluster once: site, launcher (settings as in "+
		"--launcher-config), links, references; none: no such file (default $"+SiteVariable+
		", else weir/site.yaml in $XDG_CONFIG_HOME or ~/.config)")
}

// File is what --site says, "" where it is not given.
func (f *SiteFlag) File() string { return f.file }

// Read reads the site file; nil: there is none.
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
			return nil, nil // nobody has a home here
		}
		s.file, s.by = filepath.Join(dir, "weir", "site.yaml"), "the user's own"
	}
	text, err := os.ReadFile(s.file)
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
		return wrongConfig(root.Range, "a site is a mapping with the keys site, launcher, links and references")
	}
	for _, p := range root.Pairs {
		var err error
		switch p.Key {
		case "site":
			s.name, err = siteText("its name", p.Value)
		case "launcher":
			s.Launcher = p.Value
			err = checkSettings(p.Value)
		case "links":
			err = s.readLinks(p.Value)
		case "references":
			err = s.readReferences(p.Value)
		default:
			known := []string{"site", "launcher", "links", "references"}
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

// siteText is a value that is a text.
func siteText(what string, n *yamlsyntax.Node) (string, error) {
	text := strings.TrimSpace(n.Text)
	if n.Kind != yamlsyntax.Scalar || text == "" {
		return "", wrongConfig(n.Range, "%s must be a text", what)
	}
	return text, nil
}

// checkSettings reads the settings of a launcher for nothing, so that what is wrong in a site
// is said by every command and not only where this launcher is used.
func checkSettings(n *yamlsyntax.Node) error {
	var f Flags
	f.AddLaunchers(pflag.NewFlagSet("site", pflag.ContinueOnError))
	_, err := f.config.Take(n, "")
	return err
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
			return wrongConfig(p.Value.Range, "link %s: %q is no bandwidth above zero; write it as 12.5 GB/s or 100 Gbps",
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
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(s.file), file)
	}
	if _, err := os.Stat(file); err != nil {
		return wrongConfig(n.Range, "references: %v", err)
	}
	s.References = &dsl.References{File: file, At: n.Range}
	return nil
}

// Links are the nominal bandwidths of its links in GB/s, by name.
func (s *Site) Links() map[string]float64 { return s.links }

// Document is what results keep of the site; nil where there is none.
func (s *Site) Document() *results.Site {
	if s == nil {
		return nil
	}
	return &results.Site{Name: s.name, File: s.file, Links: s.links}
}
