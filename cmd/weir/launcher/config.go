package launcher

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/cmd/weir/access"
	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/executor/launcher/kubernetes"
	"github.com/weir-bench/weir/executor/launcher/slurm"
	"github.com/weir-bench/weir/executor/launcher/ssh"
	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/internal/yamlsyntax"
)

// Config has the settings of launchers from flags, the file of --launcher-config and the site.
type Config struct {
	file   string
	ssh    ssh.Settings
	slurm  slurm.Settings
	kube   kubernetes.Settings
	of     map[string]*pflag.FlagSet // settings by launcher
	flags  *pflag.FlagSet            // of the command
	origin map[string]string         // FILE:LINE of "launcher" and of each LAUNCHER.SETTING
}

// kubeFlags are the usage texts of the Kubernetes settings that are flags too.
var kubeFlags = map[string]string{
	"image":      "container `IMAGE` with a shell, by tag or digest",
	"namespace":  "`NAMESPACE` (default: of the kubectl context)",
	"resource":   "resource of each pod, as `NAME=QUANTITY`, such as nvidia.com/gpu=8 (repeatable)",
	"label":      "label of all created objects, as `NAME=VALUE` (repeatable)",
	"capability": "container `CAPABILITY` (repeatable; none for no capabilities; default: IPC_LOCK, SYS_NICE)",
	"privileged": "run privileged containers",
}

// flagPrefix is the prefix of the present and former flags of a launcher's settings.
var flagPrefix = map[string]string{SSH: "ssh-", Slurm: "slurm-", Kubernetes: "kube-"}

// Moved is the new place of a setting that was a flag of weir run; "" for other flags.
func Moved(flag string) string {
	var c Config
	c.Add(pflag.NewFlagSet("", pflag.ContinueOnError))
	for of, prefix := range flagPrefix {
		name, ok := strings.CutPrefix(flag, prefix)
		if name = strings.ReplaceAll(name, "-", "_"); ok && c.of[of].Lookup(name) != nil {
			return fmt.Sprintf("launcher.%s.%s in the site file, or %[1]s.%s in --launcher-config", of, name)
		}
	}
	name, ok := strings.CutPrefix(flag, "etcd-")
	if name = strings.ReplaceAll(name, "-", "_"); ok && slices.Contains(access.EtcdSettings(), name) {
		return "etcd." + name + " in the site file"
	}
	return ""
}

// Add adds --launcher-config and kubeFlags.
func (c *Config) Add(flags *pflag.FlagSet) {
	c.flags, c.origin, c.of = flags, map[string]string{}, map[string]*pflag.FlagSet{}
	for of, add := range map[string]func(*pflag.FlagSet){SSH: c.ssh.Add, Slurm: c.slurm.Add, Kubernetes: c.kube.Add} {
		c.of[of] = pflag.NewFlagSet(of, pflag.ContinueOnError)
		add(c.of[of])
	}
	for _, name := range slices.Sorted(maps.Keys(kubeFlags)) {
		flag := *c.of[Kubernetes].Lookup(name) // both set the same value
		flag.Name, flag.Usage = flagPrefix[Kubernetes]+name, kubeFlags[name]
		flags.AddFlag(&flag)
	}
	flags.StringVar(&c.file, "launcher-config", "", "YAML `FILE` with the settings of a launcher, such as "+
		"{kubernetes: {image: I, resources: {cpu: 90}}}; flags take precedence")
}

// flagOf is the command's flag for a setting, or nil.
func (c *Config) flagOf(launcher, setting string) *pflag.Flag {
	if launcher != Kubernetes {
		return nil
	}
	return c.flags.Lookup(flagPrefix[Kubernetes] + setting)
}

// Kubernetes is the launcher for pods with a number of GPUs, unless the settings have another. Errors
// are wrong usage.
func (c *Config) Kubernetes(gpus int) (*kubernetes.Launcher, error) { return c.kube.Launcher(gpus) }

