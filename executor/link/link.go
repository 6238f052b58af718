package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"weir/executor/trust"
)

// Options are the agent's side of a link.
type Options struct {
	Identity trust.Identity
	Session  string
	Node     string
	// Instance tells this run of the node's agent from others: whoever makes a new link
	// after an old one was lost is another instance.
	Instance string
	// Connect opens a way to the coordinator. It is called again when that breaks.
	Connect func(ctx context.Context) (net.Conn, error)
	// Silence is how long the coordinator may say nothing before the link is lost;
	// 0: DefaultSilence. Both sides should have the same.
	Silence time.Duration
}

// Link is an agent's connection to the coordinator, over all the connections that it
// takes.
type Link struct {
	o    Options
	pace pace
	out  *outbox
	stop context.CancelCauseFunc
	done chan struct{} // run has ended
	lost chan struct{}

	mu      sync.Mutex
	current *connection   // nil while there is none
	changed chan struct{} // closed when current changes
	cause   error
}

var errClosed = errors.New("the link was closed")

// Dial connects to the coordinator. It tries again until ctx ends, unless it is refused.
func Dial(ctx context.Context, o Options) (*Link, error) {
	l := &Link{
		o: o, pace: paceOf(o.Silence), out: newOutbox(), done: make(chan struct{}), lost: make(chan struct{}),
		changed: make(chan struct{}),
	}
	if _, _, err := o.Identity.Role(); err != nil {
		return nil, fmt.Errorf("connecting to the coordinator: %w", err)
	}
	life, stop := context.WithCancelCause(context.Background())
	l.stop = stop
	c, err := l.connect(ctx, life)
	if err != nil {
		stop(err)
		return nil, fmt.Errorf("connecting to the coordinator of session %s as node %s: %w", o.Session, o.Node, err)
	}
	go l.run(life, c)
	return l, nil
}

// maxPause is the longest between two attempts to connect.
const maxPause = 250 * time.Millisecond

// connect tries to connect until ctx ends. The connection lives as long as life.
func (l *Link) connect(ctx, life context.Context) (*connection, error) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	wait := l.pace.retry
	var last error
	for {
		select {
		case <-pause.C:
		case <-ctx.Done():
			return nil, gaveUp(context.Cause(ctx), last)
		case <-life.Done():
			return nil, context.Cause(life)
		}
		c, err := l.attach(ctx, life)
		if isRefusal(err) && last != nil {
			err = fmt.Errorf("%w: %w", last, err)
		}
		if err == nil || isRefusal(err) {
			return c, err
		}
		if ctx.Err() == nil { // its end tells less than what came before
			last = err
		}
		pause.Reset(wait)
		wait = min(2*wait, l.pace.silence/10, maxPause)
	}
}

// gaveUp says why trying ended, and what the last attempt met with, if anything.
func gaveUp(cause, last error) error {
	if last == nil {
		return cause
	}
	return fmt.Errorf("%w (%w)", last, cause)
}

// run keeps the link up until it is closed or lost.
func (l *Link) run(life context.Context, c *connection) {
	defer close(l.done)
	var err error
	for err == nil {
		l.show(c)
		err = c.converse(l.out)
		l.show(nil)
		c.close()
		if err == nil { // all was said
			break
		}
		if cause := context.Cause(life); cause != nil {
			err = cause
		} else if !isRefusal(err) {
			c, err = l.again(life, c.lastHeard(), err)
		}
	}
	if errors.Is(err, errFarewell) { // Dial was welcome, so this answers our own goodbye
		err = nil
	}
	l.mu.Lock()
	l.cause = err
	l.mu.Unlock()
	if err == nil {
		err = errClosed
	}
	l.out.fail(err)
	l.stop(err)
	close(l.lost)
}

// again makes a new connection in what is left of the silence since the coordinator was
// heard last.
func (l *Link) again(life context.Context, heard time.Duration, broke error) (*connection, error) {
	ctx, cancel := context.WithCancelCause(life)
	late := newWatchdog(func() { cancel(context.DeadlineExceeded) })
	late.Reset(max(l.pace.silence-l.pace.idle, heard+l.pace.silence-now())) // as the coordinator's
	defer func() { late.Stop(); cancel(nil) }()
	c, err := l.connect(ctx, life)
	if err != nil && !isRefusal(err) && context.Cause(life) == nil {
		err = fmt.Errorf("nothing was heard of the coordinator for %s: %w; then %w", l.pace.silence, broke, err)
	}
	return c, err
}

func (l *Link) show(c *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = c
	close(l.changed)
	l.changed = make(chan struct{})
}

// Send hands over a message, whose bytes must not change any more. It returns when the
// message is in line, and waits before while more than 64 MiB are not acknowledged.
func (l *Link) Send(m Message) error {
	if err := checkSizes(len(m.Kind), len(m.Head), len(m.Body)); err != nil {
		return err
	}
	return l.out.put(m)
}

// Etcd opens a stream that the coordinator connects with its etcd. It waits for a
// connection if there is none, and the stream breaks with the connection.
func (l *Link) Etcd(ctx context.Context) (net.Conn, error) {
	for {
		l.mu.Lock()
		c, changed := l.current, l.changed
		l.mu.Unlock()
		if c != nil {
			conn, err := c.etcd(ctx)
			if err == nil || isRefusal(err) || ctx.Err() != nil {
				return conn, err
			}
		}
		select {
		case <-changed:
		case <-l.lost:
			return nil, fmt.Errorf("reaching etcd through the coordinator: %w", errors.Join(errClosed, l.Cause()))
		case <-ctx.Done():
			return nil, fmt.Errorf("reaching etcd through the coordinator: %w", context.Cause(ctx))
		}
	}
}

// Lost is closed when the link is over for good: nothing was heard of the coordinator
// for too long, it refused, it told the agent to leave, or Close was called.
func (l *Link) Lost() <-chan struct{} { return l.lost }

// Cause is why the link was lost; nil while it is not, and after an end in order.
func (l *Link) Cause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// Close delivers what was sent, says goodbye, and waits for the coordinator to have
// heard. When ctx ends before, it leaves without. An error means that something may not
// have arrived.
func (l *Link) Close(ctx context.Context) error {
	l.out.close()
	select {
	case <-l.done:
	case <-ctx.Done():
		l.stop(fmt.Errorf("closing the link: %w", context.Cause(ctx)))
		<-l.done
	}
	return l.Cause()
}
