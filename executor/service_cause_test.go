package executor

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// A service that cannot reach one on another node ends before the loss of that node is noticed. The loss is its cause.
func TestLostNodeIsTheCauseOfAServiceThatNeedsIt(t *testing.T) {
	for node, cause := range map[string]string{"b": "registry", "a": "store"} {
		synctest.Test(t, func(t *testing.T) {
			s := &session{posted: make(chan func()), closed: make(chan struct{})}
			registry := &service{
				Service: workload.Service{Name: "registry"}, facts: &workload.ServiceFacts{},
				task: &task{nodes: []string{node}},
			}
			store := &service{
				Service: workload.Service{Name: "store", Needs: []string{"registry"}},
				task:    &task{nodes: []string{"a"}}, failure: &results.Failure{},
			}
			v := &services{s: s, up: []*service{registry, store}}
			time.AfterFunc(2600*time.Millisecond, func() {
				s.post(func() { registry.failure = &results.Failure{} })
			})
			x, err := v.rootCause(t.Context(), store)
			if err != nil || x.Name != cause {
				t.Errorf("registry on %s: %v, %v", node, x, err)
			}
			close(s.closed)
		})
	}
}
