package hosts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/lab"
)

// On two hosts a role reaches a service of the other host by its address, and the log of the
// service comes to the session's directory.
func TestServicesOnTwoHosts(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("iperf3"); err != nil {
		t.Skip(err)
	}
	l := lab.New(t, "h1", "h2")
	p, out := overSSH(t, l.SSH(), `scenario: served
cluster: {nodes: 2, distinct_hosts: true}
services:
  target:
    node: 1
    command: [sh, -c, "echo listens at ${port.a}; exec iperf3 -s -p ${port.a}"]
    ready: {listens: "${port.a}"}
    url: "${service.target.address}:${port.a}"
    fresh: launch
runs:
  a:
    workload: command
    launches: 2
    options:
      roles:
        client: {command: [iperf3, -J, -c, "${service.target.address}", -p, "${service.target.port.a}", -t, 1]}
      parse: {of: client, format: iperf3}
    assert: [bandwidth > 1 MB/s]
`, "h1,h2")
	p.ends(0)
	doc := document(t, out)
	if n := len(doc.Services); n != 2 {
		t.Fatalf("%d starts of the service", n)
	}
	for _, s := range doc.Services {
		text, err := os.ReadFile(filepath.Join(out, s.Log))
		if s.Node != "h2" || s.Status != results.OK || s.Ready <= 0 || err != nil ||
			!strings.Contains(string(text), "listens at ") {
			t.Errorf("%+v: %q, %v", s, text, err)
		}
	}
	for _, h := range l.Hosts {
		leaves(t, h)
	}
}

// A service is gone with its node's agent, and the launch says so.
func TestServiceOfANodeThatIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent("a", "--allow-commands")
	lost := w.agent("b", "--allow-commands")
	p, out := w.run(`scenario: lost
cluster: {nodes: 2}
services:
  far: {node: 1, command: [sleep, "8791"]}
runs:
  a:
    workload: command
    launches: 1
    services: [far]
    options: {roles: {client: {command: [sh, -c, "echo under way; exec sleep 8792"]}}}
`)
	p.hears("service far starts on b")
	lost.signal(syscall.SIGKILL)
	p.ends(6)
	f := document(t, out).Cases[0].Launches[0].Failure
	if f == nil || !strings.Contains(f.Cause, "service far: the node's agent is gone") || f.Node != "b" ||
		f.Kind != results.NodeLost {
		t.Errorf("%+v", f)
	}
	w.agent("b", "--allow-commands") // it tidies up what the one that was killed has left
	w.clean(p)
}
