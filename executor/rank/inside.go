package rank

import (
	"bytes"
	"sync"

	"weir/engine"
	"weir/executor/wire"
)

// Inside is a rank of an engine that shares its process with others, and its launch too.
// It is for playing many ranks, not for measuring.
func Inside(conn wire.Conn, l wire.Launch, control *engine.Control, e engine.Runner) {
	if err := carry(conn, control, e, l, insiders.decode, func() {}); err != nil {
		// without the agent nobody hears it
		_ = conn.Send(wire.KindFailure, wire.EncodeFailure(structured(err, control)))
	}
}

// insiders are the ranks of this process. What thousands are told of thousands of others
// is the same for all, and is read once.
var insiders acquainted

type acquainted struct {
	mu        sync.Mutex
	body      []byte
	ranks     int
	addresses [][]byte
}

func (a *acquainted) decode(body []byte, ranks int) ([][]byte, error) {
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
