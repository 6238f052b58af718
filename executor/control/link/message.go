// Package link is the connection between an agent and the coordinator of a session.
//
// The agent is the client of TLS 1.3 with certificates of one authority on both sides, and of gRPC. The
// call Attach carries messages: orders of the coordinator, reports of the agent. The call Lend is a
// connection to the part of the session's etcd for the programs of a launch.
//
// Messages arrive in order and exactly once for each instance of an agent, even over several connections:
// they are cut into numbered pieces, which the sender keeps until they are acknowledged. A side starts no
// message while more than 1 MiB of earlier ones is not acknowledged, so that the other side can always
// read on.
//
// Each side sends a heartbeat about every third of Silence, in a call of its own: gRPC's keepalive is sent
// every 10 s at the earliest. A connection without a byte for three fifths of Silence is replaced; a peer
// without a sign of life for all of Silence is gone for good.
//
// An authenticated peer is not trusted: all its messages are bounded. See docs/threat-model.md.
package link

import (
	"errors"
	"fmt"
	"time"
)

// Message is an order of the coordinator, or a report of an agent.
type Message struct{ Head, Body []byte }

// The longest parts of a message, in bytes.
const (
	MaxHead = 1 << 20
	MaxBody = 64 << 20
)

// pieceSize is the size of a piece in bytes: with its frame, it fits into a 32 KiB buffer of gRPC's pool.
const pieceSize = 31 << 10

func checkSizes(head, body int) error {
	switch {
	case head > MaxHead:
		return fmt.Errorf("a message with a head of %d bytes: %d are allowed", head, MaxHead)
	case body > MaxBody:
		return fmt.Errorf("a message with a body of %d bytes: %d are allowed", body, MaxBody)
	}
	return nil
}

// piecesOf is the number of pieces of a message with a size in bytes: at least one.
func piecesOf(bytes int) uint64 { return uint64(max(1, (bytes+pieceSize-1)/pieceSize)) }

// DefaultSilence is the default time without a sign of life after which a peer is gone.
const DefaultSilence = 2500 * time.Millisecond

// timeouts follow from Silence.
type timeouts struct {
	silence           time.Duration
	idle              time.Duration // of a connection
	heartbeatInterval time.Duration
	retry             time.Duration // first pause between attempts to connect
}

func timeoutsOf(silence time.Duration) timeouts {
	if silence <= 0 {
		silence = DefaultSilence
	}
	return timeouts{
		silence: silence, idle: silence * 3 / 5, heartbeatInterval: silence * 8 / 25, retry: silence / 100,
	}
}

// refusal is a permanent error.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

func refused(format string, args ...any) error { return &refusal{fmt.Errorf(format, args...)} }

// Final marks an error of Connect as permanent.
func Final(err error) error { return &refusal{err} }

func isRefusal(err error) bool {
	_, ok := errors.AsType[*refusal](err)
	return ok
}

// ErrLeave means that the coordinator told the agent to leave.
var ErrLeave = errors.New("the coordinator told this agent to leave")

func leaveError(why string) error { return &refusal{fmt.Errorf("%w: %.1000s", ErrLeave, why)} }
