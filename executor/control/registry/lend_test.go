package registry

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weir-bench/weir/test/phase"
)

// Lent parts of etcd have their own keys below the session: parts of the same name share them, others do not
// see them, and they end with the session.
func TestLentEtcd(t *testing.T) {
	phase.Long(t)
	server, err := StartServer(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	session, err := Open(t.Context(), server.Config(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close(false)
	lend := func(name string) (*Lent, *clientv3.Client) {
		l, err := Lend(t.Context(), server.Config(), "s1", name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l.Close)
		c, err := clientv3.New(clientv3.Config{
			Endpoints: []string{"http://" + l.address}, DialTimeout: 5 * time.Second,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return l, c
	}
	here, a := lend("launch-0")
	_, b := lend("launch-0")
	_, other := lend("launch-1")
	watched := b.Watch(t.Context(), "xferbench/", clientv3.WithPrefix())
	grant, err := a.Grant(t.Context(), 60)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Put(t.Context(), "xferbench/g//rank/0", "here", clientv3.WithLease(grant.ID)); err != nil {
		t.Fatal(err)
	}
	select {
	case w := <-watched:
		if len(w.Events) != 1 || string(w.Events[0].Kv.Key) != "xferbench/g//rank/0" {
			t.Errorf("watched %+v", w)
		}
	case <-t.Context().Done():
	}
	for c, want := range map[*clientv3.Client]int64{a: 1, b: 1, other: 0} {
		if got, err := c.Get(t.Context(), "", clientv3.WithPrefix(), clientv3.WithCountOnly()); err != nil ||
			got.Count != want {
			t.Errorf("%v keys of %d, %v", got, want, err)
		}
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn,
		error) {
		return here.Dial(ctx)
	}}}
	defer client.CloseIdleConnections()
	for key, want := range map[string]int{"xferbench/g//rank/0": 200, "xferbench/g/rank/0": 404} {
		answer, err := client.Get("http://etcd/" + key)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%q: %s", key, answer.Status)
		}
	}
	if err := session.Wipe(false); err != nil {
		t.Fatal(err)
	}
	if n, err := session.Keys(t.Context(), "s1"); err != nil || n != 0 {
		t.Errorf("%d keys are left, %v", n, err)
	}
}
