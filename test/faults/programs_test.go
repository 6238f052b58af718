package faults

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
)

var (
	kills = flag.Int("kills", 12, "how many processes of sessions with services are to be killed")
	named = flag.Duration("named", 0,
		"within what 19 of 20 ends of roles and services must be named; 0: it is only told")
)

// programs is a scenario of programs that weir did not write, which serve each other over two
// nodes, hold ports, have children and write files. $SELF is the program of these tests.
const programs = `
scenario: programs
cluster: {nodes: 2}
services:
  registry:
    node: 1
    command: [$SELF, serve, registry, "${port.a}"]
    ready: {listens: "${port.a}", within: 20s}
  store:
    node: 0
    after: [registry]
    command: [$SELF, serve, store, "${port.a}", "${service.registry.address}:${service.registry.port.a}"]
    ready: {log: "store is up", within: 20s}
    fresh: launch
runs:
  work:
    workload: command
    services: [registry, store]
    launches: 3
    timeout: 30s
    options:
      etcd: true
      roles:
        server:
          node: 1
          command: [$SELF, serve, server, "${port.b}"]
          ready: {listens: "${port.b}", within: 20s}
          ends: with client
        client:
          node: 0
          after: [server]
          command: [$SELF, work, client, "${role.server.address}:${port.b}", "${etcd.url}", "${launch.scratch}/file"]
`

// launchesOfPrograms is how many launches that scenario has.
const launchesOfPrograms = 3

// play is what a program of the scenario does: serve NAME PORT [ADDRESS], or work NAME ADDRESS
// ETCD FILE. Each says what it is by twelve lines and has a child.
func play(args []string) {
	for i := range 12 {
		fmt.Println(args[1], "line", i+1)
	}
	child := exec.Command("sleep", "8851")
	if err := child.Start(); err != nil {
		panic(err)
	}
	if args[0] == "work" {
		work(args[2], args[4])
		_ = child.Process.Kill()
		return
	}
	l, err := net.Listen("tcp", ":"+args[2])
	if err != nil {
		panic(err)
	}
	if len(args) > 3 {
		if _, err := net.Dial("tcp", args[3]); err != nil {
			panic(err)
		}
	}
	fmt.Println(args[1], "is up")
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		go func() { _, _ = bufio.NewReader(c).WriteTo(c) }()
	}
}

