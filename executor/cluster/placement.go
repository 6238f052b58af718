package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Place asks nodes' agents to do a task, each its own part of it.
func (s *Session) Place(ctx context.Context, task string, specs map[string][]byte) error {
	if err := checkName("task", task); err != nil {
		return err
	}
	var ops []clientv3.Op
	for _, node := range slices.Sorted(maps.Keys(specs)) {
		ops = append(ops, s.opPut(s.placementsKey()+node+"/"+task, specs[node]))
	}
	if err := s.commit(ctx, ops); err != nil {
		return fmt.Errorf("placing %s: %w", task, err)
	}
	return nil
}

// Placement is a task for a node, or the withdrawal of one.
type Placement struct {
	Task      string
	Spec      []byte
	Withdrawn bool
}

// Placements gives the tasks of a node as they come, and as they are withdrawn:
// those that were done are, too.
func (s *Session) Placements(ctx context.Context, node string) (<-chan Placement, error) {
	what := followed{s.placementsKey() + node + "/", mostValue, pageValues}
	return stream(ctx, &s.door, what, func(c change) (Placement, bool) {
		return Placement{Task: c.name, Spec: c.value, Withdrawn: c.deleted}, checkName("task", c.name) == nil
	})
}

func (s *Session) withdrawals(task string, nodes []string) (ops []clientv3.Op) {
	for _, node := range nodes {
		ops = append(ops, clientv3.OpDelete(s.placementsKey()+node+"/"+task))
	}
	return ops
}

// Withdraw calls a task off on nodes: their agents end it, and then say how it ended.
func (s *Session) Withdraw(ctx context.Context, task string, nodes []string) error {
	if err := s.commit(ctx, s.withdrawals(task, nodes)); err != nil {
		return fmt.Errorf("withdrawing %s: %w", task, err)
	}
	return nil
}

// Forget deletes what a task left: its placements, what its nodes shared, and its
// meeting place.
func (s *Session) Forget(ctx context.Context, task string, nodes []string) error {
	ops := append(s.withdrawals(task, nodes),
		clientv3.OpDelete(s.launchKey(task), clientv3.WithPrefix()),
		clientv3.OpDelete(s.sharedKey(task), clientv3.WithPrefix()))
	if err := s.commit(ctx, ops); err != nil {
		return fmt.Errorf("deleting the keys of %s: %w", task, err)
	}
	return nil
}
