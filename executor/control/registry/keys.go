package registry

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/executor/control/link"
)

// Every key is attached to the lease of its writer. Keys of a session are below <prefix><session>/:
//
//	session                   the About of its coordinator
//	lent/<task>/…             keys of programs that use a part of etcd
//
// Outside of sessions there are:
//
//	agents/<node>             the About of a registered agent
//	invites/<node>/<session>  an Invitation
//	refusals/<node>/<session> the reason of a refusal
//	claims/<node>/<session>   a Reservation
const (
	agentsDir   = "agents/"
	invitesDir  = "invites/"
	refusalsDir = "refusals/"
	claimsDir   = "claims/"

	announcementName = "session"
	lentDir          = "lent/"
)

// checkName checks the name of a session, node or task.
func checkName(what, name string) error {
	if err := link.CheckName(name); err != nil {
		return fmt.Errorf("%s %w", what, err)
	}
	return nil
}

func checkSession(id string) error {
	if slices.Contains([]string{agentsDir, invitesDir, refusalsDir, claimsDir}, id+"/") {
		return fmt.Errorf("session name %q: it is reserved in etcd", id)
	}
	return checkName("session", id)
}
