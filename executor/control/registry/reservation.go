package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Reservation are the resources of a node that a session uses alone. Sessions with empty reservations
// share the node.
type Reservation struct {
	Exclusive bool     `json:"exclusive,omitempty"` // the whole node
	CPUs      []int    `json:"cpus,omitempty"`
	GPUs      []int    `json:"gpus,omitempty"`
	NICs      []string `json:"nics,omitempty"`
}

// ReservedError means that another session has reserved a resource.
type ReservedError struct{ Node, Session, What string }

func (e *ReservedError) Error() string {
	return fmt.Sprintf("session %s has %s of node %s", e.Session, e.What, e.Node)
}

// conflict describes the resources that are in both reservations, or is "".
func (r Reservation) conflict(other Reservation) string {
	switch {
	case other.Exclusive:
		return "all"
	case r.Exclusive:
		return "a part"
	}
	for _, kind := range []struct {
		name   string
		common []string
	}{
		{"processor", common(r.CPUs, other.CPUs)}, {"GPU", common(r.GPUs, other.GPUs)},
		{"NIC", common(r.NICs, other.NICs)},
	} {
		switch len(kind.common) {
		case 0:
		case 1:
			return kind.name + " " + kind.common[0]
		default:
			return kind.name + "s " + strings.Join(kind.common, ", ")
		}
	}
	return ""
}

func common[T comparable](a, b []T) (both []string) {
	for _, v := range a {
		if slices.Contains(b, v) {
			both = append(both, fmt.Sprint(v))
		}
	}
	return both
}

// Reserve reserves resources of a node while this process lives, in place of the session's former
// reservation. The error is a *ReservedError if another session has reserved one of them.
func (s *Session) Reserve(ctx context.Context, node string, r Reservation) error {
	value, err := json.Marshal(r)
	if err == nil {
		err = checkName("node", node)
	}
	for done := false; err == nil && !done; { // until no other reservation is concurrent
		done, err = s.reserve(ctx, node, r, value)
	}
	if err != nil {
		return fmt.Errorf("reserving node %s: %w", node, err)
	}
	return nil
}

func (s *Session) reserve(ctx context.Context, node string, r Reservation, value []byte) (done bool, err error) {
	held, revision, err := s.reservations(ctx, node)
	if err != nil {
		return false, err
	}
	for _, session := range slices.Sorted(maps.Keys(held)) {
		if what := r.conflict(held[session]); what != "" && session != s.id {
			return false, &ReservedError{Node: node, Session: session, What: what}
		}
	}
	all := s.root + claimsDir + node + "/"
	err = s.try(ctx, func(ctx context.Context) error {
		r, err := s.etcd.Txn(ctx).
			If(clientv3.Compare(clientv3.ModRevision(all).WithPrefix(), "<", revision+1)).
			Then(s.opPut(all+s.id, value)).Commit()
		done = err == nil && r.Succeeded
		return err
	})
	return done, err
}

// reservations are the reservations on a node by session, at a revision.
func (d *client) reservations(ctx context.Context, node string) (map[string]Reservation, int64, error) {
	all := d.root + claimsDir + node + "/"
	kvs, revision, err := d.list(ctx, all, pageKeys)
	if err != nil {
		return nil, 0, err
	}
	held := map[string]Reservation{}
	for _, kv := range kvs {
		session := strings.TrimPrefix(string(kv.Key), all)
		var r Reservation
		if err := json.Unmarshal(kv.Value, &r); err != nil {
			return nil, 0, fmt.Errorf("reading the reservation of session %s: %w", session, err)
		}
		held[session] = r
	}
	return held, revision, nil
}

// Reservations are the reservations of all sessions on a node.
func (d *Directory) Reservations(ctx context.Context, node string) ([]Reservation, error) {
	held, _, err := d.reservations(ctx, node)
	if err != nil {
		return nil, fmt.Errorf("listing the reservations of node %s: %w", node, err)
	}
	return slices.Collect(maps.Values(held)), nil
}
