package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Claim is what a session needs of a node for itself. One that names nothing shares all
// with those that do not either.
type Claim struct {
	Exclusive bool     `json:"exclusive,omitempty"` // the whole node
	CPUs      []int    `json:"cpus,omitempty"`
	GPUs      []int    `json:"gpus,omitempty"`
	NICs      []string `json:"nics,omitempty"`
}

// ClaimedError says which session has what another wants.
type ClaimedError struct{ Node, Session, What string }

func (e *ClaimedError) Error() string {
	return fmt.Sprintf("session %s has %s of node %s", e.Session, e.What, e.Node)
}

// against says what two claims both want, "" if nothing.
func (c Claim) against(other Claim) string {
	switch {
	case other.Exclusive:
		return "all"
	case c.Exclusive:
		return "a part"
	}
	for _, kind := range []struct {
		name   string
		common []string
	}{
		{"processor", common(c.CPUs, other.CPUs)}, {"GPU", common(c.GPUs, other.GPUs)},
		{"NIC", common(c.NICs, other.NICs)},
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

// Claim claims what the session needs of a node, instead of what it claimed before, for
// as long as this process lives. What another session has is a *ClaimedError.
func (s *Session) Claim(ctx context.Context, node string, c Claim) error {
	value, err := json.Marshal(c)
	if err == nil {
		err = checkName("node", node)
	}
	for taken := false; err == nil && !taken; { // until nobody claims anything of the node meanwhile
		taken, err = s.claim(ctx, node, c, value)
	}
	if err != nil {
		return fmt.Errorf("claiming node %s: %w", node, err)
	}
	return nil
}

func (s *Session) claim(ctx context.Context, node string, c Claim, value []byte) (taken bool, err error) {
	all := s.root + claimsDir + node + "/"
	claims, revision, err := s.list(ctx, all, pageKeys)
	if err != nil {
		return false, err
	}
	for _, kv := range claims {
		session := strings.TrimPrefix(string(kv.Key), all)
		var other Claim
		if err := json.Unmarshal(kv.Value, &other); err != nil {
			return false, fmt.Errorf("reading what session %s claims: %w", session, err)
		}
		if what := c.against(other); what != "" && session != s.id {
			return false, &ClaimedError{Node: node, Session: session, What: what}
		}
	}
	err = s.try(ctx, func(ctx context.Context) error {
		r, err := s.client.Txn(ctx).
			If(clientv3.Compare(clientv3.ModRevision(all).WithPrefix(), "<", revision+1)).
			Then(s.opPut(all+s.id, value)).Commit()
		taken = err == nil && r.Succeeded
		return err
	})
	return taken, err
}

// Claims are what sessions have claimed of a node.
func (d *Directory) Claims(ctx context.Context, node string) ([]Claim, error) {
	all := d.root + claimsDir + node + "/"
	claims, _, err := d.list(ctx, all, pageKeys)
	if err != nil {
		return nil, fmt.Errorf("listing what is claimed of node %s: %w", node, err)
	}
	var held []Claim
	for _, kv := range claims {
		var c Claim
		if err := json.Unmarshal(kv.Value, &c); err != nil {
			return nil, fmt.Errorf("reading what session %s claims: %w", strings.TrimPrefix(string(kv.Key), all), err)
		}
		held = append(held, c)
	}
	return held, nil
}
