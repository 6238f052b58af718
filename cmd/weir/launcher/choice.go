package launcher

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"weir/dsl"
)

// Choose takes the launcher and its settings from where they are said first: flags, the file
// of --launcher-config, the site. The launcher of a site is not used where another is asked
// for, where --hosts are there for ssh to log in to, and, being ssh, where there are none;
// its settings for ssh are.
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
	loggedIn := named == "" && len(f.hosts) > 0 && of == Kubernetes
	if loggedIn || named != "" && named != of {
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

// Tell says in a line which site is used.
func (f *Flags) Tell(w io.Writer, s *Site) {
	with := ""
	if s.Launcher != nil {
		of := s.Launcher.Pairs[0].Key
		with = ", launcher " + of
		if f.launcher != of {
			with = fmt.Sprintf(", whose launcher %s is not used", of)
		}
	}
	fmt.Fprintf(w, "weir: %s\n", dsl.Printable(fmt.Sprintf("site %s: %s (%s)%s", s.name, s.file, s.by, with)))
}

// HideSettings keeps the settings of launchers out of the help of a command that only shows them.
func (f *Flags) HideSettings() {
	f.config.set.VisitAll(func(flag *pflag.Flag) {
		for _, prefix := range flagsOf {
			flag.Hidden = flag.Hidden || strings.HasPrefix(flag.Name, prefix)
		}
	})
}

// Text shows what the launcher is told, and which flag or file says so; nothing where none
// was asked for.
func (f *Flags) Text(w io.Writer) error {
	if f.launcher == "" {
		return nil
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, value, origin string) {
		fmt.Fprintf(t, "%s\t%s\t%s\n", name, dsl.Printable(value), dsl.Printable(origin))
	}
	row("launcher", f.launcher, f.originOf("launcher"))
	f.config.set.VisitAll(func(flag *pflag.Flag) {
		name, ok := strings.CutPrefix(flag.Name, cmp.Or(flagsOf[f.launcher], "none "))
		if !ok || !flag.Changed && (flag.DefValue == "" || flag.DefValue == "[]" || flag.DefValue == "false" ||
			flag.DefValue == "0s") {
			return
		}
		value := flag.Value.String()
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			value = strings.Join(list.GetSlice(), ", ")
		}
		row("  "+strings.ReplaceAll(name, "-", "_"), value, f.originOf(flag.Name))
	})
	return t.Flush()
}

// originOf is who gave a flag its value. A file that names the launcher gives way to a flag
// that does.
func (f *Flags) originOf(name string) string {
	flag := f.config.set.Lookup(name)
	switch origin := f.config.origin[name]; {
	case name == "launcher" && flag.Changed:
		return "--launcher"
	case origin != "":
		return origin
	case flag.Changed:
		return "--" + name
	}
	return "default"
}
