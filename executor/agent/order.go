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
	Peers    Blob   `json:"peers,omitzero"`     // addresses of all ranks of the launch, as wire.AppendPeer writes them
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

// body is the field with the bytes of an order, which may be many; nil: it has none.
func (o *Order) body() *[]byte {
	switch {
	case o.Do != nil && o.Do.Launch != nil:
		return &o.Do.Launch.Packed
	case o.Peers != nil:
		return (*[]byte)(&o.Peers)
	}
	return nil
}

// Encode encodes an order as compressed JSON and a body, which orders to many nodes share.
func (o Order) Encode() (head, body []byte, err error) {
	if b := o.body(); b != nil {
		body = *b
	}
	if head, err = json.Marshal(o); err == nil {
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
func DecodeOrder(head, body []byte) (o Order, err error) {
	text, err := decompress(head, maxOrder)
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err == nil {
		err = o.complete(body)
	}
	if err != nil {
		return Order{}, fmt.Errorf("reading an order: %w", err)
	}
	return o, nil
}

// complete adds the body to a decoded order and checks it.
func (o *Order) complete(body []byte) error {
	if n := partsOf(*o, "Task"); n != 1 {
		return fmt.Errorf("it has %d parts instead of one", n)
	}
	switch {
	case o.Setup != nil && len(o.Setup.Fabrics) > maxFabrics:
		return fmt.Errorf("it names %d fabrics", len(o.Setup.Fabrics))
	case o.Setup == nil && !isTaskName(o.Task):
		return fmt.Errorf("%.80q is no valid task name", o.Task)
	}
	if b := o.body(); b != nil {
		*b = body[:len(body):len(body)]
	} else if len(body) > 0 {
		return fmt.Errorf("unexpected body of %d bytes", len(body))
	}
	return nil
}

func isTaskName(name string) bool {
	return name != "" && len(name) <= maxTaskName &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
