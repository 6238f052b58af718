package registry

import (
	"context"
	"maps"
	"path"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// counter counts the requests to a server, by the last part of the method name.
type counter struct {
	mu    sync.Mutex
	count map[string]int
}

func (c *counter) add(method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count == nil {
		c.count = map[string]int{}
	}
	c.count[path.Base(method)]++
}

func (c *counter) sum() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.count)
}

// options install the counter in a server.
func (c *counter) options() []grpc.ServerOption {
	unary := func(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		c.add(info.FullMethod)
		return next(ctx, request)
	}
	stream := func(server any, s grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		return next(server, &countedStream{s, c, info.FullMethod})
	}
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(unary), grpc.ChainStreamInterceptor(stream), grpc.ReadBufferSize(connBuffer),
	}
}

// countedStream counts each message of a stream as a request.
type countedStream struct {
	grpc.ServerStream
	c      *counter
	method string
}

func (s *countedStream) RecvMsg(m any) error {
	err := s.ServerStream.RecvMsg(m)
	if err == nil {
		method := s.method
		if w, ok := m.(*pb.WatchRequest); ok && w.GetCancelRequest() != nil {
			method += "Cancel"
		}
		s.c.add(method)
	}
	return err
}
