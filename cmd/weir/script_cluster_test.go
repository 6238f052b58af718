package main

import (
	"context"
	"os"

	"github.com/rogpeppe/go-internal/testscript"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/weir-bench/weir/executor/control/registry"
)

// startEtcd starts an etcd for the script and sets $ETCD to its URL: etcd.
func startEtcd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: etcd")
	}
	dir, err := os.MkdirTemp("", "et") // the script's own directory has too long a path for a socket
	ts.Check(err)
	ts.Defer(func() { os.RemoveAll(dir) })
	server, err := registry.StartServer(context.Background(), dir)
	ts.Check(err)
	ts.Defer(server.Close)
	ts.Setenv("ETCD", server.Endpoint())
}

// orphanSession leaves a session without a coordinator in $ETCD, with a reserved node and a key of a program
// with etcd: true: orphan SESSION NODE.
func orphanSession(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: orphan SESSION NODE")
	}
	s, err := registry.Open(context.Background(), registry.Config{Endpoints: []string{ts.Getenv("ETCD")}}, args[0])
	ts.Check(err)
	ts.Defer(func() { s.Close(false) })
	ts.Check(s.Reserve(context.Background(), args[1], registry.Reservation{}))
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{ts.Getenv("ETCD")}, Logger: zap.NewNop()})
	ts.Check(err)
	ts.Defer(func() { client.Close() })
	_, err = client.Put(context.Background(), registry.DefaultPrefix+args[0]+"/lent/l/key", "of a program")
	ts.Check(err)
}
