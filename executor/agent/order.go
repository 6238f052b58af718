package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// Order is an order of a session to an agent: Setup, or one field about a task.
type Order struct {
	Setup    *Setup `json:"setup,omitempty"`    // the first order to an agent of another host
	Task     string `json:"task,omitempty"`     // id
	Do       *Task  `json:"do,omitempty"`       // begin the task
	Withdraw bool   `json:"withdraw,omitempty"` // end the task; its outcome is reported
	Abort    string `json:"abort,omitempty"`    // end the launch, for this reason
	Peers    []byte `json:"-"`                  // addresses of all ranks of the launch, as wire.AppendPeer writes them
	Go       bool   `json:"go,omitempty"`       // all ranks of the launch are connected
}

// Setup tells an agent of another host about its session, before the survey.
type Setup struct {
	Fabrics []string          `json:"fabrics,omitempty"` // to look for on the node; none named: all
	CPUs    []int             `json:"cpus,omitempty"`    // that the session has claimed of the node; none: all
	Labels  map[string]string `json:"labels,omitempty"`  // of the node, besides its own
	Shell   map[string]string `json:"shell,omitempty"`   // variables that every node gets
	Secrets []string          `json:"secrets,omitempty"` // references to those of the scenario, never their values
}

// maxFabrics is how many fabrics a setup may name.
const maxFabrics = 64

// orderHead is the JSON form of an order. The packed launch and the addresses, which may be large, are the body.
type orderHead struct {
	Order
	Peers bool `json:"peers,omitempty"`
}

// Encode encodes an order as compressed JSON and a body, which orders to many nodes share.
func (o Order) Encode() (head, body []byte, err error) {
	switch {
	case o.Do != nil && o.Do.Launch != nil:
		body = o.Do.Launch.Packed
	case o.Peers != nil:
		body = o.Peers
	}
	if head, err = json.Marshal(orderHead{o, o.Peers != nil}); err == nil {
		head, err = compress(head)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("encoding an order: %w", err)
	}
	return head, body, nil
}

const (
	maxOrder    = 16 << 20 // bytes of the uncompressed head of an order
	maxTaskName = 512      // bytes
)

// DecodeOrder decodes what Encode encodes.
func DecodeOrder(head, body []byte) (Order, error) {
	var h orderHead
	text, err := decompress(head, maxOrder)
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	if err != nil {
		return Order{}, fmt.Errorf("reading an order: %w", err)
	}
	o := h.Order
	set := 0
	for _, there := range []bool{h.Setup != nil, h.Do != nil, h.Withdraw, h.Abort != "", h.Peers, h.Go} {
		if there {
			set++
		}
	}
	switch {
	case set != 1 || h.Peers && body == nil:
		return Order{}, fmt.Errorf("reading an order: it has %d parts instead of one", set)
	case h.Setup != nil && len(h.Setup.Fabrics) > maxFabrics:
		return Order{}, fmt.Errorf("reading an order: it names %d fabrics", len(h.Setup.Fabrics))
	case h.Setup == nil && !isTaskName(h.Task):
		return Order{}, fmt.Errorf("reading an order: %.80q is no valid task name", h.Task)
	case h.Do != nil && h.Do.Launch != nil:
		o.Do.Launch.Packed = body
	case h.Peers:
		o.Peers = body[:len(body):len(body)]
	case len(body) > 0:
		return Order{}, fmt.Errorf("reading an order: unexpected body of %d bytes", len(body))
	}
	return o, nil
}

func isTaskName(name string) bool {
	return name != "" && len(name) <= maxTaskName &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
