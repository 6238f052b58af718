package ssh

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/control/link"
	"github.com/weir-bench/weir/executor/launcher"
)

// The test program is also what the tests start: an agent, and a coordinator to kill.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "version":
		fmt.Println("weir of a test")
	case len(os.Args) > 1 && os.Args[1] == "agent":
		os.Exit(beAgent(os.Args[2:]))
	case os.Getenv("WEIR_TEST_COORDINATOR") != "":
		beCoordinator(os.Getenv("WEIR_TEST_COORDINATOR"))
	default:
		os.Exit(m.Run())
	}
}

// greeting is what the agent says first.
type greeting struct {
	Host      string
	Arguments []string
	Secret    string
	Bootstrap launcher.Bootstrap
}

// beAgent introduces itself on standard output, then answers each line with itself until
// there are no more. Some lines are orders.
func beAgent(arguments []string) int {
	in := bufio.NewReaderSize(os.Stdin, launcher.MaxBootstrap)
	line, err := in.ReadBytes('\n')
	if err != nil {
		fmt.Fprintln(os.Stderr, "reading the bootstrap:", err)
		return 2
	}
	b, err := launcher.DecodeBootstrap(line)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	host, _ := os.Hostname()
	fmt.Fprintln(os.Stderr, "agent of", b.Node, "is up")
	json.NewEncoder(os.Stdout).Encode(greeting{host, arguments, os.Getenv("WEIR_TEST_SECRET"), b})
	for {
		line, err := in.ReadString('\n')
		switch {
		case err != nil:
			fmt.Fprintln(os.Stderr, "bye")
			return 0
		case line == "exit 3\n":
			fmt.Fprintln(os.Stderr, "cannot go on")
			return 3
		case line == "die\n":
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		case line == "be deaf\n":
			fmt.Println("yes")
			select {}
		}
		fmt.Print(line)
	}
}

// coordinator is what is at the other end of agents' connections.
type coordinator struct {
	mu     sync.Mutex
	agents map[string]*attached // by node
	said   []string
	ca     *link.Authority
}

type attached struct {
	conn     net.Conn
	lines    chan string // what it says after its greeting; closed when it has gone
	greeting greeting
}

func newCoordinator() (*coordinator, error) {
	ca, err := link.NewAuthority("test", time.Hour)
	if err != nil {
		return nil, err
	}
	return &coordinator{agents: map[string]*attached{}, ca: ca}, nil
}

const session = "s-20260101.1"

func (c *coordinator) request() launcher.Request {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return launcher.Request{
		Session: session, Binary: self, AllowCommands: true,
		Env: map[string]string{"WEIR_TEST_SECRET": "it's $HOME; a b"},
		Bootstrap: func(node string) (launcher.Bootstrap, error) {
			id, err := c.ca.Issue(link.Agent, node, time.Hour)
			return launcher.Bootstrap{
				Session: session, Node: node, Identity: id, Coordinator: []string{"192.0.2.1:7"},
			}, err
		},
		Serve: c.serve,
		Say: func(format string, args ...any) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.said = append(c.said, fmt.Sprintf(format, args...))
		},
	}
}

func (c *coordinator) serve(conn net.Conn) {
	a := &attached{conn: conn, lines: make(chan string, 100)}
	defer close(a.lines)
	in := bufio.NewReader(conn)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return
	}
	if err := json.Unmarshal(line, &a.greeting); err != nil {
		return
	}
	c.mu.Lock()
	c.agents[a.greeting.Bootstrap.Node] = a
	c.mu.Unlock()
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		a.lines <- line
	}
}

// ask says a line and waits for the next that the agent says.
func (a *attached) ask(t *testing.T, line string) string {
	t.Helper()
	if _, err := a.conn.Write([]byte(line)); err != nil {
		t.Fatal(err)
	}
	select {
	case answer := <-a.lines:
		return answer
	case <-time.After(20 * time.Second):
		t.Fatal("the agent does not answer")
		return ""
	}
}

// agent waits for the agent of a node.
func (c *coordinator) agent(t *testing.T, node string) *attached {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		c.mu.Lock()
		a := c.agents[node]
		c.mu.Unlock()
		if a != nil {
			return a
		}
	}
	t.Fatalf("the agent of %s does not come", node)
	return nil
}

func (c *coordinator) printed(words string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Count(strings.Join(c.said, "\n"), words)
}

// beCoordinator starts agents on hosts, says so, and waits to be killed.
func beCoordinator(config string) {
	c, err := newCoordinator()
	if err != nil {
		panic(err)
	}
	file, hosts, _ := strings.Cut(config, " ")
	l := &Launcher{Hosts: strings.Fields(hosts), Config: file}
	if _, err := l.Start(context.Background(), c.request()); err != nil {
		panic(err)
	}
	fmt.Println("started")
	select {}
}
