package executor

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/executor/control/registry"
)

// A node reaches the etcd that is lent to a task on it until it is taken back, and nothing else.
func TestWhatIsLentToWhom(t *testing.T) {
	server, err := registry.StartServer(t.Context(), etcdDir(t))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	s := &session{etcd: server.Config(), o: Options{}}
	s.o.SessionID = "s"
	if err := s.lend(t.Context(), "l-0", []string{"a", "b"}); err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		node, task string
		want       bool
	}{{"a", "l-0", true}, {"b", "l-0", true}, {"c", "l-0", false}, {"a", "l-1", false}, {"a", "", false}} {
		conn, err := s.lending.dial(t.Context(), k.node, k.task)
		if (err == nil) != k.want || err != nil && !strings.Contains(err.Error(), "no etcd is lent") {
			t.Errorf("node %s, task %q: %v", k.node, k.task, err)
		}
		if err == nil {
			conn.Close()
		}
	}
	s.lending.takeBack("l-0")
	s.lending.takeBack("l-0")
	if _, err := s.lending.dial(t.Context(), "a", "l-0"); err == nil {
		t.Error("it is lent for ever")
	}
}
