package command

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/engine"
)

// meet connects the ranks on some nodes to each other.
func meet(t *testing.T, nodes ...string) []*news {
	t.Helper()
	all := make([]*news, len(nodes))
	addresses := make([][]byte, len(nodes))
	for i := range all {
		var err error
		if all[i], err = newsOf(nodes, i); err != nil {
			t.Fatal(err)
		}
		if addresses[i], err = all[i].Address(nil); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { all[i].Close() })
	}
	failed := make(chan error)
	for _, m := range all {
		go func() {
			_, err := m.Connect(addresses, 10*time.Second, m.hear)
			failed <- err
		}()
	}
	for range all {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestRanksReceiveStates(t *testing.T) {
	for _, nodes := range [][]string{{"a"}, {"a", "a", "a"}, {"a", "b", "a", "c"}} {
		all := meet(t, nodes...)
		for i, m := range all {
			m.tell(isReady)
			for j := range all {
				if err := all[j].wait(t.Context(), i, isReady); err != nil {
					t.Errorf("%v: %d of %d: %v", nodes, j, i, err)
				}
			}
		}
		late, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, errors.New("too late"))
		if err := all[0].wait(late, len(all)-1, hasEnded); len(all) > 1 && (err == nil || err.Error() != "too late") {
			t.Errorf("%v: %v", nodes, err)
		}
		cancel()
	}
}

// A lost rank is an error for those that wait for more of it, and for no other.
func TestLostRank(t *testing.T) {
	all := meet(t, "a", "a")
	all[1].tell(isReady)
	all[1].Close()
	if err := all[0].wait(t.Context(), 1, isReady); err != nil {
		t.Error(err)
	}
	err := all[0].wait(t.Context(), 1, hasEnded)
	if e, ok := errors.AsType[*engine.Error](err); !ok || e.Peer != 1 || !strings.Contains(e.Text, "lost the rank") {
		t.Errorf("%v", err)
	}
}

// A role with a program that has failed is known as that, was ready, and has not ended as it should.
func TestFailedRole(t *testing.T) {
	all := meet(t, "a", "a")
	other := func(i int) bool { return i == 1 }
	if got := all[0].failed(other); got != -1 {
		t.Errorf("before: %d", got)
	}
	all[1].tell(hasFailed)
	if err := all[0].waitFailed(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if got := all[0].failed(other); got != 1 {
		t.Errorf("role %d has failed, want 1", got)
	}
	if err := all[0].wait(t.Context(), 1, isReady); err != nil {
		t.Error(err)
	}
	late, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, errors.New("too late"))
	defer cancel()
	if err := all[0].wait(late, 1, hasEnded); err == nil || err.Error() != "too late" {
		t.Errorf("it counts as ended: %v", err)
	}
	if err := all[1].waitFailed(late, func(i int) bool { return i == 0 }); err == nil || err.Error() != "too late" {
		t.Errorf("of a role that runs: %v", err)
	}
}
