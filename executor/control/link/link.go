package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Options are the agent's side of a link.
type Options struct {
	Credentials Credentials
	Session     string
	Node        string
	// Instance identifies this link among others of the node: each link has a new one.
	Instance string
	// Connect connects to the coordinator. It is called again after a broken connection.
	Connect func(ctx context.Context) (net.Conn, error)
	// Take handles an order of the coordinator, one at a time. An error ends the link for good. It may be
	// called before Dial returns. It may call Send, but not Close.
	Take func(m Message) error
	// Silence is the time without a sign of the coordinator after which the link is lost; 0:
	// DefaultSilence. It should be equal on both sides.
	Silence time.Duration
}

// Link is an agent's link to the coordinator, over successive connections.
type Link struct {
	o        Options
	timeouts timeouts
	out      *outbox
	in       *inbox
	stop     context.CancelCauseFunc
	done     chan struct{} // run has ended
	lost     chan struct{}

	mu      sync.Mutex
	current *connection   // nil while there is none
	changed chan struct{} // closed when current changes
	cause   error
}

var errClosed = errors.New("the link was closed")

// Dial connects to the coordinator. It retries until ctx ends or the coordinator refuses.
func Dial(ctx context.Context, o Options) (*Link, error) {
	l := &Link{
		o: o, timeouts: timeoutsOf(o.Silence), out: newOutbox(), done: make(chan struct{}), lost: make(chan struct{}),
		changed: make(chan struct{}),
	}
	if o.Take == nil {
		return nil, errors.New("an agent needs a function Take")
	}
	life, stop := context.WithCancelCause(context.Background())
	l.stop = stop
	l.in = &inbox{take: o.Take, out: l.out, failed: func(err error) {
		stop(refused("this agent did not take an order: %w", err))
	}}
	c, err := l.connect(ctx, life)
	if err != nil {
		stop(err)
		return nil, fmt.Errorf("connecting to the coordinator of session %s as node %s: %w", o.Session, o.Node, err)
	}
	go l.run(life, c)
	return l, nil
}

// maxPause is the longest pause between attempts to connect.
const maxPause = 250 * time.Millisecond

// connect retries to connect until ctx ends. The connection ends with life.
func (l *Link) connect(ctx, life context.Context) (*connection, error) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	wait := l.timeouts.retry
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
		if ctx.Err() == nil {
			last = err
		}
		pause.Reset(wait)
		wait = min(2*wait, l.timeouts.silence/10, maxPause)
	}
}

// gaveUp joins the cause of the end of retries with the last error, if any.
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
		l.setCurrent(c)
		err = c.converse(l.out, l.in)
		l.setCurrent(nil)
		c.close()
		if err == nil { // closed
			break
		}
		if cause := context.Cause(life); cause != nil {
			err = cause
		} else if !isRefusal(err) {
			c, err = l.reconnect(life, c.lastRead(), err)
		}
	}
	if errors.Is(err, ErrLeave) {
		l.leave(life, err)
	}
	if errors.Is(err, errFarewell) { // the answer to this instance's bye
		err = nil
	}
	l.mu.Lock()
	l.cause = err
	l.mu.Unlock()
	if err == nil {
		err = errClosed
	}
	l.out.fail(err)
	l.in.discard()
	l.stop(err)
	close(l.lost)
}

// leave waits until the orders before Leave were taken, or until life ends.
func (l *Link) leave(life context.Context, err error) {
	l.out.fail(err) // ends a Take that waits in Send
	select {
	case <-l.in.idle():
	case <-life.Done():
	}
}

// reconnect makes a new connection within the silence since the last received byte.
func (l *Link) reconnect(life context.Context, lastRead time.Duration, broke error) (*connection, error) {
	ctx, cancel := context.WithCancelCause(life)
	late := newWatchdog(func() { cancel(context.DeadlineExceeded) })
	late.Reset(max(l.timeouts.silence-l.timeouts.idle, lastRead+l.timeouts.silence-now())) // as in detach
	defer func() { late.Stop(); cancel(nil) }()
	c, err := l.connect(ctx, life)
	if err != nil && !isRefusal(err) && context.Cause(life) == nil {
		err = fmt.Errorf("nothing received from the coordinator for %s: %w; then %w", l.timeouts.silence, broke, err)
	}
	return c, err
}

func (l *Link) setCurrent(c *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = c
	close(l.changed)
	l.changed = make(chan struct{})
}

// Send queues a report; its bytes must not change afterwards. It blocks while more than 64 MiB are not
// acknowledged.
func (l *Link) Send(m Message) error {
	if err := checkSizes(len(m.Head), len(m.Body)); err != nil {
		return err
	}
	return l.out.put(m)
}

// Lost is closed when the link has ended for good: the coordinator was silent for too long, refused, or
// told the agent to leave, Take failed, or Close was called. A call of Take may still be running.
func (l *Link) Lost() <-chan struct{} { return l.lost }

// Cause is the error that ended the link; nil before, and after a regular end.
func (l *Link) Cause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// Close delivers all reports, says bye, and waits for the coordinator's answer until ctx ends. An error
// means that reports may be lost. Orders meanwhile may be dropped. After Close, no call of Take is
// running, unless ctx has ended.
func (l *Link) Close(ctx context.Context) error {
	l.out.close()
	select {
	case <-l.done:
	case <-ctx.Done():
		l.stop(fmt.Errorf("closing the link: %w", context.Cause(ctx)))
		<-l.done
	}
	select {
	case <-l.in.idle():
	case <-ctx.Done():
	}
	return l.Cause()
}
