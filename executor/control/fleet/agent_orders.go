package fleet

import (
	"errors"
	"sync"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/control/link"
)

// orders passes the coordinator's orders on to the agent. The first order is the setup, from which the
// agent is created; the others follow after the agent has joined.
type orders struct {
	setup chan agent.Setup

	mu    sync.Mutex
	agent *agent.Agent // nil: not yet, or no longer
	state orderState
}

type orderState int

const (
	awaitsSetup orderState = iota
	joining
	joined
	over // further orders are dropped
)

func newOrders() *orders { return &orders{setup: make(chan agent.Setup, 1)} }

// take handles one order. An error ends the link.
func (o *orders) take(m link.Message) error {
	order, err := agent.DecodeOrder(m.Head, m.Body)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.state == over:
	case o.state == awaitsSetup && order.Setup != nil:
		o.setup <- *order.Setup
		o.state = joining
	case o.state != joined || order.Setup != nil:
		return errors.New("the coordinator sends orders in the wrong sequence")
	default:
		o.agent.Take(order)
	}
	return nil
}

// pass passes further orders on to an agent.
func (o *orders) pass(a *agent.Agent) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.agent, o.state = a, joined
}

// stop drops further orders.
func (o *orders) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.agent, o.state = nil, over
}
