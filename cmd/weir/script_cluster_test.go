package main

import (
	"context"
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"weir/executor/cluster"
)

// startEtcd starts an etcd for the script, whose URL is then in $ETCD: etcd.
func startEtcd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: etcd")
	}
	dir, err := os.MkdirTemp("", "et") // the script's own directory has too long a path for a socket
	ts.Check(err)
	ts.Defer(func() { os.RemoveAll(dir) })
	server, err := cluster.StartServer(context.Background(), dir)
	ts.Check(err)
	ts.Defer(server.Close)
	ts.Setenv("ETCD", server.Endpoint())
}

// orphanSession leaves a session with a node in $ETCD of which no coordinator says that
// it is its own: orphan SESSION NODE. A line break in the name of the node is what
// somebody else may have written.
func orphanSession(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: orphan SESSION NODE")
	}
	s, err := cluster.Open(context.Background(), cluster.Config{Endpoints: []string{ts.Getenv("ETCD")}}, args[0])
	ts.Check(err)
	ts.Defer(func() { s.Close(false) })
	ts.Check(s.Join(context.Background(), args[1], nil))
}
