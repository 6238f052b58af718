package launcher

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/pflag"

	"weir/cmd/weir/exit"
	"weir/dsl/yamlsyntax"
	"weir/suggest"
)

// Config is the flag --launcher-config: a file with one launcher, and under it the names
// of its flags. A list is a flag that is repeated, and a mapping one that has NAME=VALUE; both
// may be in the plural.
type Config struct {
	file   string
	set    *pflag.FlagSet
	origin map[string]string // FILE:LINE by the name of the flag that it set
}

// flagsOf is what the flags of a launcher begin with.
var flagsOf = map[string]string{SSH: "ssh-", Slurm: "slurm-", Kubernetes: "kube-"}

func (c *Config) Add(set *pflag.FlagSet) {
	c.set, c.origin = set, map[string]string{}
	set.StringVar(&c.file, "launcher-config", "", "`FILE` in YAML with the settings of a launcher, by the names of its flags: {kubernetes: {image: I, resources: {cpu: 90}}} is --launcher kubernetes --kube-image I --kube-resource cpu=90; what flags say goes first")
}

// Read sets the flags that the file names and the command line does not, and gives the
// launcher that it is for: the one that is asked for, if any is. Without a file it is that one.
func (c *Config) Read(asked string) (launcher string, err error) {
	if c.file == "" {
		return asked, nil
	}
	text, err := os.ReadFile(c.file)
	if err != nil {
		return "", exit.Usage("--launcher-config: %w", err)
	}
	root, wrong := yamlsyntax.ParsePlain(text, c.file)
	if wrong.HasErrors() {
		return "", exit.Usage("--launcher-config: %w", wrong)
	}
	return c.Take(root, asked)
}

// Take sets the flags that a mapping of one launcher to its settings names and nothing else
// has set, and gives the launcher: the one that is asked for, if any is.
func (c *Config) Take(root *yamlsyntax.Node, asked string) (launcher string, err error) {
	if root.Kind != yamlsyntax.Mapping || len(root.Pairs) != 1 {
		return "", wrongConfig(root.Range, "it must be a mapping of one launcher (ssh, slurm or kubernetes) to its settings")
	}
	of := root.Pairs[0]
	prefix, known := flagsOf[of.Key]
	if !known {
		return "", wrongConfig(of.KeyRange, "%q is no launcher with settings; these are ssh, slurm and kubernetes",
			of.Key)
	}
	if asked != "" && asked != of.Key {
		return "", wrongConfig(of.KeyRange, "it is for launcher %s, and %s is asked for", of.Key, asked)
	}
	if of.Value.Kind != yamlsyntax.Mapping {
		return "", wrongConfig(of.Value.Range, "the settings of %s must be a mapping", of.Key)
	}
	if c.origin["launcher"] == "" {
		c.origin["launcher"] = lineOf(of.KeyRange)
	}
	for _, p := range of.Value.Pairs {
		if err := c.setFlag(prefix, p); err != nil {
			return "", err
		}
	}
	return of.Key, nil
}

// setFlag sets a flag that the command line does not.
func (c *Config) setFlag(prefix string, p yamlsyntax.Pair) error {
	name := prefix + strings.ReplaceAll(p.Key, "_", "-")
	flag := c.set.Lookup(name)
	if flag == nil && p.Value.Kind != yamlsyntax.Scalar {
		flag = c.set.Lookup(singular(name))
	}
	if flag == nil {
		return wrongConfig(p.KeyRange, "there is no setting %q: they are called as the flags --%s… in weir run --help. %s",
			p.Key, prefix, suggest.Sentence(p.Key, c.settings(prefix), "settings"))
	}
	if flag.Changed {
		return nil
	}
	values, ok := flagValues(p.Value)
	if !ok {
		return wrongConfig(p.Value.Range, "%s must be a value, a list of values, or a mapping to values", p.Key)
	}
	if p.Value.Kind != yamlsyntax.Scalar && flag.Value.Type() != "stringArray" {
		return wrongConfig(p.Value.Range, "%s has one value", p.Key)
	}
	for _, text := range values {
		if err := c.set.Set(flag.Name, text); err != nil {
			return wrongConfig(p.Value.Range, "%s: %v", p.Key, err)
		}
	}
	c.origin[flag.Name] = lineOf(p.KeyRange)
	return nil
}

// settings are the names of a launcher's settings, as a file has them.
func (c *Config) settings(prefix string) []string {
	var names []string
	c.set.VisitAll(func(f *pflag.Flag) {
		if name, ok := strings.CutPrefix(f.Name, prefix); ok {
			names = append(names, strings.ReplaceAll(name, "-", "_"))
		}
	})
	return names
}

// lineOf is a place by which an editor finds it.
func lineOf(at hcl.Range) string { return fmt.Sprintf("%s:%d", at.Filename, at.Start.Line) }

func singular(name string) string {
	if before, ok := strings.CutSuffix(name, "ies"); ok {
		return before + "y"
	}
	return strings.TrimSuffix(name, "s")
}

// flagValues are the values that a flag is given; false: a flag cannot have them.
func flagValues(n *yamlsyntax.Node) (values []string, ok bool) {
	nested := func(n *yamlsyntax.Node) bool { return n.Kind != yamlsyntax.Scalar }
	switch n.Kind {
	case yamlsyntax.Sequence:
		for _, item := range n.Items {
			values = append(values, item.Text)
		}
		return values, !slices.ContainsFunc(n.Items, nested)
	case yamlsyntax.Mapping:
		for _, p := range n.Pairs {
			values = append(values, p.Key+"="+p.Value.Text)
		}
		return values, !slices.ContainsFunc(n.Pairs, func(p yamlsyntax.Pair) bool { return nested(p.Value) })
	}
	return []string{n.Text}, true
}

func wrongConfig(at hcl.Range, format string, args ...any) error {
	return exit.Usage("%s: "+format, append([]any{at}, args...)...)
}
