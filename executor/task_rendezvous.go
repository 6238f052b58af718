// This file connects the ranks of a launch on several nodes, while its task runs.

package executor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/wire"
)

// rendezvous connects the ranks of a launch on several nodes: it collects the addresses of each node's
// ranks, sends all addresses to all nodes, and starts the first case when all ranks are connected.
type rendezvous struct {
	order func(node string, o agent.Order) error
	task  string
	nodes map[string][]int // ranks

	addresses   [][]byte        // by rank; nil once they are sent
	addressed   map[string]bool // by node
	connected   map[string]bool
	peersSent   bool
	failing     bool
	missing     string // the ranks that were awaited when the launch failed; "": none
	missingRank int    // the first of them
}

// newRendezvous connects ranks on the named nodes, by rank; nil: the agent of a single node connects them.
func newRendezvous(task string, nodes []string, order func(node string, o agent.Order) error) *rendezvous {
	m := &rendezvous{
		order: order, task: task, nodes: map[string][]int{}, addresses: make([][]byte, len(nodes)),
		addressed: map[string]bool{}, connected: map[string]bool{},
	}
	for rank, node := range nodes {
		m.nodes[node] = append(m.nodes[node], rank)
	}
	if len(m.nodes) < 2 {
		return nil
	}
	return m
}

// handleReport handles a report of a node, and returns false if it is about something else.
func (m *rendezvous) handleReport(r agent.Report) bool {
	if m == nil {
		return false
	}
	switch {
	case r.Addresses != nil:
		if err := m.addAddresses(r.Node, r.Addresses); err != nil {
			m.abort("", err.Error())
		}
	case r.Connected:
		m.connected[r.Node] = true
	case r.Failing != "":
		m.noteMissing()
		m.abort(r.Node, fmt.Sprintf("stopped, because on node %s %s", r.Node, r.Failing))
	default:
		return false
	}
	switch {
	case m.failing:
	case len(m.addressed) == len(m.nodes) && !m.peersSent:
		m.sendPeers()
	case m.peersSent && len(m.connected) == len(m.nodes):
		m.broadcast("", agent.Order{Task: m.task, Go: true})
	}
	return true
}

func (m *rendezvous) addAddresses(node string, text []byte) error {
	if m.addressed[node] || m.peersSent {
		return fmt.Errorf("node %s has sent the addresses of its ranks twice", node)
	}
	ranks := m.nodes[node]
	known, err := agent.DecodeAddresses(text, m.addresses)
	if err != nil {
		return fmt.Errorf("node %s: %w", node, err)
	}
	if known != len(ranks) || slices.ContainsFunc(ranks, func(r int) bool { return m.addresses[r] == nil }) {
		return fmt.Errorf("node %s has the addresses of %d ranks that are not its own %d", node, known, len(ranks))
	}
	m.addressed[node] = true
	return nil
}

func (m *rendezvous) sendPeers() {
	all := []byte{}
	for _, address := range m.addresses {
		all = wire.AppendPeer(all, address)
	}
	m.addresses, m.peersSent = nil, true
	m.broadcast("", agent.Order{Task: m.task, Peers: all})
}

// noteMissing records which ranks are awaited when the launch begins to fail.
func (m *rendezvous) noteMissing() {
	if m.failing {
		return
	}
	m.failing = true
	what, arrived := "addresses", m.addressed
	if m.peersSent {
		what, arrived = "connections", m.connected
	}
	var ranks []int
	for node, own := range m.nodes {
		if !arrived[node] {
			ranks = append(ranks, own...)
		}
	}
	if len(ranks) > 0 {
		slices.Sort(ranks)
		m.missingRank, m.missing = ranks[0], what+": waiting for "+listRanks(ranks)
	}
}

func listRanks(ranks []int) string {
	const most = 8
	var names []string
	for _, r := range ranks[:min(len(ranks), most)] {
		names = append(names, fmt.Sprint(r))
	}
	text := "rank " + names[0]
	if len(names) > 1 {
		text = "ranks " + strings.Join(names, ", ")
	}
	if more := len(ranks) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// completeFailure names the missing ranks in the failure of a node that waited for them without success.
func (m *rendezvous) completeFailure(o *agent.Outcome) {
	if m == nil || o == nil || !o.PeersMissing() {
		return
	}
	if m.noteMissing(); m.missing != "" {
		o.Failure.Rank, o.Failure.Cause, o.Failure.Log = m.missingRank, m.missing, nil
	}
}

// abort ends the launch on all nodes except one that has ended it itself; "": on all.
func (m *rendezvous) abort(except, why string) {
	if m != nil {
		m.failing = true
		m.broadcast(except, agent.Order{Task: m.task, Abort: why})
	}
}

func (m *rendezvous) broadcast(except string, o agent.Order) {
	for _, node := range slices.Sorted(maps.Keys(m.nodes)) {
		if node != except {
			_ = m.order(node, o) // an unreachable node is lost, or ends by its deadline
		}
	}
}
