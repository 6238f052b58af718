package slurm

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Flags are those of the command line that say what Slurm is asked for.
type Flags struct{ l Launcher }

// Add adds the flags to a set.
func (f *Flags) Add(set *pflag.FlagSet) {
	set.StringArrayVar(&f.l.Flags, "slurm-flag", nil,
		"`FLAG` for sbatch, such as --partition=gpu or --time=1:00:00 (repeatable)")
	set.DurationVar(&f.l.Wait, "slurm-wait", 0,
		"`TIME` that the job may wait in the queue (default as long as it takes)")
}

// Launcher asks for these hosts, none for any.
func (f *Flags) Launcher(hosts []string) *Launcher {
	l := f.l
	if len(hosts) > 0 {
		l.Flags = append(slices.Clone(l.Flags), "--nodelist="+strings.Join(hosts, ","))
	}
	return &l
}
