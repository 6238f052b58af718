// Package fleet has the agents of a session that are not in its own process: a launcher starts
// them, or they are registered in etcd and are invited. It waits for them, hears of those that
// are gone, and gets others in their place.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"weir/executor/agent"
	"weir/executor/launch"
	"weir/executor/link"
	"weir/executor/trust"
)

// sessionLife is how long the certificates of a session that launches its agents hold.
const sessionLife = 30 * 24 * time.Hour

// Fleet is the agents of a session that has them elsewhere.
type Fleet struct {
	c        Config
	o        *Options
	identity trust.Identity
	own      *trust.Authority // of this session alone, where a launcher starts the agents
	server   *link.Server
	address  []string
	handle   launch.Handle
	stop     context.CancelFunc
	wg       sync.WaitGroup
	departed chan Departure
	closed   chan struct{}
	pulse    pulse     // of this process
	recruits *recruits // where agents are registered
	vain     bool      // Reacquire waited for nodes that did not come, and none has since

	mu       sync.Mutex
	workers  int               // that the launcher looks after
	ended    map[string]error  // what it says of those that are not there any more, by node
	begun    bool              // the agents have come: who ends now is told of at once
	here     map[string]string // instances by node
	lost     error             // of a file that could not be kept
	logged   map[string]int64  // bytes of logs, by node
	expected expected
}

// Departure is an agent's link that has ended.
type Departure struct {
	node  string
	cause error
}

// New has called nobody yet.
func New(c Config) *Fleet {
	return &Fleet{
		c: c, o: c.Options, here: map[string]string{}, logged: map[string]int64{}, departed: make(chan Departure, 16),
		closed: make(chan struct{}), stop: func() {}, expected: expected{tasks: map[string]map[string][]string{}},
	}
}

// Departed tells of the links that end. Gone takes what it gives.
func (f *Fleet) Departed() <-chan Departure { return f.departed }

// Pause says that this process did not run for a while, to follow why an agent is gone; "" if
// it did.
func (f *Fleet) Pause(now time.Time) string { return f.pulse.note(now) }

// Joined takes note that an agent has come: waiting for others is not in vain.
func (f *Fleet) Joined() { f.vain = false }

// Do does something in the background that Close waits for.
func (f *Fleet) Do(what func()) { f.wg.Go(what) }

// Open makes the place that agents call, and calls the agents.
func (f *Fleet) Open(ctx context.Context) error {
	life, stop := context.WithCancel(context.Background())
	f.stop = stop
	f.wg.Go(func() { f.pulse.run(life) })
	if err := f.credentials(); err != nil {
		return err
	}
	var err error
	f.server, err = link.NewServer(link.ServerOptions{
		Identity: f.identity, Authority: f.o.Authority, Session: f.c.Session, Etcd: f.c.Dial, Take: f.take, Up: f.up,
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

// credentials are the cluster's, or made for this session.
func (f *Fleet) credentials() (err error) {
	if f.identity = f.o.Identity; f.o.Launcher == nil {
		return nil
	}
	if f.own, err = trust.NewAuthority("session "+f.c.Session, sessionLife); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("naming this host: %w", err)
	}
	f.identity, err = f.own.Issue(trust.Coordinator, host, sessionLife)
	return err
}

// reachable are the addresses by which other hosts may reach a port of this one.
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
	// last, for agents on this host: everywhere else it leads to nobody who has a certificate
	return append(append(four, six...), net.JoinHostPort("127.0.0.1", port)), nil
}

// launch has the launcher start agents, and watches over them until close.
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
	f.wg.Go(func() { f.watch(life) })
	return nil
}

func (f *Fleet) sayf(format string, args ...any) { f.o.Say(fmt.Sprintf(format, args...)) }

// bootstrap is what an agent is told that a launcher starts.
func (f *Fleet) bootstrap(node string) (trust.Bootstrap, error) {
	i, err := f.own.Issue(trust.Agent, node, sessionLife)
	if err != nil {
		return trust.Bootstrap{}, fmt.Errorf("a certificate for node %s: %w", node, err)
	}
	labels := f.o.Labels
	if node != trust.AnyNode && len(labels) > 0 { // the others' are of no use to it
		labels = map[string]map[string]string{trust.AnyNode: labels[trust.AnyNode], node: labels[node]}
	}
	return trust.Bootstrap{
		Session: f.c.Session, Node: node, Identity: i, Coordinator: f.address, SessionKey: f.c.Key,
		Fabrics: f.c.Fabrics, Etcd: f.o.Access, Labels: labels,
		Shell: f.c.Shell, Secrets: f.c.Secrets,
	}, nil
}

// up hears of an agent's link.
func (f *Fleet) up(node, instance string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if other, ok := f.here[node]; ok && other != instance {
		return fmt.Errorf("session %s has an agent named %s already: names of nodes must differ", f.c.Session, node)
	}
	f.here[node] = instance
	return nil
}

// Linked says whether an agent of that name has shown its certificate and is here.
func (f *Fleet) Linked(node string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.here[node] != ""
}

// down hears of a link's end.
func (f *Fleet) down(node string, cause error) {
	f.mu.Lock()
	delete(f.here, node)
	f.mu.Unlock()
	select {
	case f.departed <- Departure{node, cause}:
	case <-f.closed:
	}
}

// departedText words the end of a link for a person.
func departedText(cause error) string {
	if cause == nil {
		return "it was told to end"
	}
	return cause.Error()
}

// take takes what an agent sends.
func (f *Fleet) take(node string, m link.Message) error {
	if m.Kind != agent.ReportKind {
		return fmt.Errorf("node %s sends %q, which this weir does not know", node, m.Kind)
	}
	r, err := agent.DecodeReport(node, m.Head, m.Body)
	if err != nil {
		return err
	}
	if r.Log != nil {
		return f.keep(node, r.Task, r.Log)
	}
	f.c.Owner.Report(r)
	return nil
}

// Close tells the agents that the session is over and sees them out.
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
	if f.recruits != nil {
		errs = append(errs, f.recruits.dir.Close(hurry))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(append(errs, f.lost)...)
}

// leaving is how long agents may take to end once they are told that the session is over.
const leaving = 10 * time.Second
