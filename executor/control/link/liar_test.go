package link

import (
	"context"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"
)

// liar is a coordinator that says what it likes.
func liar(words []*frame) *grpc.ServiceDesc {
	return service(map[string]func(frames) error{
		attachCall: func(call frames) error {
			if _, err := call.Recv(); err != nil {
				return err
			}
			for _, word := range words {
				if err := call.Send(word); err != nil {
					return err
				}
			}
			<-call.Context().Done()
			return nil
		},
		heartbeatCall: func(call frames) error {
			exchangeHeartbeats(call, timeoutsOf(calm).heartbeatInterval)
			return nil
		},
	})
}

// A coordinator that breaks the rules loses its agent for good, for a reason that is reported.
func TestACoordinatorThatBreaksTheRules(t *testing.T) {
	welcome := &frame{Welcome: new(uint64)}
	small, large := &start{Body: 10}, &start{Body: 2 * pieceSize}
	after := func(words ...*frame) []*frame {
		return append([]*frame{welcome}, words...)
	}
	many := after()
	for n := uint64(1); n < 2+maxAhead/pieceSize; n++ {
		many = append(many, pieceOf(n, &start{Body: pieceSize}, pieceSize))
	}
	for what, c := range map[string]struct {
		words []*frame
		want  string
	}{
		"no welcome":                    {[]*frame{pieceOf(1, small, 10)}, "does not send welcome"},
		"a welcome of another past":     {[]*frame{{Welcome: new(uint64(3))}}, "3 received pieces of 0"},
		"a piece that is not next":      {after(pieceOf(2, small, 10)), "sends piece 2 after piece 0"},
		"a piece again":                 {after(pieceOf(1, small, 10), pieceOf(1, small, 10)), "piece 1 after piece 1"},
		"a message in another":          {after(pieceOf(1, large, pieceSize), pieceOf(2, small, 10)), "inside another"},
		"a piece of no message":         {after(pieceOf(1, nil, 10)), "continues none"},
		"a piece that is too long":      {after(pieceOf(1, small, 11)), "a piece of 11 bytes: must have 10"},
		"a body that is too long":       {after(pieceOf(1, &start{Body: MaxBody + 1}, 10)), "67108864 are allowed"},
		"a head that is too long":       {after(pieceOf(1, &start{Head: MaxHead + 1}, 10)), "1048576 are allowed"},
		"more than may wait":            {many, "starts a message while"},
		"an acknowledgement of nothing": {after(&frame{Taken: 1}), "piece 1 of 0"},
		"welcome again":                 {after(welcome), "frame of unknown type"},
		"nothing that there is":         {after(&frame{}), "frame of unknown type"},
	} {
		t.Run(what, func(t *testing.T) {
			s := serve(t, nil, limit)
			o := s.options(t, "n1")
			hold := make(chan struct{})
			defer close(hold)
			o.Take = func(Message) error { <-hold; return nil }
			o.Connect = lie(t, s, c.words)
			l, err := tryDial(t, o)
			if err == nil {
				err = lost(t, l)
			}
			if !isRefusal(err) && l != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// lie starts a liar, and gives the way to it.
func lie(t *testing.T, s *side, words []*frame) func(context.Context) (net.Conn, error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer(grpc.ForceServerCodecV2(codec{}), grpc.Creds(handshake{s: s.Server}),
		grpc.MaxSendMsgSize(maxFrame))
	g.RegisterService(liar(words), nil)
	served := make(chan struct{})
	go func() { defer close(served); _ = g.Serve(listener) }()
	t.Cleanup(func() { g.Stop(); <-served })
	return func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", listener.Addr().String())
	}
}