// Read takes the settings of the file that no flag sets, and returns its launcher, which must be the
// one that is asked for, if any. Without a file it returns the asked one.
func (c *Config) Read(asked string) (launcher string, err error) {
	if c.file == "" {
		return asked, nil
	}
	text, err := bounded.ReadFile(c.file, bounded.Text)
	if err != nil {
		return "", exit.Usage("--launcher-config: %w", err)
	}
	root, wrong := yamlsyntax.ParsePlain(text, c.file)
	if wrong.HasErrors() {
		return "", exit.Usage("--launcher-config: %w", wrong)
	}
	return c.Take(root, asked)
}

// Take takes the settings that are not set yet from a mapping of one launcher to its settings, and
// returns the launcher, which must be the one that is asked for, if any.
func (c *Config) Take(root *yamlsyntax.Node, asked string) (launcher string, err error) {
	if root.Kind != yamlsyntax.Mapping || len(root.Pairs) != 1 {
		return "", wrongConfig(root.Range, "it must be a mapping of one launcher (ssh, slurm or kubernetes) to its settings")
	}
	of := root.Pairs[0]
	if c.of[of.Key] == nil {
		return "", wrongConfig(of.KeyRange, "%q is no launcher with settings; use ssh, slurm or kubernetes", of.Key)
	}
	if asked != "" && asked != of.Key {
		return "", wrongConfig(of.KeyRange, "it is for launcher %s, not for %s", of.Key, asked)
	}
	if of.Value.Kind != yamlsyntax.Mapping {
		return "", wrongConfig(of.Value.Range, "the settings of %s must be a mapping", of.Key)
	}
	c.origin["launcher"] = cmp.Or(c.origin["launcher"], lineOf(of.KeyRange))
	for _, p := range of.Value.Pairs {
		if err := c.take(of.Key, p); err != nil {
			return "", err
		}
	}
	return of.Key, nil
}

// take takes one setting. Its value may be a list, or a mapping for values NAME=VALUE; the name is then
// singular or plural.
func (c *Config) take(launcher string, p yamlsyntax.Pair) error {
	name := strings.ReplaceAll(p.Key, "-", "_")
	setting := c.of[launcher].Lookup(name)
	if setting == nil && p.Value.Kind != yamlsyntax.Scalar {
		setting = c.of[launcher].Lookup(singular(name))
	}
	if setting == nil {
		var names []string
		c.of[launcher].VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		return wrongConfig(p.KeyRange, "there is no setting %q: `weir docs hosts` lists the settings of %s. %s", p.Key,
			launcher, suggest.Sentence(p.Key, names, "settings"))
	}
	if flag := c.flagOf(launcher, setting.Name); setting.Changed || flag != nil && flag.Changed {
		return nil
	}
	values, ok := valuesOf(p.Value)
	if !ok {
		return wrongConfig(p.Value.Range, "%s must be a value, a list of values, or a mapping to values", p.Key)
	}
	if p.Value.Kind != yamlsyntax.Scalar && setting.Value.Type() != "stringArray" {
		return wrongConfig(p.Value.Range, "%s has one value", p.Key)
	}
	for _, text := range values {
		if err := c.of[launcher].Set(setting.Name, text); err != nil {
			return wrongConfig(p.Value.Range, "%s: %v", p.Key, err)
		}
	}
	c.origin[launcher+"."+setting.Name] = lineOf(p.KeyRange)
	return nil
}

// lineOf is FILE:LINE of a range.
func lineOf(at hcl.Range) string { return fmt.Sprintf("%s:%d", at.Filename, at.Start.Line) }

func singular(name string) string {
	if before, ok := strings.CutSuffix(name, "ies"); ok {
		return before + "y"
	}
	return strings.TrimSuffix(name, "s")
}

// valuesOf are the values of a setting; ok is false for nested ones, which no setting has.
func valuesOf(n *yamlsyntax.Node) (values []string, ok bool) {
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
