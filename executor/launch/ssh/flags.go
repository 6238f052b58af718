package ssh

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"weir/executor/launch"
)

// Flags are those of the command line that say how hosts are logged in to.
type Flags struct{ l Launcher }

// Add adds the flags to a set.
func (f *Flags) Add(set *pflag.FlagSet) {
	set.StringVar(&f.l.Program, "ssh-program", "", "`PROGRAM` instead of ssh")
	set.StringVar(&f.l.Config, "ssh-config", "", "`FILE` instead of ~/.ssh/config")
	set.StringArrayVar(&f.l.Options, "ssh-option", nil, "option of ssh, as `NAME=VALUE` (repeatable)")
	set.DurationVar(&f.l.ConnectTimeout, "ssh-connect-timeout", 10*time.Second,
		"`TIME` after which a host that does not answer is given up")
	set.IntVar(&f.l.Parallel, "ssh-parallel", 8, "`HOSTS` that are logged in to at a time")
	set.StringVar(&f.l.Remote, "ssh-weir", "", "`PATH` of weir on the hosts, if it is not to be copied there")
}

// Launcher logs in to hosts, each of which may be a list as --hosts has it. An error is one of
// usage.
func (f *Flags) Launcher(hosts []string) (*Launcher, error) {
	l := f.l
	var err error
	if l.Hosts, err = launch.Hosts(strings.Join(hosts, ",")); err != nil {
		return nil, fmt.Errorf("--hosts: %w", err)
	}
	return &l, nil
}
