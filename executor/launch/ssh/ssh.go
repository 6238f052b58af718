// Package ssh starts agents with the user's own ssh: what ~/.ssh/config, an ssh-agent,
// a jump host, Kerberos or a hardware key make possible there is possible here, and
// nothing has to be configured again.
//
// One ssh runs for each host as long as its agent does. The agent's standard input and
// output are the connection to the coordinator, so no port is opened anywhere; what it
// writes to standard error is its log. When its input ends, the agent does: that is how
// it is stopped, and what happens if the coordinator dies. Killing ssh alone would leave
// it running.
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

	"weir/executor/launch"
)

// Launcher starts agents on hosts that can be logged in to.
type Launcher struct {
	Hosts          []string      // as ssh takes them, [user@]host; launch.Hosts expands lists
	Program        string        // "": ssh
	Config         string        // another file than ~/.ssh/config; "": that one
	Options        []string      // for ssh's -o, NAME=VALUE each; they override weir's
	ConnectTimeout time.Duration // until a host that does not answer is given up; 0: 10 s
	// hosts that are logged in to at a time; 0: 8, as a jump host drops more than 10 logins
	Parallel int
	Remote   string // weir's file on the hosts, absolute; "": a copy of weir's own file
}

// Here is this machine, which takes no login: who has two hosts often sits at one of
// them, and can log in from there to the other only.
const Here = "localhost"

// Node is what a host is called in the session: its name without the user.
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

// argv is how a command is run on a host: by ssh, but for this one. It takes the first
// value that it is given for an option, so the user's come first.
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
		"BatchMode=yes", // nobody is there to be asked for a password
		"ConnectTimeout=" + strconv.Itoa(int((l.connectTimeout()+time.Second-1)/time.Second)),
		"ServerAliveInterval=2", "ServerAliveCountMax=3",
		// The user's shared connection is used if there is one (it may be what their second
		// factor was given for), but none is left behind for others.
		"ControlMaster=no",
		"ClearAllForwardings=yes", "ForwardAgent=no", "ForwardX11=no",
	} {
		argv = append(argv, "-o", o)
	}
	return append(argv, "--", host, command)
}

// hosts are those that get an agent.
func (l *Launcher) hosts(r launch.Request) []string {
	if r.Nodes == 0 {
		return l.Hosts
	}
	return l.Hosts[:r.Nodes]
}

// Check says what is wrong with the request or missing on this machine. It does not
// log in anywhere.
func (l *Launcher) Check(_ context.Context, r launch.Request) error {
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
		return fmt.Errorf("agents over ssh: %d nodes are asked for, and %d hosts are named", r.Nodes, len(l.Hosts))
	case l.Remote != "" && (!filepath.IsAbs(l.Remote) || launch.ShellCommand(l.Remote) != l.Remote):
		return fmt.Errorf("weir's file on the hosts, %q: must be an absolute path without spaces and signs that a shell knows",
			l.Remote)
	}
	seen := map[string]string{}
	for _, h := range l.Hosts {
		if other, ok := seen[Node(h)]; ok {
			return fmt.Errorf("agents over ssh: %s and %s are one host; an agent has a node for itself", other, h)
		}
		seen[Node(h)] = h
		if _, err := launch.Hosts(h); err != nil || strings.HasPrefix(h, "@") {
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

// Render shows the command of each host.
func (l *Launcher) Render(r launch.Request) ([]launch.File, error) {
	if r.Nodes > len(l.Hosts) {
		return nil, fmt.Errorf("agents over ssh: %d nodes are asked for, and %d hosts are named", r.Nodes, len(l.Hosts))
	}
	p, err := l.copyOf(r)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	text.WriteString("#!/bin/sh\n# One of these runs for each host as long as its agent. Through its standard input go the\n" +
		"# agents' environment, an empty line and the bootstrap document; then it is the connection.\n")
	for _, h := range l.hosts(r) {
		text.WriteString(launch.ShellCommand(l.argv(h, p.start(r))...) + "\n")
	}
	return []launch.File{{Name: "ssh.sh", Mode: 0o755, Text: []byte(text.String())}}, nil
}
