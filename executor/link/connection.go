package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"weir/executor/trust"
)

// connection is one of the connections that a link takes.
type connection struct {
	*wire
	client   *grpc.ClientConn
	life     context.Context // of its calls
	stream   agentStream
	received uint64 // pieces that the coordinator has
	stop     context.CancelFunc
	wg       sync.WaitGroup
}

// attach connects once. An attempt takes no longer than a dead connection would.
func (l *Link) attach(ctx, life context.Context) (*connection, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.pace.silence, errors.New("the coordinator does not answer"))
	defer cancel()
	raw, err := l.o.Connect(ctx)
	if err != nil {
		return nil, err
	}
	config, err := l.o.Identity.TLS(trust.Coordinator)
	if err != nil {
		raw.Close()
		return nil, refused("%w", err)
	}
	w, err := dialled(ctx, raw, config, l.pace)
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
		if call, err := NewLinkClient(c.client).Heartbeat(c.life); err == nil {
			beat(call, l.pace.beat)
		}
	})
	err = c.hello(l.o)
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

// errFarewell is the answer to an instance that has said goodbye, on a connection that
// broke before the coordinator's goodbye came.
var errFarewell = refused("this agent has said goodbye to the coordinator already")

// hello says who we are and hears how far we got.
func (c *connection) hello(o Options) (err error) {
	if c.stream, err = NewLinkClient(c.client).Attach(c.life); err != nil {
		return final(err)
	}
	if err := c.stream.Send(&FromAgent{Say: &FromAgent_Hello{&Hello{Session: o.Session, Node: o.Node,
		Instance: o.Instance}}}); err != nil {
		_, err := c.stream.Recv() // knows why
		return final(err)
	}
	answer, err := c.stream.Recv()
	if err != nil {
		return final(err)
	}
	if leave := answer.GetLeave(); leave != nil {
		return dismissed(leave)
	}
	if answer.GetFarewell() != nil {
		return errFarewell
	}
	welcome := answer.GetWelcome()
	if welcome == nil {
		return refused("the coordinator does not say welcome")
	}
	c.received = welcome.Received
	return nil
}

// converse carries messages over until all was said, then nil, or the connection ends.
func (c *connection) converse(out *outbox) error {
	out.taken(c.received) // what was acknowledged on a connection that broke before we heard
	var talking sync.WaitGroup
	var said error
	talking.Go(func() {
		if said = c.talk(out); said != nil {
			c.end(said)
		}
	})
	err := c.listen(out)
	c.end(errClosed)
	out.wake()
	talking.Wait()
	if isRefusal(said) {
		return said
	}
	return c.reason(err)
}

// reason is why the connection ended, if that tells more than what gRPC made of it.
func (c *connection) reason(err error) error {
	if cause := c.why(); err != nil && !isRefusal(err) && cause != nil && !errors.Is(cause, errClosed) {
		return cause
	}
	return err
}

func (c *connection) talk(out *outbox) error {
	for number := c.received + 1; ; number++ {
		p, err := out.piece(number, func() error {
			select {
			case <-c.ended:
				return errClosed
			default:
				return nil
			}
		})
		if err != nil {
			return err
		}
		if p == nil {
			return c.say(&FromAgent{Say: &FromAgent_Bye{&Bye{}}})
		}
		if err := c.say(&FromAgent{Say: &FromAgent_Piece{p}}); err != nil {
			return err
		}
	}
}

// say leaves it to listen to tell why it failed.
func (c *connection) say(word *FromAgent) error {
	if c.stream.Send(word) != nil {
		<-c.ended
		return errClosed
	}
	return nil
}

func (c *connection) listen(out *outbox) error {
	for {
		word, err := c.stream.Recv()
		if err != nil {
			return final(err)
		}
		switch say := word.Say.(type) {
		case *FromCoordinator_Taken:
			out.taken(say.Taken)
		case *FromCoordinator_Farewell:
			return nil
		case *FromCoordinator_Leave:
			return dismissed(say.Leave)
		default:
			return refused("the coordinator says what this agent does not know")
		}
	}
}

// etcd opens a connection to the coordinator's etcd.
func (c *connection) etcd(ctx context.Context) (net.Conn, error) {
	life, end := context.WithCancel(c.life)
	opening := context.AfterFunc(ctx, end)
	call, err := NewLinkClient(c.client).Tunnel(life)
	if err == nil {
		_, err = call.Recv() // it is open
	}
	if !opening() && err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		return &tunnel{call: call, end: end}, nil
	}
	end()
	if cause := c.why(); cause != nil {
		err = cause
	} else if ctx.Err() == nil {
		err = refused("%s", status.Convert(err).Message())
	}
	return nil, fmt.Errorf("reaching etcd through the coordinator: %w", err)
}

// close ends the connection and waits for what belongs to it.
func (c *connection) close() {
	c.end(errClosed)
	c.client.Close()
	c.stop()
	c.wg.Wait()
}
