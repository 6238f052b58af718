// Package fleet manages the agents of a session in other processes, on both sides. For the session, Fleet
// starts agents with a launcher or invites registered ones, waits for them, and replaces lost ones. The
// files agent_*.go are the agent process: RunAgent serves the sessions that invite it, RunBootstrapped a
// single one.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/control/link"
	"github.com/weir-bench/weir/executor/launcher"
	"github.com/weir-bench/weir/executor/placement"
)

// Fleet are the agents of a session in other processes.
type Fleet struct {
	c         Config
	o         *Options
	own       *link.Authority // of this session, for launched agents
	server    *link.Server
	address   []string
	handle    launcher.Handle
	images    map[string]string // of the containers of launched agents, by node
	stop      context.CancelFunc
	wg        sync.WaitGroup
	changes   chan Change
	closed    chan struct{}
	suspends  suspendDetector
	recruits  *recruits // nil for launched agents
	exhausted bool      // Reacquire has waited without success, and no node has joined since

	mu       sync.Mutex
	workers  int               // number of the launcher's workers
	ended    map[string]error  // causes of ended workers by node
	begun    bool              // enough agents have joined: ends of workers are printed at once
	here     map[string]string // linked instances by node
	joined   map[string]string // instances that the session knows, by node
	reserved map[string][]int  // processors of registered agents' nodes
	lost     error             // of writing a log
	logged   map[string]int64  // bytes of logs by node
	expected expected
}

// Change is an agent that has joined or left.
type Change struct {
	node     string
	instance string
	member   *placement.Node // nil: the link has ended
	cause    error           // nil: the agent has said goodbye
}

// New makes a fleet; Open starts it.
func New(c Config) *Fleet {
	return &Fleet{
		c: c, o: c.Options, here: map[string]string{}, joined: map[string]string{}, reserved: map[string][]int{},
		logged: map[string]int64{}, changes: make(chan Change, 16), closed: make(chan struct{}), stop: func() {},
		expected: expected{tasks: map[string]map[string][]string{}},
	}
}

// Changes are the agents that join and leave, in order for each node. Pass them to Changed.
func (f *Fleet) Changes() <-chan Change { return f.changes }

// Changed passes a change on to the Owner.
func (f *Fleet) Changed(c Change) {
	if c.member != nil {
		f.mu.Lock()
		f.joined[c.node] = c.instance
		f.mu.Unlock()
		f.exhausted = false
		c.member.Node.Image = f.images[c.node]
		f.c.Owner.Joined(c.node, *c.member)
		return
	}
	f.mu.Lock()
	why := f.ended[c.node]
	f.mu.Unlock()
	text := "it was told to end"
	if c.cause != nil {
		text = c.cause.Error()
	}
	if why != nil {
		text += "; " + why.Error()
	}
	f.c.Owner.Lost(c.node, text)
}

// Order sends an order to the agent of a node that the session knows. Nothing is sent, without an error,
// if its link has ended or another agent has replaced it: Changes reports both.
func (f *Fleet) Order(node string, o agent.Order) error {
	f.mu.Lock()
	known := f.here[node] != "" && f.here[node] == f.joined[node]
	f.mu.Unlock()
	if !known {
		return nil
	}
	return f.send(node, o)
}

func (f *Fleet) send(node string, o agent.Order) error {
	head, body, err := o.Encode()
	if err == nil {
		err = f.server.Send(node, link.Message{Head: head, Body: body})
	}
	if err != nil && !f.linked(node) {
		return nil
	}
	return err
}

// Pause is a note for the cause of a lost agent if this process was suspended shortly before, else "".
func (f *Fleet) Pause(now time.Time) string { return f.suspends.note(now) }

// Open listens for agents, and starts or invites them.
func (f *Fleet) Open(ctx context.Context) error {
	life, stop := context.WithCancel(context.Background())
	f.stop = stop
	f.wg.Go(func() { f.suspends.run(life) })
	credentials, err := f.credentials()
	if err != nil {
		return err
	}
	f.server, err = link.NewServer(link.ServerOptions{
		Credentials: credentials, Session: f.c.Session, Lend: f.c.Lend, Take: f.take, Up: f.up,
		Down: f.down,
	})
	if err != nil {
		return err
	}
	if f.o.Listen != "" {
		at, err := f.server.Listen(f.o.Listen)
		if err != nil {
			return fmt.Errorf("listening for agents at %s: %w", f.o.Listen, err)
		}
		if f.address = f.o.Advertise; len(f.address) == 0 {
			if f.address, err = reachable(at); err != nil {
				return err
			}
		}
	}
	if f.o.Launcher == nil {
		return f.recruit(ctx)
	}
	return f.launch(ctx, life)
}

// credentials are the configured ones for registered agents, or new ones for launched agents.
func (f *Fleet) credentials() (link.Credentials, error) {
	if f.o.Launcher == nil {
		return f.o.Credentials, nil
	}
	var err error
	if f.own, err = link.NewAuthority("session "+f.c.Session, link.Always); err != nil {
		return nil, err
	}
	i, err := f.own.Issue(link.Coordinator, f.c.Session, link.Always)
	return i.Fixed(), err
}

