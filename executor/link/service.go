package link

import (
	"context"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// The one method of the service, in the form in which gRPC's generator writes it.
const attachMethod = "/weir.link.v1.Link/Attach"

var attachStream = grpc.StreamDesc{
	StreamName: "Attach", ServerStreams: true, ClientStreams: true,
	Handler: func(server any, stream grpc.ServerStream) error {
		return server.(*Server).attach(&grpc.GenericServerStream[FromAgent, FromCoordinator]{ServerStream: stream})
	},
}

var service = grpc.ServiceDesc{
	ServiceName: "weir.link.v1.Link", HandlerType: (*any)(nil), Streams: []grpc.StreamDesc{attachStream}, Metadata: "link.proto",
}

type (
	coordinatorStream = grpc.BidiStreamingServer[FromAgent, FromCoordinator]
	agentStream       = grpc.BidiStreamingClient[FromAgent, FromCoordinator]
)

// maxWord is the longest message of gRPC: a piece, and what stands around it.
const maxWord = pieceSize + 4<<10

func newGRPC(s *Server, patience time.Duration) *grpc.Server {
	g := grpc.NewServer(
		grpc.MaxRecvMsgSize(maxWord), grpc.MaxSendMsgSize(maxWord), grpc.MaxConcurrentStreams(1), grpc.MaxHeaderListSize(4<<10),
		grpc.StaticStreamWindowSize(window), grpc.StaticConnWindowSize(window), grpc.ConnectionTimeout(patience), grpc.WaitForHandlers(true),
	)
	g.RegisterService(&service, s)
	return g
}

// attachTo calls the coordinator over streams that dial opens.
func attachTo(ctx context.Context, dial func() (net.Conn, error)) (agentStream, *grpc.ClientConn, error) {
	c, err := grpc.NewClient("passthrough:///coordinator",
		grpc.WithTransportCredentials(insecure.NewCredentials()), // it is inside of TLS
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return dial() }),
		grpc.WithStaticStreamWindowSize(window), grpc.WithStaticConnWindowSize(window), grpc.WithDisableRetry(), grpc.WithDisableServiceConfig(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxWord), grpc.MaxCallSendMsgSize(maxWord)),
	)
	if err != nil {
		return nil, nil, err
	}
	stream, err := c.NewStream(ctx, &attachStream, attachMethod)
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	return &grpc.GenericClientStream[FromAgent, FromCoordinator]{ClientStream: stream}, c, nil
}

// final marks the answers of the coordinator after which trying again is of no use.
func final(err error) error {
	switch s := status.Convert(err); s.Code() {
	case codes.PermissionDenied, codes.InvalidArgument, codes.ResourceExhausted, codes.Unimplemented:
		return refused("the coordinator refuses: %s", s.Message())
	}
	return err
}
