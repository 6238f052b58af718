// Package ssh starts agents with the user's own ssh, with its configuration: ~/.ssh/config, ssh-agent, jump
// hosts, Kerberos, hardware keys.
//
// One ssh runs for each agent. The agent's stdin and stdout are the connection to the coordinator, so that no
// port is opened; its stderr is its log. An agent ends with its stdin: so it is stopped, and so it ends after
// its coordinator. Killing ssh alone would leave it running.
package ssh

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/weir-bench/weir/executor/launcher"
)

// Launcher starts agents on ssh hosts.
type Launcher struct {
	Hosts          []string      // [user@]host; launcher.Hosts expands lists
	Program        string        // "": ssh
	Config         string        // "": ~/.ssh/config
	Options        []string      // for ssh -o, NAME=VALUE; they override weir's
	ConnectTimeout time.Duration // 0: 10 s
	Parallel       int           // concurrent logins; 0: 8, as a jump host drops more than 10
	Remote         string        // absolute path of weir on the hosts; "": weir's own file is copied
}

// Here is this host, without a login.
const Here = "localhost"

// Node is the name of a host in the session: without the user.
func Node(host string) string { return host[strings.LastIndexByte(host, '@')+1:] }

func (l *Launcher) connectTimeout() time.Duration {
	if l.ConnectTimeout <= 0 {
		return 10 * time.Second
	}
	return max(l.ConnectTimeout, time.Second)
}

func (l *Launcher) parallel() int {
	if l.Parallel <= 0 {
		return 8
	}
	return l.Parallel
}

func (l *Launcher) program() string {
	if l.Program == "" {
		return "ssh"
	}
	return l.Program
}

// argv is the command line that runs a command on a host. ssh uses the first value of an option, so the user's
// options come first.
func (l *Launcher) argv(host, command string) []string {
	if host == Here {
		return []string{"/bin/sh", "-c", command}
	}
	argv := []string{l.program(), "-T"}
	if l.Config != "" {
		argv = append(argv, "-F", l.Config)
	}
	for _, o := range l.Options {
		argv = append(argv, "-o", o)
	}
	for _, o := range []string{
		"BatchMode=yes", // no prompts
		"ConnectTimeout=" + strconv.Itoa(int((l.connectTimeout()+time.Second-1)/time.Second)),
		"ServerAliveInterval=2", "ServerAliveCountMax=3",
		"ControlMaster=no", // use an existing shared connection, but leave none
		"ClearAllForwardings=yes", "ForwardAgent=no", "ForwardX11=no",
	} {
		argv = append(argv, "-o", o)
	}
	return append(argv, "--", host, command)
}

// hosts are the hosts that get an agent first.
func (l *Launcher) hosts(r launcher.Request) []string {
	if r.Nodes == 0 {
		return l.Hosts
	}
	return l.Hosts[:r.Nodes]
}

// Check validates the request, without a login.
func (l *Launcher) Check(_ context.Context, r launcher.Request) error {
	if err := r.Check(); err != nil {
		return err
	}
	if _, err := exec.LookPath(l.program()); err != nil {
		return fmt.Errorf("agents over ssh: %w: install OpenSSH's client", err)
	}
	switch {
	case r.Serve == nil:
		return errors.New("launch: agents over ssh have their connection in ssh: a request needs Serve")
	case len(l.Hosts) == 0:
		return errors.New("agents over ssh: no host is named")
	case r.Nodes > len(l.Hosts):
		return fmt.Errorf("agents over ssh: the scenario needs %d nodes, and --hosts names only %s: name %d more there, or lower nodes of cluster",
			r.Nodes, strings.Join(l.Hosts, ", "), r.Nodes-len(l.Hosts))
	case l.Remote != "" && (!filepath.IsAbs(l.Remote) || launcher.ShellCommand(l.Remote) != l.Remote):
		return fmt.Errorf("weir's file on the hosts, %q: must be an absolute path without spaces and special characters of shells",
			l.Remote)
	}
	seen := map[string]string{}
	for _, h := range l.Hosts {
		if other, ok := seen[Node(h)]; ok {
			return fmt.Errorf("agents over ssh: %s and %s are the same host: there is one agent per host", other, h)
		}
		seen[Node(h)] = h
		if _, err := launcher.Hosts(h); err != nil || strings.HasPrefix(h, "@") {
			return fmt.Errorf("agents over ssh: %q is no host", h)
		}
	}
	for _, o := range l.Options {
		if name, _, ok := strings.Cut(o, "="); !ok || name == "" || strings.ContainsAny(o, "\n\x00") {
			return fmt.Errorf("option %q of ssh: must be NAME=VALUE, as ssh -o takes it", o)
		}
	}
	return nil
}
