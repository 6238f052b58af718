package link

import (
	"context"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"

	pb "github.com/weir-bench/weir/internal/linkpb"
)

// liar is a coordinator that says what it likes.
type liar struct{ words []*pb.FromCoordinator }

func (l liar) Attach(call coordinatorStream) error {
	if _, err := call.Recv(); err != nil {
		return err
	}
	for _, word := range l.words {
		if err := call.Send(word); err != nil {
			return err
		}
	}
	<-call.Context().Done()
	return nil
}

func (l liar) Heartbeat(call grpc.BidiStreamingServer[pb.Beat, pb.Beat]) error {
	exchangeHeartbeats(call, timeoutsOf(calm).heartbeatInterval)
	return nil
}

func (l liar) Lend(grpc.BidiStreamingServer[pb.Bytes, pb.Bytes]) error { return nil }

// A coordinator that breaks the rules loses its agent for good, for a reason that is reported.
func TestACoordinatorThatBreaksTheRules(t *testing.T) {
	welcome := &pb.FromCoordinator{Say: &pb.FromCoordinator_Welcome{Welcome: &pb.Welcome{}}}
	order := func(number uint64, start *pb.Start, data int) *pb.FromCoordinator {
		return &pb.FromCoordinator{Say: &pb.FromCoordinator_Piece{Piece: piece(number, start, data).GetPiece()}}
	}
	small, large := &pb.Start{Body: 10}, &pb.Start{Body: 2 * pieceSize}
	after := func(words ...*pb.FromCoordinator) []*pb.FromCoordinator {
		return append([]*pb.FromCoordinator{welcome}, words...)
	}
	many := after()
	for n := uint64(1); n < 2+maxAhead/pieceSize; n++ {
		many = append(many, order(n, &pb.Start{Body: pieceSize}, pieceSize))
	}
	for what, c := range map[string]struct {
		words []*pb.FromCoordinator
		want  string
	}{
		"no welcome": {[]*pb.FromCoordinator{order(1, small, 10)}, "does not send welcome"},
		"a welcome of another past": {[]*pb.FromCoordinator{
			{Say: &pb.FromCoordinator_Welcome{Welcome: &pb.Welcome{Received: 3}}}},
			"3 received pieces of 0"},
		"a piece that is not next": {after(order(2, small, 10)), "sends piece 2 after piece 0"},
		"a piece again":            {after(order(1, small, 10), order(1, small, 10)), "piece 1 after piece 1"},
		"a message in another":     {after(order(1, large, pieceSize), order(2, small, 10)), "inside another"},
		"a piece of no message":    {after(order(1, nil, 10)), "continues none"},
		"a piece that is too long": {after(order(1, small, 11)), "a piece of 11 bytes: must have 10"},
		"a body that is too long":  {after(order(1, &pb.Start{Body: MaxBody + 1}, 10)), "67108864 are allowed"},
		"a head that is too long":  {after(order(1, &pb.Start{Head: MaxHead + 1}, 10)), "1048576 are allowed"},
		"more than may wait":       {many, "starts a message while"},
		"an acknowledgement of nothing": {after(
			&pb.FromCoordinator{Say: &pb.FromCoordinator_Taken{Taken: 1}}), "piece 1 of 0"},
		"welcome again":         {after(welcome), "frame of unknown type"},
		"nothing that there is": {after(&pb.FromCoordinator{}), "frame of unknown type"},
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
func lie(t *testing.T, s *side, words []*pb.FromCoordinator) func(context.Context) (net.Conn, error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer(grpc.Creds(handshake{s: s.Server}), grpc.MaxSendMsgSize(maxFrame))
	pb.RegisterLinkServer(g, liar{words})
	served := make(chan struct{})
	go func() { defer close(served); _ = g.Serve(listener) }()
	t.Cleanup(func() { g.Stop(); <-served })
	return func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", listener.Addr().String())
	}
}
