package slurm

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Settings are the settings of Slurm jobs.
type Settings struct{ l Launcher }

// Add adds the settings to a set. docs/hosts.md describes them.
func (f *Settings) Add(set *pflag.FlagSet) {
	set.StringArrayVar(&f.l.Flags, "flag", nil, "")
	set.DurationVar(&f.l.Wait, "wait", 0, "")
}

// Launcher is the launcher for hosts; none: any.
func (f *Settings) Launcher(hosts []string) *Launcher {
	l := f.l
	if len(hosts) > 0 {
		l.Flags = append(slices.Clone(l.Flags), "--nodelist="+strings.Join(hosts, ","))
	}
	return &l
}
