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

// maxFrame is the largest gRPC message: a piece with its frame.
const maxFrame = pieceSize + 4<<10

// window is the flow control window of a call and of a connection, in bytes: 100 MB/s at 10 ms.
const window = 1 << 20

// buffer is the size of a read or write buffer, in bytes: small, as a thousand agents have four each.
const buffer = 8 << 10

func newGRPC(s *Server) *grpc.Server {
	g := grpc.NewServer(
		// the handshake ends strangers earlier
		grpc.Creds(handshake{s: s}), grpc.ConnectionTimeout(pipeTimeout), grpc.WaitForHandlers(true),
		grpc.ForceServerCodecV2(codec{}),
		grpc.MaxRecvMsgSize(maxFrame), grpc.MaxSendMsgSize(maxFrame), grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxHeaderListSize(4<<10),
		grpc.StaticStreamWindowSize(window), grpc.StaticConnWindowSize(window),
		grpc.ReadBufferSize(buffer), grpc.WriteBufferSize(buffer),
	)
	g.RegisterService(service(map[string]func(frames) error{
		attachCall: func(call frames) error { return s.attach(peerOf(call.Context()), call) },
		heartbeatCall: func(call frames) error {
			exchangeHeartbeats(call, s.timeouts.heartbeatInterval)
			return nil
		},
		lendCall: s.lend,
	}), nil)
	return g
}

// peerOf is the peer of a call.
func peerOf(ctx context.Context) *peer {
	from, _ := grpcpeer.FromContext(ctx)
	return from.AuthInfo.(*peer) // of ServerHandshake
}

// newClient is a gRPC client over a connection, without reconnects.
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
		grpc.WithReadBufferSize(buffer), grpc.WithWriteBufferSize(buffer),
		grpc.WithDisableServiceConfig(),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(codec{}), grpc.MaxCallRecvMsgSize(maxFrame),
			grpc.MaxCallSendMsgSize(maxFrame)),
	)
}

// final makes permanent answers of the coordinator refusals.
func final(err error) error {
	switch s := status.Convert(err); s.Code() {
	case codes.PermissionDenied, codes.InvalidArgument, codes.ResourceExhausted, codes.Unimplemented:
		return refused("the coordinator refuses: %s", s.Message())
	}
	return err
}
