package cluster

import (
	"fmt"
	"strconv"
	"strings"
)

// Every key of a session is below /weir/v1/<session-id>/ and hangs on the lease
// of the process that wrote it:
//
//	members/<node>                       an agent and what its node has
//	placements/<node>/<task>             what the coordinator wants of a node
//	shared/<task>/<part>                 what all its nodes need of a task
//	launches/<launch>/address/<rank>     how to reach a rank
//	launches/<launch>/barrier/<n>/<rank> a rank that has come to barrier n
//	launches/<launch>/abort              why the launch must end now
const root = "/weir/v1/"

func sessionPrefix(id string) string     { return root + id + "/" }
func (s *Session) membersKey() string    { return s.prefix + "members/" }
func (s *Session) placementsKey() string { return s.prefix + "placements/" }

func (s *Session) sharedKey(task string) string { return s.prefix + "shared/" + task + "/" }

func (s *Session) launchKey(launch string) string {
	return s.prefix + "launches/" + launch + "/"
}

const (
	addressDir = "address/"
	barrierDir = "barrier/"
	abortName  = "abort"
)

func barrierKey(generation, rank int) string {
	return barrierDir + strconv.Itoa(generation) + "/" + strconv.Itoa(rank)
}

// checkName holds names of sessions, nodes and tasks to what a key's part can be.
func checkName(what, name string) error {
	if name == "" || len(name) > 250 || strings.ContainsAny(name, "/\x00") {
		return fmt.Errorf("%s name %q: must have 1 to 250 characters and no slash", what, name)
	}
	return nil
}
