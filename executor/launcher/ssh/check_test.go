package ssh

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/launcher"
)

const lots = 10 * time.Second

func TestCheck(t *testing.T) {
	c, err := newCoordinator()
	if err != nil {
		t.Fatal(err)
	}
	for name, k := range map[string]struct {
		launcher Launcher
		change   func(*launcher.Request)
		want     string
	}{
		"good":              {Launcher{Hosts: []string{"a", "u@b"}, Options: []string{"Port=22"}}, nil, ""},
		"no host":           {Launcher{}, nil, "no host is named"},
		"one host twice":    {Launcher{Hosts: []string{"u@a", "v@a"}}, nil, "u@a and v@a are the same host"},
		"an option as host": {Launcher{Hosts: []string{"-oProxyCommand=rm"}}, nil, "is no host"},
		"more nodes": {Launcher{Hosts: []string{"a"}}, func(r *launcher.Request) { r.Nodes = 2 },
			"needs 2 nodes, and --hosts names only a: name 1 more there, or lower nodes of cluster"},
		"no option":        {Launcher{Hosts: []string{"a"}, Options: []string{"-v"}}, nil, "must be NAME=VALUE"},
		"weir is relative": {Launcher{Hosts: []string{"a"}, Remote: "bin/weir"}, nil, "absolute path"},
		"weir is a script": {Launcher{Hosts: []string{"a"}, Remote: "/bin/$(rm)"}, nil, "absolute path"},
		"no ssh":           {Launcher{Hosts: []string{"a"}, Program: "/none/ssh"}, nil, "install OpenSSH"},
		"an odd session": {Launcher{Hosts: []string{"a"}}, func(r *launcher.Request) { r.Session = "a'b" },
			"an ID has letters"},
		"an odd variable": {Launcher{Hosts: []string{"a"}},
			func(r *launcher.Request) { r.Env = map[string]string{"A B": "x"} }, "environment"},
		"a value of lines": {Launcher{Hosts: []string{"a"}},
			func(r *launcher.Request) { r.Env = map[string]string{"A": "x\ny"} }, "one line"},
		"nobody serves": {Launcher{Hosts: []string{"a"}}, func(r *launcher.Request) { r.Serve = nil }, "needs Serve"},
		"weir is not there": {Launcher{Hosts: []string{"a"}}, func(r *launcher.Request) { r.Binary = "/none/weir" },
			"weir's own program file"},

		"weir is no program": {Launcher{Hosts: []string{"a"}}, func(r *launcher.Request) { r.Binary = os.DevNull },
			"is not executable"},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.request()
			if k.change != nil {
				k.change(&r)
			}
			if err := k.launcher.Check(t.Context(), r); k.want == "" && err != nil ||
				k.want != "" && (err == nil || !strings.Contains(err.Error(), k.want)) {
				t.Errorf("%v, want %q", err, k.want)
			}
		})
	}
}

func TestCommands(t *testing.T) {
	l := Launcher{Remote: "/opt/weir", Options: []string{"User=some body"}}
	p, err := l.copyOf(launcher.Request{})
	if err != nil {
		t.Fatal(err)
	}
	text := launcher.ShellCommand(l.argv("u@b", p.start(launcher.Request{Session: "s"}))...)
	if !strings.HasPrefix(text, "ssh -T -o 'User=some body' -o BatchMode=yes -o ConnectTimeout=10 ") ||
		!strings.Contains(text, " -- u@b 'exec /bin/sh -c ") {
		t.Error(text)
	}
	text = launcher.ShellCommand(l.argv("localhost", p.start(launcher.Request{Session: "s"}))...)
	if !strings.HasPrefix(text, "/bin/sh -c 'exec /bin/sh -c ") {
		t.Error(text)
	}
}
