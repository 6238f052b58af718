package hosts

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weir-bench/weir/test/lab"
)

const roles = `scenario: roles
cluster: {nodes: 2}
runs:
  a:
    workload: command
    launches: 2
    options:
      roles:
        client:
          after: [server]
          command: [sh, -c, 'echo "from ${role.client.address} to ${role.server.address}:${port.a}";
            echo "n=$(ls ${launch.scratch} | grep -c mark)"']
        server:
          node: 1
          command: [sh, -c, 'echo up; echo >${launch.scratch}/mark; sleep 60']
          ready: {log: up}
          ends: with client
      parse: {of: client, lines: '^n=(?<n>\d+)$'}
    metrics: {n: {better: none, may_be_zero: true}}
`

// Programs run on the nodes that their roles name; directories are each node's own.
func TestProgramsOnTwoNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent("a", "--allow-commands")
	w.agent("b", "--allow-commands")
	p, out := w.run(roles)
	p.ends(0)
	for i, l := range document(t, out).Cases[0].Launches {
		if got := strings.Join(l.Nodes, " "); got != "a b" {
			t.Errorf("launch %d ran on %s", i, got)
		}
		if n, ok := l.Metrics.Get("n"); !ok || n != 0 {
			t.Errorf("launch %d: %v files of another node", i, n)
		}
	}
	w.clean(p)
}

// An agent that runs no commands runs no programs of a scenario either.
func TestProgramsNeedAllowCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent("a", "--allow-commands")
	w.agent("b")
	p, _ := w.run(roles, "--wait", "1500ms")
	p.ends(6)
	if !strings.Contains(p.said(), "start it with --allow-commands") {
		t.Errorf("it says\n%s", p.said())
	}
}

// On two hosts a client finds its server by the address of its host.
func TestProgramsOnTwoHosts(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("iperf3"); err != nil {
		t.Skip(err)
	}
	l := lab.New(t, "h1", "h2")
	p, out := overSSH(t, l.SSH(), `scenario: iperf3
cluster: {nodes: 2, distinct_hosts: true}
runs:
  a:
    workload: command
    launches: 1
    options:
      roles:
        server: {node: 1, command: [iperf3, -s, -p, "${port.a}"], ready: {listens: "${port.a}"}, ends: with client}
        client: {after: [server], command: [iperf3, -J, -c, "${role.server.address}", -p, "${port.a}", -t, 1]}
      parse: {of: client, format: iperf3}
    assert: [bandwidth > 1 MB/s]
  b:
    workload: command
    launches: 1
    options:
      roles:
        one: {command: [echo, "${role.one.address}", "${role.other.address}"]}
        other: {node: 1, command: ["true"]}
`, "h1,h2")
	p.ends(0)
	c := document(t, out).Cases[0]
	if got := strings.Join(c.Launches[0].Nodes, " "); got != "h2 h1" { // by role
		t.Errorf("the server and its client ran on %s", got)
	}
	text, err := os.ReadFile(filepath.Join(out, "logs/b/0/0.log"))
	addresses := strings.Fields(string(text))
	two := regexp.MustCompile(`^[0-9.]+ [0-9.]+\n$`)
	if err != nil || !two.Match(text) || addresses[0] == addresses[1] || strings.Contains(string(text), "127.0.0.1") {
		t.Errorf("the addresses of two hosts are %s, %v", text, err)
	}
	for _, h := range l.Hosts {
		leaves(t, h)
	}
}
