package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"weir/executor/trust"
)

// Directory is a handle on what etcd has outside of sessions: the agents that wait for
// them, and which sessions there are.
type Directory struct{ door }

// OpenDirectory connects to etcd and takes a lease.
func OpenDirectory(ctx context.Context, c Config) (*Directory, error) {
	d := &Directory{}
	if err := d.open(ctx, c, defaultPatience); err != nil {
		return nil, err
	}
	return d, nil
}

// ErrTaken says that a node has an agent. One that was killed is there until its lease
// has run out.
var ErrTaken = errors.New("there is an agent of that name already")

// Register makes this process the agent of a node, which sessions may invite, for as
// long as it lives. It is an ErrTaken if there is one, unless gone says of what that one
// says of itself that it lives no more: then this one takes its place before its lease
// has run out.
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

// Registered is an agent that waits for sessions.
type Registered struct {
	Node     string
	About    []byte
	Sessions []string // that have claimed the node
}

// Agents are all that are registered, by name.
func (d *Directory) Agents(ctx context.Context) ([]Registered, error) {
	agents, _, err := d.list(ctx, d.root+agentsDir, pageKeys)
	if err != nil {
		return nil, fmt.Errorf("listing agents: %w", err)
	}
	claims, err := d.names(ctx, d.root+claimsDir)
	if err != nil {
		return nil, fmt.Errorf("listing what is claimed: %w", err)
	}
	by := map[string][]string{}
	for _, name := range claims {
		if node, session, ok := strings.Cut(name, "/"); ok {
			by[node] = append(by[node], session)
		}
	}
	var all []Registered
	for _, kv := range agents {
		node := strings.TrimPrefix(string(kv.Key), d.root+agentsDir)
		all = append(all, Registered{Node: node, About: kv.Value, Sessions: by[node]})
	}
	return all, nil
}

// Invite asks a node's registered agent to come to this session.
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

// Invitation asks a node to come to a session. It is Gone when the session is.
type Invitation struct {
	Session string
	Body    []byte
	Gone    bool
}

// MostInvitation is how long one may be, in bytes: what is sealed, and its seal.
const MostInvitation = trust.MaxInvitation + 16<<10

// Invites gives the invitations of a node that are there and then those that come and
// go. The channel is closed when ctx ends or the watch breaks.
func (d *Directory) Invites(ctx context.Context, node string) (<-chan Invitation, error) {
	if err := checkName("node", node); err != nil {
		return nil, err
	}
	what := followed{d.root + invitesDir + node + "/", MostInvitation, pageValues}
	return stream(ctx, &d.door, what, func(c change) (Invitation, bool) {
		return Invitation{Session: c.name, Body: c.value, Gone: c.deleted}, checkSession(c.name) == nil
	})
}

// mostRefusal is how long the reason of a refusal may be, in bytes.
const mostRefusal = 500

// Refuse says why a node's agent does not come to a session that has invited it; "" takes
// back what was said.
func (d *Directory) Refuse(ctx context.Context, node, session, why string) error {
	err := errors.Join(checkName("node", node), checkSession(session))
	if err == nil {
		key := d.root + refusalsDir + node + "/" + session
		if why == "" {
			err = d.commit(ctx, []clientv3.Op{clientv3.OpDelete(key)})
		} else {
			err = d.put(ctx, key, []byte(why[:min(len(why), mostRefusal)]))
		}
	}
	if err != nil {
		return fmt.Errorf("answering session %s: %w", session, err)
	}
	return nil
}

// Refusal is what a node's agent says of why it does not come, "" if it says nothing.
// Nobody has signed it: it is for a person to read.
func (d *Directory) Refusal(ctx context.Context, node, session string) (string, error) {
	text, err := d.get(ctx, d.root+refusalsDir+node+"/"+session)
	if err != nil {
		return "", fmt.Errorf("reading why node %s does not come: %w", node, err)
	}
	return strings.ToValidUTF8(string(text[:min(len(text), mostRefusal)]), ""), nil
}

// SessionInfo is what etcd has of a session.
type SessionInfo struct {
	ID    string
	About []byte   // as announced; nil: its coordinator is gone
	Keys  int      // all of its keys
	Nodes []string // whose agents have joined
}

// Sessions are all that have a key, by name: some requests for each, whatever it has.
func (d *Directory) Sessions(ctx context.Context) ([]SessionInfo, error) {
	var all []SessionInfo
	end := clientv3.GetPrefixRangeEnd(d.root)
	for from := d.root; ; {
		id, err := d.sessionFrom(ctx, from, end)
		if err != nil || id == "" {
			// keys have a slash behind the name
			slices.SortFunc(all, func(a, b SessionInfo) int { return strings.Compare(a.ID, b.ID) })
			return all, err
		}
		from = d.root + id + "0" // what follows the slash
		if checkSession(id) != nil {
			continue // a name that has another meaning
		}
		info, err := d.session(ctx, id)
		if err != nil {
			return nil, err
		}
		if info.Keys > 0 { // it may have ended meanwhile
			all = append(all, info)
		}
	}
}

// sessionFrom is what stands where a session's name does in the first key of a range, ""
// if there is none.
func (d *Directory) sessionFrom(ctx context.Context, from, end string) (id string, err error) {
	err = d.try(ctx, func(ctx context.Context) error {
		got, err := d.client.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(1), clientv3.WithKeysOnly())
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
	if err == nil {
		info.Nodes, err = d.names(ctx, prefix+membersDir)
	}
	if err != nil {
		return info, fmt.Errorf("reading session %s: %w", id, err)
	}
	return info, nil
}

// ErrLive says that a session's coordinator is there.
var ErrLive = errors.New("its coordinator is alive")

// Remove deletes all keys of a session whose coordinator is gone and says how many there
// were. It is an ErrLive if the coordinator is not gone. Nothing needs it: all goes with
// the leases of those who wrote it.
func (d *Directory) Remove(ctx context.Context, session string) (keys int, err error) {
	prefix := d.root + session + "/"
	if err = checkSession(session); err == nil {
		err = d.try(ctx, func(ctx context.Context) error {
			r, err := d.client.Txn(ctx).
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
