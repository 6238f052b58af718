package launcher

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/internal/printable"
)

// Choose takes the launcher and its settings from, in order of precedence: flags, the file of
// --launcher-config, the site. The launcher of a site is not used if another launcher is named; if it
// is kubernetes and there are --hosts; or if it is ssh and there are none (its settings are used).
func (f *Flags) Choose(s *Site) error {
	named, err := f.config.Read(f.launcher)
	if err != nil {
		return err
	}
	f.launcher = named
	if s == nil || s.Launcher == nil {
		return nil
	}
	of := s.Launcher.Pairs[0].Key
	implied := named == "" && len(f.hosts) > 0 && of == Kubernetes // --hosts imply ssh
	if implied || named != "" && named != of {
		return nil
	}
	if _, err := f.config.Take(s.Launcher, of); err != nil {
		return err
	}
	if of != SSH || len(f.hosts) > 0 {
		f.launcher = of
	}
	return nil
}

// PrintSite prints a line about the site file that is used.
func (f *Flags) PrintSite(w io.Writer, s *Site) {
	with := ""
	if s.Launcher != nil {
		of := s.Launcher.Pairs[0].Key
		with = ", launcher " + of
		if f.launcher != of {
			with = fmt.Sprintf(", launcher %s not used", of)
		}
	}
	fmt.Fprintf(w, "weir: %s\n", printable.Line(fmt.Sprintf("site %s: %s (%s)%s", s.name, s.file, s.by, with)))
}

// HideSettings hides the flags of launcher settings in the help.
func (f *Flags) HideSettings() {
	for name := range kubeFlags {
		f.config.flagOf(Kubernetes, name).Hidden = true
	}
}

// Text prints the launcher with its hosts and settings and their origin, or nothing if no launcher follows from flags
// and files.
func (f *Flags) Text(w io.Writer) error {
	name, hosts := f.launcher, f.hosts
	if name == "" && len(hosts) > 0 {
		name = SSH
	}
	if name == "" {
		return nil
	}
	if name == SSH {
		l, err := f.config.ssh.Launcher(hosts)
		if err != nil {
			return err
		}
		hosts = l.Hosts
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, value, origin string) {
		fmt.Fprintf(t, "%s\t%s\t%s\n", name, printable.Line(value), printable.Line(origin))
	}
	by := cmp.Or(f.config.origin["launcher"], "--hosts")
	if f.config.flags.Changed("launcher") { // the flag takes precedence over a file
		by = "--launcher"
	}
	row("launcher", name, by)
	if len(hosts) > 0 {
		row("  hosts", strings.Join(hosts, ", "), "--hosts")
	}
	if settings := f.config.of[name]; settings != nil {
		settings.VisitAll(func(s *pflag.Flag) {
			by := f.config.origin[name+"."+s.Name]
			if flag := f.config.flagOf(name, s.Name); flag != nil && flag.Changed {
				by = "--" + flag.Name
			}
			if by == "" && slices.Contains([]string{"", "[]", "false", "0s"}, s.DefValue) {
				return
			}
			value := s.Value.String()
			if list, ok := s.Value.(pflag.SliceValue); ok {
				value = strings.Join(list.GetSlice(), ", ")
			}
			row("  "+s.Name, value, cmp.Or(by, "default"))
		})
	}
	return t.Flush()
}
