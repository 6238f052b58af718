package executor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"weir/executor/agent"
	"weir/executor/launch"
	"weir/executor/link"
	"weir/executor/trust"
)

// Fleet says which agents a session has that are not in its own process: those that a
// launcher starts for it, or without one those that have registered in etcd.
type Fleet struct {
	Launcher launch.Launcher
	Request  launch.Request // what the launcher is to do; the session adds what it alone knows

	Nodes     []string                     // of registered agents: only these, all of them; none: as many as the plan needs
	Identity  trust.Identity               // of a coordinator of the cluster that registered agents have joined
	Authority *trust.Authority             // of that cluster; nil: nobody can join it now
	Access    *trust.EtcdAccess            // how agents that are launched reach Options.Etcd; nil: through their links
	Labels    map[string]map[string]string // of nodes whose agents are launched, by node; trust.AnyNode: of all
	Exclusive bool                         // share registered agents' nodes with no other session

	Listen    string        // address for agents to call; "": none calls, a launcher's pipes lead to them
	Advertise []string      // host:port for them to call instead of all of this host's addresses
	Wait      time.Duration // for the agents to come; 0: a minute
	Say       func(text string)
}

// sessionLife is how long the certificates of a session that launches its agents hold.
const sessionLife = 30 * 24 * time.Hour

// fleet is the agents of a session that has them elsewhere.
type fleet struct {
	s        *session
	o        *Fleet
	identity trust.Identity
	own      *trust.Authority // of this session alone, where a launcher starts the agents
	server   *link.Server
	address  []string
	handle   launch.Handle
	stop     context.CancelFunc
	wg       sync.WaitGroup
	departed chan departure
	recruits *recruits // where agents are registered
	vain     bool      // regain waited for nodes that did not come, and none has since

	mu      sync.Mutex
	workers int               // that the launcher looks after
	ended   map[string]error  // what it says of those that are not there any more, by node
	begun   bool              // the agents have come: who ends now is told of at once
	here    map[string]string // instances by node
	lost    error             // of a file that could not be kept
	logged  map[string]int64  // bytes of logs, by node
}

// departure is an agent's link that has ended.
type departure struct {
	node  string
	cause error
}

func newFleet(s *session) *fleet {
	return &fleet{s: s, o: s.o.Fleet, here: map[string]string{}, logged: map[string]int64{}, departed: make(chan departure, 16), stop: func() {}}
}

// open makes the place that agents call, and calls the agents.
func (f *fleet) open(ctx context.Context) error {
	if err := f.credentials(); err != nil {
		return err
	}
	var err error
	f.server, err = link.NewServer(link.ServerOptions{
		Identity: f.identity, Authority: f.o.Authority, Session: f.s.o.SessionID, Etcd: f.s.dialEtcd(), Take: f.take, Up: f.up, Down: f.down,
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
	return f.launch(ctx)
}

// credentials are the cluster's, or made for this session.
func (f *fleet) credentials() (err error) {
	if f.identity = f.o.Identity; f.o.Launcher == nil {
		return nil
	}
	if f.own, err = trust.NewAuthority("session "+f.s.o.SessionID, sessionLife); err != nil {
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
func (f *fleet) launch(ctx context.Context) error {
	r := f.o.Request
	r.Session, r.Nodes = f.s.o.SessionID, f.s.wanted()
	r.Serve, r.Say, r.Bootstrap = f.server.Serve, f.sayf, f.bootstrap
	var err error
	if r.Dir, err = filepath.Abs(f.s.o.Dir); err != nil {
		return fmt.Errorf("the session's directory: %w", err)
	}
	if err := f.o.Launcher.Check(ctx, r); err != nil {
		return err
	}
	if f.handle, err = f.o.Launcher.Start(ctx, r); err != nil {
		return err
	}
	life, stop := context.WithCancel(context.Background())
	f.stop = stop
	f.wg.Go(func() { f.watch(life) })
	return nil
}

func (f *fleet) sayf(format string, args ...any) { f.o.Say(fmt.Sprintf(format, args...)) }

// bootstrap is what an agent is told that a launcher starts.
func (f *fleet) bootstrap(node string) (trust.Bootstrap, error) {
	i, err := f.own.Issue(trust.Agent, node, sessionLife)
	if err != nil {
		return trust.Bootstrap{}, fmt.Errorf("a certificate for node %s: %w", node, err)
	}
	labels := f.o.Labels
	if node != trust.AnyNode && len(labels) > 0 { // the others' are of no use to it
		labels = map[string]map[string]string{trust.AnyNode: labels[trust.AnyNode], node: labels[node]}
	}
	return trust.Bootstrap{
		Session: f.s.o.SessionID, Node: node, Identity: i, Coordinator: f.address, SessionKey: f.s.signer.Public(), Fabrics: f.s.fabrics(), Etcd: f.o.Access, Labels: labels,
		Shell: f.s.shell, Secrets: f.s.secrets,
	}, nil
}

// up hears of an agent's link.
func (f *fleet) up(node, instance string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if other, ok := f.here[node]; ok && other != instance {
		return fmt.Errorf("session %s has an agent named %s already: names of nodes must differ", f.s.o.SessionID, node)
	}
	f.here[node] = instance
	return nil
}

// linked says whether an agent of that name has shown its certificate and is here.
func (f *fleet) linked(node string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.here[node] != ""
}

// down hears of a link's end.
func (f *fleet) down(node string, cause error) {
	f.mu.Lock()
	delete(f.here, node)
	f.mu.Unlock()
	select {
	case f.departed <- departure{node, cause}:
	case <-f.s.closed:
	}
}

// departed hears of the links that end; a session without a fleet has none.
func (s *session) departed() <-chan departure {
	if s.fleet == nil {
		return nil
	}
	return s.fleet.departed
}

// departedText words the end of a link for a person.
func departedText(cause error) string {
	if cause == nil {
		return "it was told to end"
	}
	return cause.Error()
}

// take takes what an agent sends.
func (f *fleet) take(node string, m link.Message) error {
	if m.Kind != agent.ReportKind {
		return fmt.Errorf("node %s sends %q, which this weir does not know", node, m.Kind)
	}
	r, err := agent.DecodeReport(node, m.Head, m.Body)
	if err != nil {
		return err
	}
	if r.Log != nil {
		return f.keep(node, r.Log)
	}
	select {
	case f.s.reports <- r:
	case <-f.s.closed:
	}
	return nil
}

// close tells the agents that the session is over and sees them out.
func (f *fleet) close(hurry bool) error {
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

// wanted is how many nodes the plan needs.
func (s *session) wanted() int {
	need := max(s.plan.Cluster.Nodes, 1)
	for _, c := range s.plan.Cases {
		need = max(need, c.Place.Nodes)
	}
	return need
}

// named says whether the fleet may have a node of this name.
func (o *Fleet) named(node string) bool { return len(o.Nodes) == 0 || slices.Contains(o.Nodes, node) }