// reachable are the addresses of a port of this host, for other hosts.
func reachable(at net.Addr) ([]string, error) {
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		return nil, fmt.Errorf("address %v: %w", at, err)
	}
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
		return []string{at.String()}, nil
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("listing this host's addresses: %w", err)
	}
	var four, six []string
	for _, a := range all {
		ip, _, err := net.ParseCIDR(a.String())
		switch {
		case err != nil || !ip.IsGlobalUnicast():
		case ip.To4() != nil:
			four = append(four, net.JoinHostPort(ip.String(), port))
		default:
			six = append(six, net.JoinHostPort(ip.String(), port))
		}
	}
	// last, for agents on this host; on other hosts no process there has a valid certificate
	return append(append(four, six...), net.JoinHostPort("127.0.0.1", port)), nil
}

// launch starts the agents with the launcher, and watches them until life ends.
func (f *Fleet) launch(ctx, life context.Context) error {
	r := f.o.Request
	r.Session, r.Nodes = f.c.Session, f.c.Needs.Nodes
	r.Serve, r.Say, r.Bootstrap = f.server.Serve, f.sayf, f.bootstrap
	var err error
	if r.Dir, err = filepath.Abs(f.c.Dir); err != nil {
		return fmt.Errorf("the session's directory: %w", err)
	}
	if err := f.o.Launcher.Check(ctx, r); err != nil {
		return err
	}
	if f.handle, err = f.o.Launcher.Start(ctx, r); err != nil {
		return err
	}
	if h, ok := f.handle.(launcher.Imaged); ok {
		f.images = h.Images()
	}
	f.wg.Go(func() { f.watch(life) })
	return nil
}

func (f *Fleet) sayf(format string, args ...any) { f.o.Say(fmt.Sprintf(format, args...)) }

// bootstrap is the bootstrap document of a launched agent.
func (f *Fleet) bootstrap(node string) (launcher.Bootstrap, error) {
	i, err := f.own.Issue(link.Agent, node, link.Always)
	if err != nil {
		return launcher.Bootstrap{}, fmt.Errorf("a certificate for node %s: %w", node, err)
	}
	return launcher.Bootstrap{Session: f.c.Session, Node: node, Identity: i, Coordinator: f.address}, nil
}

// up is called when a link is up. It sends the agent its first order.
func (f *Fleet) up(node, instance string) error {
	if err := f.enter(node, instance); err != nil {
		return err
	}
	return f.send(node, agent.Order{Setup: f.setup(node)})
}

func (f *Fleet) setup(node string) *agent.Setup {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &agent.Setup{
		Fabrics: f.c.Fabrics, CPUs: f.reserved[node], Labels: LabelsOf(f.o.Labels, node), Shell: f.c.Shell,
		Secrets: f.c.Secrets,
	}
}

// LabelsOf are the labels of a node, including those of link.AnyNode.
func LabelsOf(all map[string]map[string]string, node string) map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, all[link.AnyNode])
	maps.Copy(labels, all[node])
	return labels
}

func (f *Fleet) enter(node, instance string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if other, ok := f.here[node]; ok && other != instance {
		return fmt.Errorf("session %s has an agent named %s already: names of nodes must differ", f.c.Session, node)
	}
	f.here[node] = instance
	return nil
}

// linked reports whether an agent of that name has a link.
func (f *Fleet) linked(node string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.here[node] != ""
}

// down is called when a link has ended.
func (f *Fleet) down(node string, cause error) {
	f.mu.Lock()
	delete(f.here, node)
	f.mu.Unlock()
	f.change(Change{node: node, cause: cause})
}

func (f *Fleet) change(c Change) {
	select {
	case f.changes <- c:
	case <-f.closed:
	}
}

// take handles a report of an agent.
func (f *Fleet) take(node string, m link.Message) error {
	r, err := agent.DecodeReport(node, m.Head, m.Body)
	if err != nil {
		return err
	}
	switch {
	case r.Log != nil:
		return f.keep(node, r.Task, r.Log)
	case r.Joined != nil:
		f.mu.Lock()
		instance := f.here[node]
		f.mu.Unlock()
		f.change(Change{node: node, instance: instance, member: r.Joined})
	default:
		f.c.Owner.Report(r)
	}
	return nil
}

// Close ends the agents. In a hurry it waits a second for them, else up to 10.
func (f *Fleet) Close(hurry bool) error {
	close(f.closed)
	f.stop()
	f.wg.Wait()
	var errs []error
	if f.server != nil {
		f.server.Close()
	}
	if f.handle != nil {
		grace := leaving
		if hurry {
			grace = time.Second
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*leaving)
		defer cancel()
		errs = append(errs, f.handle.Stop(ctx, grace))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(append(errs, f.lost)...)
}

// leaving is the time limit for agents to end after the session.
const leaving = 10 * time.Second
