package incluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/weir-bench/weir/workload"
)

// tunnel is a port-forward that is restarted when it ends or is broken.
type tunnel struct {
	s    *Service
	port int // of this host
	now  *process
}

const (
	tunnelTime  = 30 * time.Second // time limit for opening a tunnel
	tunnelCheck = 2 * time.Second  // interval of checks
	tunnelPause = 200 * time.Millisecond
	mostBroken  = 10 // consecutive failures that are tolerated
)

var forwarding = regexp.MustCompile(`^Forwarding from \S+:(\d+) -> \d+`)

// forwardArguments are the arguments of kubectl port-forward; port 0: any free one.
func forwardArguments(t *workload.Tunnel, address string, port int) []string {
	to := t.Service
	if !strings.Contains(to, "/") {
		to = "service/" + to
	}
	local := ""
	if port > 0 {
		local = strconv.Itoa(port)
	}
	return []string{"port-forward", to, local + ":" + t.Port, "--address", address}
}

// dig opens the tunnel, and keeps it open until running ends.
func (s *Service) dig(ctx, running context.Context) (*tunnel, error) {
	t := &tunnel{s: s}
	s.say("tunnel to %s: its traffic goes through the cluster's API server", s.r.Spec.Tunnel.Service)
	ctx, cancel := context.WithTimeout(ctx, tunnelTime)
	defer cancel()
	for {
		err := t.open(ctx, running)
		if err == nil {
			break
		}
		if broken := s.pods.wrong(); broken != nil {
			return nil, broken
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("tunnel to %s: %w", s.r.Spec.Tunnel.Service, err)
		case <-time.After(tunnelPause): // the Service may not have found its pods yet
		}
	}
	s.background.Go(func() { t.keep(running) })
	return t, nil
}

// open starts a port-forward and waits until it listens.
func (t *tunnel) open(ctx, running context.Context) error {
	p, err := begin(t.s.client.Command(running, forwardArguments(t.s.r.Spec.Tunnel, t.s.r.Address, t.port)...))
	if err != nil {
		return t.s.client.Explain("port-forward", "", err)
	}
	listens := make(chan int, 1)
	go func() {
		for lines := bufio.NewScanner(p.out); lines.Scan(); {
			if m := forwarding.FindStringSubmatch(lines.Text()); m != nil {
				n, _ := strconv.Atoi(m[1])
				select {
				case listens <- n:
				default:
				}
			}
		}
	}()
	select {
	case t.port = <-listens:
		t.now = p
		return nil
	case <-p.over:
		p.out.Close()
		return t.s.client.Explain("port-forward", p.stderr.String(), p.said())
	case <-ctx.Done():
		p.end()
		return errors.Join(context.Cause(ctx), t.s.pods.wrong())
	}
}

// keep restarts the tunnel whenever it has ended or is broken.
func (t *tunnel) keep(running context.Context) {
	broken := 0
	for {
		why := t.await(running)
		t.now.end()
		if running.Err() != nil {
			return
		}
		for {
			if broken++; broken > mostBroken {
				t.s.fail(fmt.Errorf("the tunnel to %s broke %d times in a row: %w", t.s.r.Spec.Tunnel.Service, broken-1,
					why))
				return
			}
			t.s.log.note(fmt.Sprintf("the tunnel broke and is restarted: %v", why))
			bounded, cancel := context.WithTimeout(running, tunnelTime)
			err := t.open(bounded, running)
			cancel()
			if err == nil {
				break
			}
			why = err
			select {
			case <-running.Done():
				return
			case <-time.After(time.Duration(broken) * tunnelPause):
			}
		}
		if t.leads() == nil {
			broken = 0
		}
	}
}

// await returns why the tunnel is of no use any more.
func (t *tunnel) await(running context.Context) error {
	for failed := 0; ; {
		select {
		case <-running.Done():
			return context.Cause(running)
		case <-t.now.over:
			return t.now.said()
		case <-time.After(tunnelCheck):
		}
		if err := t.leads(); err == nil {
			failed = 0
		} else if failed++; failed > 1 {
			return err
		}
	}
}

// leads says why a connection through the tunnel does not hold for a moment. kubectl takes
// connections too where nothing answers behind it, and ends them then.
func (t *tunnel) leads() error {
	c, err := net.DialTimeout("tcp", net.JoinHostPort(t.s.r.Address, strconv.Itoa(t.port)), tunnelCheck)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetReadDeadline(time.Now().Add(tunnelPause)); err != nil {
		return err
	}
	var one [1]byte
	_, err = c.Read(one[:])
	if timeout, ok := errors.AsType[net.Error](err); err == nil || ok && timeout.Timeout() {
		return nil // it speaks first, or waits for us to speak
	}
	return fmt.Errorf("a connection through it ends at once: %w", err)
}
