// Package board is the notice board of one session for tests: an etcd of their own, the
// session in it, and the key that the session signs with. It is what an agent under test
// needs of a coordinator.
package board

import (
	"os"
	"testing"

	"weir/executor/cluster"
	"weir/executor/trust"
)

// ID is the session's.
const ID = "s"

// Board is an etcd with a session, until the test ends.
type Board struct {
	*cluster.Session
	Etcd     *cluster.Server
	Dir      string // with a short path, as sockets need it
	Key      *trust.Signer
	Verifier *trust.Verifier // of the key
}

// New makes one.
func New(t testing.TB) *Board {
	t.Helper()
	b := &Board{}
	var err error
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	b.Dir, err = os.MkdirTemp("", "bo") // t.TempDir's path is too long for a socket
	check(err)
	t.Cleanup(func() { os.RemoveAll(b.Dir) })
	b.Etcd, err = cluster.StartServer(t.Context(), b.Dir)
	check(err)
	t.Cleanup(b.Etcd.Close)
	b.Session, err = cluster.Open(t.Context(), b.Etcd.Config(), ID)
	check(err)
	t.Cleanup(func() { b.Close(false) }) // what is left ends with the etcd
	b.Key, err = trust.NewSigner()
	check(err)
	b.Verifier, err = trust.NewVerifier(b.Key.Public())
	check(err)
	return b
}
