package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"weir/executor/cluster"
	"weir/results"
)

// About is what a registered agent says of itself to everybody who reads etcd. Nothing
// is decided by it that matters: a session asks the agent itself, over a link.
type About struct {
	cluster.About
	Node    string `json:"node"`
	Machine string `json:"machine"` // equal for agents of one host
	// equal for all processes that have had its state directory, one after the other
	State    string            `json:"state"`
	Labels   map[string]string `json:"labels,omitempty"`
	Commands bool              `json:"commands"` // it runs those that a scenario names
	CPUs     []int             `json:"cpus"`     // that its ranks may have
	GPUs     int               `json:"gpus"`
	System   string            `json:"system"` // operating system and kernel
}

// Encode gives it the form that it has in etcd.
func (a About) Encode() []byte {
	b, err := json.Marshal(a)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return b
}

// mostAbout is how long what an agent says of itself may be, in bytes.
const mostAbout = 64 << 10

// DecodeAbout reads what an agent of that name says of itself.
func DecodeAbout(node string, text []byte) (About, error) {
	var a About
	if len(text) > mostAbout {
		return a, fmt.Errorf("agent %s says %d bytes of itself: %d are allowed", node, len(text), mostAbout)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("what agent %s says of itself: %w", node, err)
	}
	a.Node = node
	return a, nil
}

// InvitationName is what the signature of an invitation is about.
const InvitationName = "invitation"

// Invitation is what a session says to an agent that it wants.
type Invitation struct {
	Session     string    `json:"session"`
	Coordinator []string  `json:"coordinator"` // host:port of each address that may lead to it
	SessionKey  []byte    `json:"session_key"` // that its tasks are signed with, the public half
	Fabrics     []string  `json:"fabrics"`     // to probe; none named: all
	CPUs        []int     `json:"cpus"`        // that the session has claimed of the node; none: all
	Expires     time.Time `json:"expires"`
	// Shell are the variables of the shell that every node gets.
	Shell map[string]string `json:"shell,omitempty"`
	// Secrets are references to those of the scenario.
	Secrets []string `json:"secrets,omitempty"`
}

// Encode gives it the form that is signed.
func (i Invitation) Encode() []byte {
	b, err := json.Marshal(i)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return b
}

// Bounds on what an invitation, or a bootstrap, may ask an agent to go through.
const (
	mostInvitation = 64 << 10
	mostAddresses  = 64
	mostFabrics    = 64
)

func decodeInvitation(session string, text []byte) (Invitation, error) {
	var i Invitation
	if len(text) > mostInvitation {
		return i, fmt.Errorf("it has %d bytes: %d are allowed", len(text), mostInvitation)
	}
	if err := json.Unmarshal(text, &i); err != nil {
		return i, err
	}
	switch {
	case i.Session != session:
		return i, fmt.Errorf("it is to session %q", i.Session)
	case len(i.Coordinator) == 0 || len(i.Coordinator) > mostAddresses:
		return i, fmt.Errorf("it has %d addresses of the coordinator: 1 to %d are allowed", len(i.Coordinator),
			mostAddresses)
	case len(i.Fabrics) > mostFabrics:
		return i, fmt.Errorf("it asks for %d fabrics", len(i.Fabrics))
	case len(i.SessionKey) == 0:
		return i, errors.New("it has no session key")
	}
	return i, nil
}

// SystemOf words a node's system for a person.
func SystemOf(n results.Node) string {
	if n.OS == "" {
		return n.Kernel
	}
	return n.OS + ", " + n.Kernel
}
