package daemon

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"weir/executor/agent"
	"weir/executor/cluster"
	"weir/executor/link"
	"weir/executor/scratch"
	"weir/executor/trust"
)

// served is one session's use of this node.
type served struct {
	Options
	session  string
	node     string
	identity trust.Identity
	key      []byte
	cpus     []int
	fabrics  []string
	shell    map[string]string // carried variables
	secrets  []string          // references
	connect  func(context.Context) (net.Conn, error)
	etcd     cluster.Config // no endpoints: through the link
}

// errBroken says that a session was lost, or not reached, that may still be there.
var errBroken = errors.New("no link to the coordinator")

// meeting is how long the first connection to a coordinator may take.
const meeting = 20 * time.Second

// run serves the session until it is over, nil, or broken off. When it returns, all of
// its processes and files are gone.
func (s *served) run(ctx context.Context) (err error) {
	verifier, err := trust.NewVerifier(s.key)
	if err != nil {
		return fmt.Errorf("session key: %w", err)
	}
	instance := make([]byte, 8)
	rand.Read(instance)
	calling, cancel := context.WithTimeout(ctx, meeting)
	l, err := link.Dial(calling, link.Options{
		Identity: s.identity, Session: s.session, Node: s.node, Instance: hex.EncodeToString(instance),
		Connect: s.connect,
	})
	cancel()
	if err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	defer func() {
		leaving, cancel := context.WithTimeout(context.Background(), goodbye)
		defer cancel()
		_ = l.Close(leaving) // the coordinator notices that a node is gone in any case
	}()
	tmp, err := scratch.Want{}.Make(scratch.Roots()...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tmp.Remove()) }()
	shm, err := scratch.Want{Free: agent.SharedBytes(fewRanks)}.Prefer(sharedMemory, tmp.Path())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shm.Remove()) }()
	if err := s.RankUser.Own(shm.Path()); err != nil {
		return err
	}
	a := agent.New(agent.Options{
		Node: s.node, Session: s.session, Labels: s.Labels, RankCommand: s.RankCommand, ProbeCommand: s.ProbeCommand,
		GuardCommand: s.GuardCommand,
		LogDir:       filepath.Join(tmp.Path(), "logs"),
		ScratchDir:   shm.Path(), Deadlines: s.Deadlines, Verifier: verifier, CPUs: s.cpus, ShipLogs: true,
		NoCommands: !s.Commands, Limits: s.Limits, RankUser: s.RankUser,
		AllowEnv: s.AllowEnv, SecretsDir: s.SecretsDir, Shell: s.shell, Secrets: s.secrets,
		Refused: func(why string) { s.Say(fmt.Sprintf("session %s: %s", s.session, why)) },
		Sink:    func(r agent.Report) { s.send(l, r) },
	})
	defer func() { err = errors.Join(err, a.Close()) }()
	if len(s.etcd.Endpoints) == 0 {
		s.etcd = cluster.Config{
			Endpoints: []string{"coordinator.invalid:2379"}, // a name for what Dial reaches
			Dial:      func(ctx context.Context, _ string) (net.Conn, error) { return l.Etcd(ctx) },
			Gone:      l.Lost(),
		}
	}
	if err := a.Serve(ctx, s.etcd, a.Survey(ctx, s.fabrics)); err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-a.Lost():
		return fmt.Errorf("%w: %w", errBroken, a.Cause())
	case <-l.Lost():
		a.Kill() // what it would still say, nobody hears
		if cause := l.Cause(); !errors.Is(cause, link.ErrLeave) {
			return fmt.Errorf("%w: %w", errBroken, cause)
		}
	}
	return nil
}

// fewRanks are those for which there must be shared memory where it is looked for first.
const fewRanks = 8

// sharedMemory is where ranks put files that they share as memory.
const sharedMemory = "/dev/shm"

// goodbye is how long the last reports to a coordinator may take.
const goodbye = 5 * time.Second

// send passes a report on. It blocks while the coordinator is behind, and with it the
// task; a link that is lost ends the session.
func (s *served) send(l *link.Link, r agent.Report) {
	head, body, err := r.Encode()
	if err == nil {
		err = l.Send(link.Message{Kind: agent.ReportKind, Head: head, Body: body})
	}
	if err != nil {
		select {
		case <-l.Lost(): // run says so
		default:
			s.Say(fmt.Sprintf("session %s: a report was not sent: %v", s.session, err))
		}
	}
}

// etcdOf makes an access to etcd what package cluster takes; without one it is empty.
func etcdOf(a *trust.EtcdAccess) (cluster.Config, error) {
	if a == nil {
		return cluster.Config{}, nil
	}
	c, err := a.TLS()
	if err != nil {
		return cluster.Config{}, fmt.Errorf("etcd at %v: %w", a.Endpoints, err)
	}
	return cluster.Config{Endpoints: a.Endpoints, Prefix: a.Prefix, TLS: c, User: a.User, Password: a.Password}, nil
}

// dialer calls the coordinator's addresses one after the other.
func dialer(addresses []string) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		var errs []error
		for _, address := range addresses {
			d := net.Dialer{Timeout: 3 * time.Second}
			conn, err := d.DialContext(ctx, "tcp", address)
			if err == nil {
				return conn, nil
			}
			errs = append(errs, err)
		}
		return nil, errors.Join(errs...)
	}
}
