package rank

import (
	"bytes"
	"sync"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/wire"
)

// RunInProcess runs a rank that shares its process and launch with others, to simulate many ranks, not to measure.
func RunInProcess(conn wire.Conn, l wire.Launch, control *engine.Control, e engine.Runner) {
	if err := runLaunch(conn, control, e, l, sharedPeers.decode, func() {}); err != nil {
		// an error means that the agent is gone
		_ = conn.Send(wire.KindFailure, wire.EncodeFailure(engineError(err, control)))
	}
}

// sharedPeers are the addresses for the ranks of this process, which are equal and decoded once.
var sharedPeers peerCache

type peerCache struct {
	mu        sync.Mutex
	body      []byte
	ranks     int
	addresses [][]byte
}

func (a *peerCache) decode(body []byte, ranks int) ([][]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.addresses != nil && a.ranks == ranks && bytes.Equal(a.body, body) {
		return a.addresses, nil
	}
	addresses, err := wire.DecodePeers(body, ranks)
	if err == nil {
		a.body, a.ranks, a.addresses = body, ranks, addresses
	}
	return addresses, err
}
