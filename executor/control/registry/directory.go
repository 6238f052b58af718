package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Directory gives access to the keys outside of sessions: registered agents, and the list of sessions.
type Directory struct{ *client }

// OpenDirectory connects to etcd and takes a lease.
func OpenDirectory(ctx context.Context, c Config) (*Directory, error) {
	d := &Directory{&client{}}
	if err := d.open(ctx, c, defaultTimeouts); err != nil {
		return nil, err
	}
	return d, nil
}

// ErrTaken means that a node has an agent already. A killed agent stays until its lease expires.
var ErrTaken = errors.New("an agent of that name exists already")

// Register registers this process as the agent of a node while it lives. The error is ErrTaken if there
// is another agent, unless gone reports from its About that it is dead: Register then replaces it.
func (d *Directory) Register(ctx context.Context, node string, about []byte, gone func(about []byte) bool) error {
	err := checkName("node", node)
	if err == nil {
		var taken bool
		if taken, err = d.register(ctx, d.root+agentsDir+node, about, gone); err == nil && !taken {
			err = ErrTaken
		}
	}
	if err != nil {
		return fmt.Errorf("registering node %s: %w", node, err)
	}
	return nil
}

// Registered is a registered agent.
type Registered struct {
	Node     string
	About    []byte
	Sessions []string // with a reservation on the node
}

// Agents are all registered agents, sorted by name.
func (d *Directory) Agents(ctx context.Context) ([]Registered, error) {
	agents, _, err := d.list(ctx, d.root+agentsDir, pageKeys)
	if err != nil {
		return nil, fmt.Errorf("listing agents: %w", err)
	}
	sessions, _, err := d.reserved(ctx)
	if err != nil {
		return nil, err
	}
	var all []Registered
	for _, kv := range agents {
		node := strings.TrimPrefix(string(kv.Key), d.root+agentsDir)
		all = append(all, Registered{Node: node, About: kv.Value, Sessions: sessions[node]})
	}
	return all, nil
}

// reserved are the sessions by node, and the nodes by session, of all reservations.
func (d *Directory) reserved(ctx context.Context) (sessions, nodes map[string][]string, err error) {
	names, err := d.names(ctx, d.root+claimsDir)
	if err != nil {
		return nil, nil, fmt.Errorf("listing reservations: %w", err)
	}
	sessions, nodes = map[string][]string{}, map[string][]string{}
	for _, name := range names {
		if node, session, ok := strings.Cut(name, "/"); ok {
			sessions[node] = append(sessions[node], session)
			nodes[session] = append(nodes[session], node)
		}
	}
	return sessions, nodes, nil
}

// Invite invites a node's registered agent to this session.
func (s *Session) Invite(ctx context.Context, node string, body []byte) error {
	err := checkName("node", node)
	if err == nil {
		err = s.put(ctx, s.root+invitesDir+node+"/"+s.id, body)
	}
	if err != nil {
		return fmt.Errorf("inviting node %s: %w", node, err)
	}
	return nil
}

// Invitation invites a node to a session. Gone means that it was withdrawn, or that the session has ended.
type Invitation struct {
	Session string
	Body    []byte
	Gone    bool
}

// MostInvitation is the largest body of an invitation, in bytes.
const MostInvitation = 64 << 10

// Invites are the invitations of a node: first the present ones, then all changes. The channel is closed
// when ctx ends or the watch fails.
func (d *Directory) Invites(ctx context.Context, node string) (<-chan Invitation, error) {
	if err := checkName("node", node); err != nil {
		return nil, err
	}
	out := make(chan Invitation)
	began, begun := make(chan error, 1), sync.Once{}
	f := &follower{d: d.client, prefix: d.root + invitesDir + node + "/", known: map[string]revisions{}}
	f.apply = func(i Invitation) { // reads nothing from etcd while the channel is full
		if checkSession(i.Session) != nil {
			return
		}
		begun.Do(func() { began <- nil })
		select {
		case out <- i:
		case <-ctx.Done():
		case <-d.ctx.Done():
		}
	}
	d.wg.Go(func() {
		defer close(out)
		err := f.begin(ctx)
		begun.Do(func() { began <- err })
		if err == nil {
			_ = f.run(ctx) // the closed channel reports the failure
		}
	})
	if err := <-began; err != nil {
		return nil, err
	}
	return out, nil
}

// mostRefusal is the longest reason of a refusal, in bytes.
const mostRefusal = 500

