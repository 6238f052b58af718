package fleet

import (
	"encoding/json"
	"fmt"

	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/results"
)

// About is the description of a registered agent in etcd. It is untrusted and only a hint: a session
// asks the agent itself over a link.
type About struct {
	registry.About
	Node     string            `json:"node"`
	Machine  string            `json:"machine"` // equal for agents of one host
	State    string            `json:"state"`   // ID of the state directory: equal for successive agents
	Labels   map[string]string `json:"labels,omitempty"`
	Commands bool              `json:"commands"` // it runs the commands of scenarios
	CPUs     []int             `json:"cpus"`     // usable by ranks
	GPUs     int               `json:"gpus"`
	System   string            `json:"system"` // operating system and kernel
}

// Encode is the JSON of a.
func (a About) Encode() []byte { return encode(a) }

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return b
}

// mostAbout is the largest encoded About, in bytes.
const mostAbout = 64 << 10

// DecodeAbout decodes the description of the agent of a node.
func DecodeAbout(node string, text []byte) (About, error) {
	var a About
	if len(text) > mostAbout {
		return a, fmt.Errorf("the description of agent %s has %d bytes: %d are allowed", node, len(text), mostAbout)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("reading the description of agent %s: %w", node, err)
	}
	a.Node = node
	return a, nil
}

// Invitation has the addresses of a session that wants an agent. It is untrusted, as all users of etcd can
// write one: the agent authenticates the coordinator by its certificate.
type Invitation struct {
	Coordinator []string `json:"coordinator"` // candidate addresses, host:port
}

// Encode is the JSON of i.
func (i Invitation) Encode() []byte { return encode(i) }

// mostAddresses is the largest number of addresses of an invitation.
const mostAddresses = 64

func decodeInvitation(text []byte) (i Invitation, err error) {
	if err := json.Unmarshal(text, &i); err != nil {
		return i, fmt.Errorf("reading an invitation: %w", err)
	}
	if n := len(i.Coordinator); n == 0 || n > mostAddresses {
		return i, fmt.Errorf("an invitation has %d addresses of the coordinator: 1 to %d are allowed", n, mostAddresses)
	}
	return i, nil
}

// SystemOf describes the operating system of a node.
func SystemOf(n results.Node) string {
	if n.OS == "" {
		return n.Kernel
	}
	return n.OS + ", " + n.Kernel
}
