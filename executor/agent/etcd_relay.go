package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// etcdRelay forwards a loopback port of this host to the part of the session's etcd that a task borrows.
type etcdRelay struct {
	url      string
	listener net.Listener
	end      context.CancelFunc // closes all connections
	wg       sync.WaitGroup
}

// startEtcdRelay opens the port of a task.
func startEtcdRelay(dial Lender, task string) (*etcdRelay, error) {
	if dial == nil {
		return nil, errors.New("the session lends no etcd")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("lending etcd: %w", err)
	}
	l := &etcdRelay{url: "http://" + listener.Addr().String(), listener: listener}
	var ctx context.Context
	ctx, l.end = context.WithCancel(context.Background())
	l.wg.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // closed
			}
			l.wg.Go(func() { relay(ctx, client, dial, task) })
		}
	})
	return l, nil
}

func relay(ctx context.Context, client net.Conn, dial Lender, task string) {
	defer client.Close()
	etcd, err := dial(ctx, task)
	if err != nil {
		return // etcd's clients retry a closed connection
	}
	defer etcd.Close()
	stop := context.AfterFunc(ctx, func() { client.Close(); etcd.Close() })
	defer stop()
	var up sync.WaitGroup
	up.Go(func() {
		_, _ = io.Copy(etcd, client)
		etcd.Close()
		client.Close()
	})
	_, _ = io.Copy(client, etcd)
	client.Close()
	etcd.Close()
	up.Wait()
}

func (l *etcdRelay) close() {
	l.listener.Close()
	l.end()
	l.wg.Wait()
}