// work talks to a server for a while.
func work(server, file string) {
	c, err := net.Dial("tcp", server)
	if err == nil {
		err = os.WriteFile(file, []byte("left here"), 0o600)
	}
	answers := bufio.NewReader(c)
	for range 30 {
		if err == nil {
			_, err = fmt.Fprintln(c, "here")
		}
		if err == nil {
			_, err = answers.ReadString('\n')
		}
		if err != nil {
			fmt.Println("the server is gone:", err)
			os.Exit(1)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestKilledPrograms kills coordinators, agents, roles and services at random moments: nothing
// is left of their sessions, and what was killed is named with how it ended and what it said.
func TestKilledPrograms(t *testing.T) {
	phase.Rest(t)
	path := weir(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d: the same again with -kills %d -seed %d", *seed, *kills, *seed)
	var next, hits, late atomic.Int64
	var mu sync.Mutex
	var delays []time.Duration
	t.Run("worlds", func(t *testing.T) {
		for range min(*worlds, *kills) {
			t.Run("world", func(t *testing.T) {
				t.Parallel()
				w := bringUp(&cluster{t: t, weir: path, agentFlags: []string{"--allow-commands"},
					scenario: strings.ReplaceAll(programs, "$SELF", self)}, "a", "b")
				if what, ok := w.settled(); !ok {
					t.Fatalf("the cluster does not come up: %s", what)
				}
				w.bystanders = w.strangers(nil)
				w.calm()
				for int(hits.Load()) < *kills && int(late.Load()) < 20+*kills && !t.Failed() {
					n := int(next.Add(1)) - 1
					k := kill{target: []string{"role", "service", "coordinator", "agent"}[n%4],
						r: rand.New(rand.NewPCG(*seed, uint64(n)))}
					hit, delay := w.killOne(n, &k)
					if !hit {
						late.Add(1)
						continue
					}
					hits.Add(1)
					if delay >= 0 {
						mu.Lock()
						delays = append(delays, delay)
						mu.Unlock()
					}
				}
			})
		}
	})
	if int(hits.Load()) < *kills {
		t.Errorf("%d processes were killed in time, and %d were to; %d times the session was over", hits.Load(), *kills,
			late.Load())
	}
	slices.Sort(delays)
	if n := len(delays); n > 0 {
		most := delays[n*19/20]
		t.Logf("%d killed; of %d roles and services the end was told after %v (median), %v (19 of 20), %v at most",
			hits.Load(), n, delays[n/2], most, delays[n-1])
		if *named > 0 && most > *named {
			t.Errorf("the end of a role or service was told after %v, later than %v", most, *named)
		}
	}
}

// kill is one process that is killed.
type kill struct {
	target string
	name   string // of the role, the service or the node
	pid    int
	r      *rand.Rand
}

// killOne kills a process of a session and checks what becomes of that. delay is from the kill
// to the event that tells it, below 0 where there is none to be told.
func (w *cluster) killOne(n int, k *kill) (hit bool, delay time.Duration) {
	w.t.Helper()
	s := w.run("")
	share := 1.1 * k.r.Float64()
	for !s.over() && float64(len(s.happened())) < share*float64(w.usual) {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(time.Duration(k.r.Int64N(int64(150 * time.Millisecond))))
	var node *node
	// of all that a session goes through, programs live for a part only
	for !s.over() && !w.find(k, &node, s) {
		time.Sleep(time.Millisecond)
	}
	struck := time.Now()
	hit = !s.over() && killLive(k.pid)
	if hit && node != nil {
		node.revive()
	}
	var problems []string
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if !s.wait(bound) {
		wrong("the session did not end within %v", bound)
	}
	w.killed = s.code() < 0
	delay = -1
	if hit && len(problems) == 0 {
		delay = w.checkReported(s, k, struck, wrong)
	}
	if what, ok := w.settled(); !ok {
		wrong("left behind: %s", what)
	}
	if left := w.strangers(w.bystanders); len(left) > 0 &&
		!eventually(settle, func() bool { left = w.strangers(w.bystanders); return len(left) == 0 }) {
		wrong("processes of the hosts: %s", strings.Join(left, ", "))
	}
	if len(problems) > 0 {
		w.keep = true
		w.t.Errorf("%d: %s %s killed, in %s\n  %s\n%s\n%s\n%s", n, k.target, k.name, s.dir,
			strings.Join(problems, "\n  "), w.tail(s.log), w.tail("a.log"), w.tail("b.log"))
	} else {
		os.RemoveAll(s.dir)
	}
	return hit, delay
}

// find finds the process that is to be killed, if it is there by now.
func (w *cluster) find(k *kill, at **node, s *session) bool {
	switch k.target {
	case "coordinator":
		k.pid = s.cmd.Process.Pid
	case "agent":
		n := w.nodes[k.r.IntN(len(w.nodes))]
		k.pid, k.name, *at = n.pid(), n.name, n
	default:
		want := map[string][]string{"role": {"server", "client"}, "service": {"registry", "store"}}[k.target]
		var there []proc
		for _, p := range processesOf(must(os.Executable())) {
			if len(p.argv) > 2 && slices.Contains(want, p.argv[2]) && bytes.Contains(p.environ(), []byte(w.dir)) {
				there = append(there, p)
			}
		}
		if len(there) == 0 {
			return false
		}
		p := there[k.r.IntN(len(there))]
		k.pid, k.name = p.pid, p.argv[2]
	}
	return k.pid > 0
}

func must(s string, err error) string {
	if err != nil {
		panic(err)
	}
	return s
}

// checkReported holds a session to what it says of a process that was killed.
func (w *cluster) checkReported(
	s *session, k *kill, struck time.Time, wrong func(string, ...any),
) (delay time.Duration) {
	doc, err := s.document()
	switch {
	case err != nil:
		wrong("its document: %v", err)
		return -1
	case k.target == "coordinator":
		if s.code() >= 0 {
			wrong("it ended with %d", s.code())
		}
		return -1
	case s.code() == 0: // a service that nobody needed any more, or a node that was not there yet
		if k.target == "role" {
			wrong("it passed without its role")
		}
		return -1
	case s.code() != 6:
		wrong("it ended with %v", s.cmd.ProcessState)
		return -1
	case doc == nil:
		if k.target != "agent" {
			wrong("it ended with %d and wrote no document", s.code())
		}
		return -1
	}
	for _, what := range unnamed(doc) {
		wrong("no cause: %s", what)
	}
	if k.target == "agent" {
		if !slices.ContainsFunc(failures(doc), func(f *results.Failure) bool {
			return f.Node == k.name || strings.Contains(f.Cause, k.name)
		}) && !strings.Contains(doc.Session.Reason, k.name) && len(failures(doc)) > 0 {
			wrong("nothing names node %s: %s", k.name, strings.Join(causes(doc), "; "))
		}
		return -1
	}
	found := false
	for _, f := range failures(doc) {
		if strings.Contains(f.Cause, k.target+" "+k.name+":") {
			found = true
			if !strings.Contains(f.Cause, "killed by signal 9 (SIGKILL)") || !lastLines(f.Cause, k.name) {
				wrong("the cause has not how it ended and its last ten lines: %s", f.Cause)
			}
		}
	}
	if !found {
		wrong("nothing names %s %s: %s", k.target, k.name, strings.Join(causes(doc), "; "))
	}
	for _, e := range s.happened() {
		if e.Failure != nil && strings.Contains(e.Failure.Cause, k.name) {
			return e.Time.Sub(struck)
		}
	}
	wrong("no event tells it")
	return -1
}

// lastLines says whether a text has the last lines, at most ten, of what a program of that name
// had said when it was killed.
func lastLines(text, name string) bool {
	if strings.Contains(text, "it printed nothing") {
		return true
	}
	lines, last := 0, 0
	for line := range strings.Lines(text) {
		if number, is := strings.CutPrefix(line, name+" line "); is {
			lines++
			last, _ = strconv.Atoi(strings.Fields(number)[0]) // as play writes it
		} else if strings.TrimSpace(line) == name+" is up" { // a condition that waits for it is no line of its output
			lines, last = lines+1, last+1
		}
	}
	return last > 0 && lines == min(10, last)
}

// TestLastLines has causes as they read when a program was killed before, at and after it said
// that it is up.
func TestLastLines(t *testing.T) {
	said := func(from, to int) (text string) {
		text = "service store: it did not become ready: log \"store is up\": killed by signal 9 (SIGKILL)\nstdout ends with:\n"
		for i := from; i <= to; i++ {
			text += fmt.Sprintf("store line %d\n", i)
		}
		return text
	}
	for text, want := range map[string]bool{
		"service store: killed\nit printed nothing": true,
		said(1, 4):                    true,
		said(3, 12):                   true,
		said(4, 12) + "store is up\n": true,
		said(4, 12):                   false,
		said(3, 12) + "store is up":   false,
		said(1, 0):                    false,
	} {
		if got := lastLines(text, "store"); got != want {
			t.Errorf("%v, and %v was expected, of\n%s", got, want, text)
		}
	}
}

// strangers are the processes of the world's hosts but for its agents and those that were
// there before any session.
func (w *cluster) strangers(before []string) (all []string) {
	for _, n := range w.nodes {
		if n.host == nil {
			continue
		}
		agent := n.pid()
		here, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", agent))
		if err != nil {
			return []string{err.Error()}
		}
		spaces, _ := filepath.Glob("/proc/[0-9]*/ns/net") // only a bad pattern is an error
		for _, space := range spaces {
			if at, err := os.Readlink(space); err != nil || at != here {
				continue
			}
			dir := filepath.Dir(filepath.Dir(space))
			line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
			pid, _ := strconv.Atoi(filepath.Base(dir)) // digits, by the pattern
			text := strings.TrimSpace(string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
			if err == nil && text != "" && pid != agent && !strings.Contains(text, n.w.path("state-"+n.name)) &&
				!slices.Contains(before, text) {
				all = append(all, text)
			}
		}
	}
	return all
}
