package cluster

import (
	"fmt"
	"slices"

	"weir/executor/trust"
)

// Every key hangs on the lease of the process that wrote it. Those of a session are
// below <prefix><session>/:
//
//	session                          who runs it
//	members/<node>                   an agent and what its node has
//	placements/<node>/<task>         what the coordinator wants of a node
//	shared/<task>/<part>             what all its nodes need of a task and is long
//	launches/<launch>/up/<node>/addresses   how to reach the node's ranks
//	launches/<launch>/up/<node>/connected   they have all come to the barrier
//	launches/<launch>/down/peers     how to reach all ranks
//	launches/<launch>/down/go        all ranks are connected
//	launches/<launch>/down/abort     why the launch must end now
//	launches/<launch>/pages/…        of addresses that are long
//
// Outside of sessions there are:
//
//	agents/<node>                    an agent that waits for sessions
//	invites/<node>/<session>         what a session tells such an agent
//	refusals/<node>/<session>        why such an agent does not come
//	claims/<node>/<session>          what a session needs of a node
const (
	agentsDir   = "agents/"
	invitesDir  = "invites/"
	refusalsDir = "refusals/"
	claimsDir   = "claims/"

	announcementName = "session"
	membersDir       = "members/"

	upDir        = "up/"
	downDir      = "down/"
	pagesDir     = "pages/"
	addressesKey = "addresses"
	connectedKey = "connected"
	peersKey     = "peers"
	goKey        = "go"
	abortKey     = "abort"
)

func (s *Session) membersKey() string    { return s.prefix + membersDir }
func (s *Session) placementsKey() string { return s.prefix + "placements/" }

func (s *Session) sharedKey(task string) string { return s.prefix + "shared/" + task + "/" }

func (s *Session) launchKey(launch string) string {
	return s.prefix + "launches/" + launch + "/"
}

// checkName holds names of sessions, nodes and tasks to what is a name everywhere.
func checkName(what, name string) error {
	if err := trust.CheckName(name); err != nil {
		return fmt.Errorf("%s %w", what, err)
	}
	return nil
}

func checkSession(id string) error {
	if slices.Contains([]string{agentsDir, invitesDir, refusalsDir, claimsDir}, id+"/") {
		return fmt.Errorf("session name %q: it has another meaning in etcd", id)
	}
	return checkName("session", id)
}
