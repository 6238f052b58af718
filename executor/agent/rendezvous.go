package agent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/weir-bench/weir/executor/wire"
)

// nodeRendezvous holds the session's orders about a launch while its ranks exchange addresses and connect.
type nodeRendezvous struct {
	changed chan struct{} // has a value after an order

	mu    sync.Mutex
	peers []byte // addresses of all ranks; nil: unknown, or taken
	begin bool   // all ranks are connected
	abort string // why the launch must end; "": it need not
}

// handle handles an order about the launch. It keeps the first reason to end it.
func (m *nodeRendezvous) handle(o Order) {
	m.mu.Lock()
	switch {
	case o.Peers != nil:
		m.peers = o.Peers
	case o.Go:
		m.begin = true
	case m.abort == "":
		m.abort = o.Abort
	}
	m.mu.Unlock()
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// addresses takes the addresses of all ranks, to free their memory; nil: they are not known yet.
func (m *nodeRendezvous) addresses(ranks int) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.peers
	if all == nil {
		return nil, nil
	}
	m.peers = nil
	if err := wire.CheckPeers(all, ranks); err != nil {
		return nil, fmt.Errorf("reading addresses: %w", err)
	}
	return all, nil
}

func (m *nodeRendezvous) state() (begin bool, abort string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.begin, m.abort
}

// encodeAddresses writes rank, length and address of each rank, ascending.
func encodeAddresses(addresses map[int][]byte) []byte {
	var text []byte
	for _, rank := range slices.Sorted(maps.Keys(addresses)) {
		text = binary.AppendUvarint(text, uint64(rank))
		text = binary.AppendUvarint(text, uint64(len(addresses[rank])))
		text = append(text, addresses[rank]...)
	}
	return text
}

var errAddresses = errors.New("reading addresses: malformed")

// DecodeAddresses reads the addresses of a report into all, by rank, and returns their number. Ranks outside of all
// or with an address already are errors. An empty address is not nil.
func DecodeAddresses(text []byte, all [][]byte) (known int, err error) {
	for len(text) > 0 {
		rank, n := binary.Uvarint(text)
		if n <= 0 || rank >= uint64(len(all)) {
			return known, errAddresses
		}
		text = text[n:]
		size, n := binary.Uvarint(text)
		if n <= 0 || size > uint64(len(text)-n) || all[rank] != nil {
			return known, errAddresses
		}
		all[rank] = text[n : n+int(size) : n+int(size)]
		text = text[n+int(size):]
		known++
	}
	return known, nil
}
