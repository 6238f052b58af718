package link

import (
	"context"
	"crypto/tls"
	"errors"
	"sync"

	"google.golang.org/grpc"
)

// connection is one of the successive connections of a link.
type connection struct {
	*wire
	client   *grpc.ClientConn
	life     context.Context // of its calls
	stream   frames
	received uint64 // pieces that the coordinator has
	stop     context.CancelFunc
	wg       sync.WaitGroup
}

// config is the TLS configuration with the present credentials.
func (l *Link) config() (*tls.Config, error) {
	i, err := l.o.Credentials()
	if err != nil {
		return nil, err
	}
	return i.client()
}

// attach makes one attempt to connect.
func (l *Link) attach(ctx, life context.Context) (*connection, error) {
	unanswered := errors.New("the coordinator does not answer")
	all := ctx
	ctx, cancel := context.WithTimeoutCause(all, l.timeouts.silence, unanswered)
	defer cancel()
	raw, err := l.o.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if isPipe(raw) {
		ctx, cancel = context.WithTimeoutCause(all, pipeTimeout, unanswered)
		defer cancel()
	}
	config, err := l.config()
	if err != nil {
		raw.Close()
		return nil, err
	}
	w, err := dialled(ctx, raw, config, l.timeouts)
	if err != nil {
		return nil, err
	}
	c := &connection{wire: w}
	if c.client, err = newClient(w); err != nil {
		w.end(err)
		return nil, err
	}
	c.life, c.stop = context.WithCancel(life)
	context.AfterFunc(c.life, func() { w.end(errClosed) })
	end := context.AfterFunc(ctx, c.stop)
	c.wg.Go(func() {
		if call, err := call(c.life, c.client, heartbeatCall); err == nil {
			exchangeHeartbeats(call, l.timeouts.heartbeatInterval)
		}
	})
	err = c.hello(l.o, l.in.received)
	if !end() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		err = c.reason(err)
		c.close()
		if ctx.Err() != nil && !isRefusal(err) {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return c, nil
}

// errFarewell is the answer to an instance that has said bye on an earlier connection, which broke before
// the coordinator's farewell.
var errFarewell = refused("this agent has said goodbye to the coordinator already")

// hello exchanges hello and welcome, with the numbers of received pieces.
func (c *connection) hello(o Options, received uint64) (err error) {
	if c.stream, err = call(c.life, c.client, attachCall); err != nil {
		return final(err)
	}
	if err := c.stream.Send(&frame{Hello: &hello{
		Session: o.Session, Node: o.Node, Instance: o.Instance, Received: received,
	}}); err != nil {
		_, err := c.stream.Recv() // returns the cause
		return final(err)
	}
	answer, err := c.stream.Recv()
	if err != nil {
		return final(err)
	}
	if answer.Farewell {
		return errFarewell
	}
	if answer.Welcome == nil {
		return refused("the coordinator does not send welcome")
	}
	c.received = *answer.Welcome
	return nil
}

// converse sends and receives messages until the link is closed (nil) or the connection ends.
func (c *connection) converse(out *outbox, in *inbox) error {
	tx, err := out.resume(c.received)
	if err != nil {
		return breach(err)
	}
	var sending sync.WaitGroup
	// receive returns the error of a failed connection
	sending.Go(func() { tx.send(c.stream, &frame{Bye: true}) })
	err = c.receive(tx, in)
	c.end(errClosed)
	tx.end()
	sending.Wait()
	return c.reason(err)
}

// breach is the error of a coordinator that violates the protocol.
func breach(err error) error {
	return refused("the coordinator violates the protocol: %w", err)
}

func (c *connection) receive(tx *sender, in *inbox) error {
	for {
		frame, err := c.stream.Recv()
		if err != nil {
			return final(err)
		}
		if over, err := in.handleCoordinator(c.life, tx, frame); over || err != nil {
			return err
		}
	}
}

// handleCoordinator handles a frame of the coordinator. over means that it was the last one.
func (in *inbox) handleCoordinator(ctx context.Context, tx *sender, f *frame) (over bool, err error) {
	switch {
	case f.Farewell:
		return true, nil
	case f.Leave != "":
		return false, leaveError(f.Leave)
	}
	if err := in.handle(ctx, tx, f); err != nil {
		return false, breach(err)
	}
	return false, nil
}

// reason is the cause of the end of the connection if it is more specific than gRPC's error.
func (c *connection) reason(err error) error {
	if cause := c.why(); err != nil && !isRefusal(err) && cause != nil && !errors.Is(cause, errClosed) {
		return cause
	}
	return err
}

// close ends the connection and its goroutines.
func (c *connection) close() {
	c.end(errClosed)
	c.client.Close()
	c.stop()
	c.wg.Wait()
}
