package slurm

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/control/link"
	"github.com/weir-bench/weir/executor/launcher"
)

// The test program is also the agent that the tests start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "agent" {
		os.Exit(beAgent(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// greeting is what the agent says first.
type greeting struct {
	Host      string
	Arguments []string
	Secret    string
	Identity  launcher.Identity
	Node      string // of the bootstrap
}

// beAgent calls the coordinator and does what it says, until that hangs up or it is
// told to end.
func beAgent(arguments []string) int {
	text, err := os.ReadFile(arguments[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	b, err := launcher.DecodeBootstrap(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	c, err := net.Dial("tcp", b.Coordinator[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	id := launcher.Identify(os.Environ())
	fmt.Fprintln(os.Stderr, "agent of", id.Node, "is up")
	host, _ := os.Hostname()
	json.NewEncoder(c).Encode(greeting{host, arguments, os.Getenv("WEIR_TEST_SECRET"), id, b.Node})
	orders := make(chan string)
	go func() {
		for in := bufio.NewScanner(c); in.Scan(); {
			orders <- in.Text()
		}
		close(orders)
	}()
	for {
		select {
		case order := <-orders:
			switch order {
			case "exit 3":
				fmt.Fprintln(os.Stderr, "cannot go on")
				return 3
			case "die":
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
			case "be deaf":
				signal.Ignore(syscall.SIGTERM)
				fmt.Fprintln(c, "yes")
			default: // it hung up
				return 0
			}
		case <-told:
			fmt.Fprintln(os.Stderr, "told to end")
			fmt.Fprintln(c, "told to end")
			return 0
		}
	}
}

// coordinator is where agents call.
type coordinator struct {
	listener net.Listener
	ca       *link.Authority
	dir      string

	mu     sync.Mutex
	agents map[string]*attached // by node
	said   []string
}

type attached struct {
	greeting
	conn net.Conn
	in   *bufio.Reader
}

func newCoordinator(t *testing.T, address string) *coordinator {
	t.Helper()
	c := &coordinator{agents: map[string]*attached{}}
	var err error
	if c.ca, err = link.NewAuthority("test", time.Hour); err != nil {
		t.Fatal(err)
	}
	if c.listener, err = net.Listen("tcp", address+":0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.listener.Close() })
	go func() {
		for {
			conn, err := c.listener.Accept()
			if err != nil {
				return
			}
			go c.take(conn)
		}
	}()
	return c
}

func (c *coordinator) take(conn net.Conn) {
	a := &attached{conn: conn, in: bufio.NewReader(conn)}
	line, err := a.in.ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &a.greeting) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.agents[a.Host] = a
}

func (c *coordinator) request(t *testing.T, session string, nodes int) launcher.Request {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.agents, c.said = map[string]*attached{}, nil
	return launcher.Request{
		Session: session, Nodes: nodes, Binary: self, Dir: c.dir, AllowCommands: true,
		Env: map[string]string{"WEIR_TEST_SECRET": "it's $HOME; a b"},
		Bootstrap: func(node string) (launcher.Bootstrap, error) {
			id, err := c.ca.Issue(link.Agent, node, time.Hour)
			return launcher.Bootstrap{Session: session, Node: node, Identity: id,
				Coordinator: []string{c.listener.Addr().String()}}, err
		},
		Say: func(format string, args ...any) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.said = append(c.said, fmt.Sprintf(format, args...))
		},
	}
}

func (c *coordinator) printed() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.said, "\n")
}

// agent waits for the agent of a node.
func (c *coordinator) agent(t *testing.T, node string) *attached {
	t.Helper()
	var a *attached
	if !eventually(func() bool { c.mu.Lock(); defer c.mu.Unlock(); a = c.agents[node]; return a != nil }) {
		t.Fatalf("the agent of %s does not come", node)
	}
	return a
}

func (a *attached) order(t *testing.T, what string) {
	t.Helper()
	if _, err := fmt.Fprintln(a.conn, what); err != nil {
		t.Fatal(err)
	}
}

func eventually(is func() bool) bool {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if is() {
			return true
		}
	}
	return is()
}
