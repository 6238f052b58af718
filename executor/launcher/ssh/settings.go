package ssh

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/executor/launcher"
)

// Settings are the settings of ssh.
type Settings struct{ l Launcher }

// Add adds the settings to a set. docs/hosts.md describes them.
func (f *Settings) Add(set *pflag.FlagSet) {
	set.StringVar(&f.l.Program, "program", "", "")
	set.StringVar(&f.l.Config, "config", "", "")
	set.StringArrayVar(&f.l.Options, "option", nil, "")
	set.DurationVar(&f.l.ConnectTimeout, "connect_timeout", 10*time.Second, "")
	set.IntVar(&f.l.Parallel, "parallel", 8, "")
	set.StringVar(&f.l.Remote, "weir", "", "")
}

// Launcher is the launcher for hosts, each a list as in --hosts. Errors are wrong usage.
func (f *Settings) Launcher(hosts []string) (*Launcher, error) {
	l := f.l
	var err error
	if l.Hosts, err = launcher.Hosts(strings.Join(hosts, ",")); err != nil {
		return nil, fmt.Errorf("--hosts: %w", err)
	}
	return &l, nil
}
