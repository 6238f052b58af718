package ssh

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Each of several hosts that fail has a line of its own.
func TestFailedHosts(t *testing.T) {
	a, b := errors.New("a: logging in: refused"), errors.New("b: logging in: no route")
	for want, errs := range map[string][]error{
		"starting agents over ssh: a: logging in: refused":                                             {a},
		"starting agents over ssh failed on 2 hosts:\na: logging in: refused\nb: logging in: no route": {a, b},
	} {
		if err := failedHosts(errs); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := failedHosts(nil); err != nil {
		t.Error(err)
	}
}

// The error of a start has the cause of each host; what is said before does not tell it, too.
func TestACauseIsToldOnce(t *testing.T) {
	c, err := newCoordinator()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "ssh")
	text := "#!/bin/sh\necho 'ssh: Could not resolve hostname x: Name or service not known' >&2\nexit 255\n"
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	for hosts, want := range map[string][]string{
		"a":   nil,
		"a b": {"a: no agent; waiting for the other hosts", "b: no agent; waiting for the other hosts"},
	} {
		var said []string
		l := Launcher{Hosts: strings.Fields(hosts), Program: program, Parallel: 1}
		r := c.request()
		r.Nodes = len(l.Hosts)
		r.Say = func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
		_, err := l.Start(t.Context(), r)
		if err == nil || strings.Count(err.Error(), "its name is not known") != len(l.Hosts) ||
			!slices.Equal(said, want) {
			t.Errorf("%s: said %q, and %v", hosts, said, err)
		}
	}
}