// Refuse writes the reason why a node's agent refuses a session's invitation, unless it is withdrawn; "" deletes the
// reason. A request that a broken network delivers late, behind the one that deletes, thus leaves nothing behind.
func (d *Directory) Refuse(ctx context.Context, node, session, why string) error {
	err := errors.Join(checkName("node", node), checkSession(session))
	if err == nil {
		key := d.root + refusalsDir + node + "/" + session
		if why == "" {
			err = d.commit(ctx, []clientv3.Op{clientv3.OpDelete(key)})
		} else {
			err = d.putBeside(ctx, key, []byte(why[:min(len(why), mostRefusal)]), d.root+invitesDir+node+"/"+session)
		}
	}
	if err != nil {
		return fmt.Errorf("answering session %s: %w", session, err)
	}
	return nil
}

// Refusal is the reason why a node's agent refuses an invitation, or "". It is untrusted text.
func (d *Directory) Refusal(ctx context.Context, node, session string) (string, error) {
	text, err := d.get(ctx, d.root+refusalsDir+node+"/"+session)
	if err != nil {
		return "", fmt.Errorf("reading the refusal of node %s: %w", node, err)
	}
	return strings.ToValidUTF8(string(text[:min(len(text), mostRefusal)]), ""), nil
}

// SessionInfo describes a session in etcd.
type SessionInfo struct {
	ID    string
	About []byte   // as announced; nil: its coordinator is gone
	Keys  int      // number of its keys
	Nodes []string // with a reservation of the session
}

// Sessions are all sessions with a key, sorted by name. It makes a constant number of requests for each.
func (d *Directory) Sessions(ctx context.Context) ([]SessionInfo, error) {
	_, nodes, err := d.reserved(ctx)
	if err != nil {
		return nil, err
	}
	var all []SessionInfo
	end := clientv3.GetPrefixRangeEnd(d.root)
	for from := d.root; ; {
		id, err := d.sessionFrom(ctx, from, end)
		if err != nil || id == "" {
			// keys sort by names with a trailing slash
			slices.SortFunc(all, func(a, b SessionInfo) int { return strings.Compare(a.ID, b.ID) })
			return all, err
		}
		from = d.root + id + "0" // what follows the slash
		if checkSession(id) != nil {
			continue // a directory, not a session
		}
		info, err := d.session(ctx, id)
		if err != nil {
			return nil, err
		}
		info.Nodes = nodes[id]
		if info.Keys > 0 { // it may have ended meanwhile
			all = append(all, info)
		}
	}
}

// sessionFrom is the first part, the session's name, of the first key in a range, or "".
func (d *Directory) sessionFrom(ctx context.Context, from, end string) (id string, err error) {
	err = d.try(ctx, func(ctx context.Context) error {
		got, err := d.etcd.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(1), clientv3.WithKeysOnly())
		if err == nil && len(got.Kvs) > 0 {
			id, _, _ = strings.Cut(strings.TrimPrefix(string(got.Kvs[0].Key), d.root), "/")
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("listing sessions: %w", err)
	}
	return id, nil
}

func (d *Directory) session(ctx context.Context, id string) (SessionInfo, error) {
	info, prefix := SessionInfo{ID: id}, d.root+id+"/"
	var err error
	if info.Keys, err = d.count(ctx, prefix); err == nil {
		info.About, err = d.get(ctx, prefix+announcementName)
	}
	if err != nil {
		return info, fmt.Errorf("reading session %s: %w", id, err)
	}
	return info, nil
}

// ErrLive means that a session has a coordinator.
var ErrLive = errors.New("its coordinator is alive")

// Remove deletes all keys of a session without a coordinator and returns their number. The error is
// ErrLive if there is a coordinator. Without Remove, keys expire with the leases of their writers.
func (d *Directory) Remove(ctx context.Context, session string) (keys int, err error) {
	prefix := d.root + session + "/"
	if err = checkSession(session); err == nil {
		err = d.try(ctx, func(ctx context.Context) error {
			r, err := d.etcd.Txn(ctx).
				If(clientv3.Compare(clientv3.CreateRevision(prefix+announcementName), "=", 0)).
				Then(clientv3.OpDelete(prefix, clientv3.WithPrefix())).Commit()
			switch {
			case err != nil:
				return err
			case !r.Succeeded:
				return ErrLive
			}
			keys += int(r.Responses[0].GetResponseDeleteRange().Deleted)
			return nil
		})
	}
	if err != nil {
		return 0, fmt.Errorf("removing session %s: %w", session, err)
	}
	return keys, nil
}
