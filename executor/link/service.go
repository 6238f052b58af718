package link

import (
	"context"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	grpcpeer "google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

type (
	coordinatorStream = grpc.BidiStreamingServer[FromAgent, FromCoordinator]
	agentStream       = grpc.BidiStreamingClient[FromAgent, FromCoordinator]
)

// maxWord is the longest message of gRPC: a piece, and what stands around it.
const maxWord = pieceSize + 4<<10

// window is how many bytes of a call, and of a connection, may be on their way: enough
// for 100 MB/s over 10 ms.
const window = 1 << 20

func newGRPC(s *Server) *grpc.Server {
	g := grpc.NewServer(
		grpc.Creds(handshake{s: s}), grpc.ConnectionTimeout(s.patience), grpc.WaitForHandlers(true),
		grpc.MaxRecvMsgSize(maxWord), grpc.MaxSendMsgSize(maxWord), grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxHeaderListSize(4<<10),
		grpc.StaticStreamWindowSize(window), grpc.StaticConnWindowSize(window),
	)
	RegisterLinkServer(g, calls{s})
	return g
}

// calls are those that an agent can make.
type calls struct{ s *Server }

func (c calls) Attach(call coordinatorStream) error {
	return c.s.attach(peerOf(call.Context()), call)
}

func (c calls) Heartbeat(call grpc.BidiStreamingServer[Beat, Beat]) error {
	beat(call, c.s.pace.beat)
	return nil
}

// peerOf is who makes a call.
func peerOf(ctx context.Context) *peer {
	from, _ := grpcpeer.FromContext(ctx)
	return from.AuthInfo.(*peer) // as handshake gave it
}

// newClient makes calls over a connection, until it ends.
func newClient(w *wire) (*grpc.ClientConn, error) {
	once := make(chan net.Conn, 1)
	once <- w
	return grpc.NewClient("passthrough:///coordinator",
		grpc.WithTransportCredentials(insecure.NewCredentials()), // the connection is TLS already
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			select {
			case conn := <-once:
				return conn, nil
			default:
				return nil, errClosed
			}
		}),
		grpc.WithStaticStreamWindowSize(window), grpc.WithStaticConnWindowSize(window), grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxWord), grpc.MaxCallSendMsgSize(maxWord)),
	)
}

// final marks the answers of the coordinator after which trying again is of no use.
func final(err error) error {
	switch s := status.Convert(err); s.Code() {
	case codes.PermissionDenied, codes.InvalidArgument, codes.ResourceExhausted, codes.Unimplemented:
		return refused("the coordinator refuses: %s", s.Message())
	}
	return err
}
