package fleet

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"time"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/control/link"
	"github.com/weir-bench/weir/executor/host/scratch"
)

// served serves one session on this node.
type served struct {
	AgentOptions
	session     string
	credentials link.Credentials
	connect     func(context.Context) (net.Conn, error)
	begun       func() // called when the coordinator has been reached; may be nil
}

// errBroken means that the coordinator was lost or not reached; the session may still exist.
var errBroken = errors.New("no link to the coordinator")

// dialTimeout is the time limit for the first connection to a coordinator.
const dialTimeout = 20 * time.Second

// run serves the session until it ends (nil) or the link is lost. When it returns, all processes and files
// of the session are gone.
func (s *served) run(ctx context.Context) (err error) {
	orders := newOrders()
	instance := make([]byte, 8)
	rand.Read(instance)
	dialing, cancel := context.WithTimeout(ctx, dialTimeout)
	l, err := link.Dial(dialing, link.Options{
		Credentials: s.credentials, Session: s.session, Node: s.Node, Instance: hex.EncodeToString(instance),
		Connect: s.connect, Take: orders.take,
	})
	cancel()
	if err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	if s.begun != nil {
		s.begun()
	}
	defer func() {
		leaving, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		_ = l.Close(leaving) // on failure, the coordinator notices the end of the link
	}()
	var setup agent.Setup
	select {
	case setup = <-orders.setup:
	case <-l.Lost():
		return s.lost(l)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	labels := map[string]string{}
	maps.Copy(labels, setup.Labels)
	maps.Copy(labels, s.Labels)
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
	o := s.Options
	o.Session, o.RefuseCommands, o.ShipLogs = s.session, !s.Commands, true
	o.Labels, o.CPUs, o.Shell, o.Secrets = labels, setup.CPUs, setup.Shell, setup.Secrets
	o.LogDir, o.ScratchDir = filepath.Join(tmp.Path(), "logs"), shm.Path()
	o.Refused = func(why string) { s.Say(fmt.Sprintf("session %s: %s", s.session, why)) }
	o.Sink, o.Lend = func(r agent.Report) { s.send(l, r) }, l.Lend
	a := agent.New(o)
	defer func() {
		orders.stop()
		err = errors.Join(err, a.Close())
	}()
	member := a.Join(a.Survey(ctx, setup.Fabrics))
	orders.pass(a)
	s.send(l, agent.Report{Joined: &member})
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.Lost():
		a.Kill() // its reports cannot be sent
		return s.lost(l)
	}
}

// lost is the error of an ended link: nil if the coordinator told the agent to leave.
func (s *served) lost(l *link.Link) error {
	if cause := l.Cause(); !errors.Is(cause, link.ErrLeave) {
		return fmt.Errorf("%w: %w", errBroken, cause)
	}
	return nil
}

// fewRanks is the number of ranks for which sharedMemory must have space, or else another directory is used.
const fewRanks = 8

// sharedMemory is the preferred directory for the shared memory files of ranks.
const sharedMemory = "/dev/shm"

// closeTimeout is the time limit for the last reports to a coordinator.
const closeTimeout = 5 * time.Second

// send sends a report. It blocks the task while the coordinator is behind.
func (s *served) send(l *link.Link, r agent.Report) {
	r.Node = s.Node
	head, body, err := r.Encode()
	if err == nil {
		err = l.Send(link.Message{Head: head, Body: body})
	}
	if err != nil {
		select {
		case <-l.Lost(): // run reports it
		default:
			s.Say(fmt.Sprintf("session %s: a report was not sent: %v", s.session, err))
		}
	}
}

// dialer tries the coordinator's addresses one after the other.
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
