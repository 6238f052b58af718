package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"syscall"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/engine/mesh"
	"github.com/weir-bench/weir/workload/epelastic"
)

// Member is a process of a rank, which executes the leader's orders.
type Member struct {
	self   int
	tokens int64 // of a step
	rank   Rank
	spoke  *mesh.Spoke
	orders chan order // closed when the leader is lost
	gone   error      // cause of a closed orders

	mu    sync.Mutex
	masks []epelastic.Mask // of the phase
}

// NewMember starts to listen to the leader.
func NewMember(self int, tokens int64, rank Rank, spoke *mesh.Spoke) *Member {
	m := &Member{
		self: self, tokens: tokens, rank: rank, spoke: spoke, orders: make(chan order, 16),
	}
	go m.listen()
	return m
}

// listen handles urgent orders at once, and queues the others.
func (m *Member) listen() {
	for {
		var o order
		message, err := m.spoke.Receive()
		if err == nil {
			err = json.Unmarshal(message, &o)
		}
		if err != nil {
			m.gone = err
			close(m.orders)
			return
		}
		switch o.Do {
		case doMask:
			at := Now()
			m.mu.Lock()
			for _, r := range o.Ranks {
				m.masks = append(m.masks, epelastic.Mask{Rank: r, At: at})
			}
			m.mu.Unlock()
			m.rank.BreakOff()
		case doBreakOff:
			m.rank.BreakOff()
		default:
			m.orders <- o
		}
	}
}

// Run executes the orders of a phase, and adds the results to a part.
func (m *Member) Run(ctx context.Context, p *epelastic.Part) error {
	for {
		select {
		case o, there := <-m.orders:
			if !there {
				return m.leaderLost()
			}
			if o.Do == doEnd {
				m.mu.Lock()
				p.Masks, m.masks = m.masks, nil
				m.mu.Unlock()
				return nil
			}
			if err := m.carryOut(o, p); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (m *Member) leaderLost() error {
	return &engine.Error{
		Phase: "run", Peer: 0, Code: -int(syscall.ECONNRESET),
		Text: fmt.Sprintf("lost rank 0, which leads the group: %v", m.gone),
	}
}

func (m *Member) carryOut(o order, p *epelastic.Part) (err error) {
	a := answer{Number: o.Number}
	switch o.Do {
	case doOpen:
		a.GPU, err = m.rank.Open()
	case doClock:
		a.Clock = Now()
	case doAddress:
		a.Address, err = m.rank.Address()
	case doConnect:
		err = m.rank.Connect(o.Addresses)
	case doPrepare:
		err = m.rank.Prepare(o.Ranks, o.Number)
	case doDisconnect:
		err = m.rank.Disconnect(false)
	case doAbandon:
		if err = m.rank.Disconnect(true); p.Muted != 0 {
			return err // a muted rank does not answer
		}
	case doSteps:
		silent := false
		if silent, err = m.steps(o, p, &a); silent {
			return err
		}
	default:
		err = fmt.Errorf("there is no order %q", o.Do)
	}
	if err != nil {
		return err
	}
	_ = m.spoke.Send(encode(a)) // a lost leader shows when receiving
	return nil
}

// steps makes steps; silent: do not answer the leader.
func (m *Member) steps(o order, p *epelastic.Part, a *answer) (silent bool, err error) {
	done, err := m.rank.Steps(o.Steps)
	for _, s := range done.Steps {
		s.Group = int64(o.Group)
		p.Steps = append(p.Steps, s)
	}
	p.Stopped = max(p.Stopped, done.Stopped)
	if p.Wrong += done.Wrong; p.WrongAt == "" {
		p.WrongAt = done.WrongAt
	}
	ends := o.Steps.EndIn != "" && err != nil || done.Mute // it has an error if another rank ended first
	if ends && o.Steps.Dies {
		m.rank.Die()
	}
	if ends && !o.Steps.Dies {
		p.Muted = Now()
		return true, nil
	}
	if err == nil {
		return false, nil
	}
	e, ok := errors.AsType[*engine.Error](err)
	broken := ok && e.Code == -int(syscall.ECONNABORTED)
	if !broken && len(done.Missing) == 0 && (!ok || e.Peer < 0) {
		return false, err
	}
	a.Broken = true
	p.Lost += m.tokens
	if !broken {
		a.Missing, a.Why = done.Missing, err.Error()
		if len(a.Missing) == 0 {
			a.Missing = []int{e.Peer}
		}
	}
	return false, nil
}
