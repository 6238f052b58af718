// Package link is the connection between an agent and the coordinator of a session.
//
// The agent dials, whoever opened the way: TLS 1.3, in which both show certificates of
// one authority, then gRPC. An agent hands over its messages in one call, Attach. For
// agents that cannot reach the coordinator's etcd, Tunnel is a connection to it.
//
// Messages arrive in order and exactly once for each instance of an agent, also when the
// connection breaks and is made again: they are cut into numbered pieces, which the agent
// keeps until they are acknowledged, and the coordinator keeps what has come of a message.
// Each side sends a sign of life every third of Silence, in the call Heartbeat: gRPC's own
// keepalive asks every 10 s at most, and only of a peer that is idle. A connection that says nothing
// for three fifths of it is given up and made anew, and a peer of whom nothing was heard
// for all of it is gone for good, for both sides.
//
// A peer with a certificate is known, not trusted: all that it sends is bounded. See
// docs/threat-model.md.
package link

import (
	"errors"
	"fmt"
	"time"
)

// Message is what an agent hands to the coordinator.
type Message struct {
	Kind       string // 1 to MaxKind bytes
	Head, Body []byte
}

// The longest parts of a message, in bytes.
const (
	MaxKind = 64
	MaxHead = 1 << 20
	MaxBody = 64 << 20
)

// pieceSize is how many bytes of a message travel at a time.
const pieceSize = 256 << 10

func checkSizes(kind, head, body int) error {
	switch {
	case kind < 1 || kind > MaxKind:
		return fmt.Errorf("a message's kind of %d bytes: must have 1 to %d", kind, MaxKind)
	case head > MaxHead:
		return fmt.Errorf("a message's head of %d bytes: %d are the most", head, MaxHead)
	case body > MaxBody:
		return fmt.Errorf("a message's body of %d bytes: %d are the most", body, MaxBody)
	}
	return nil
}

// piecesOf is how many pieces so many bytes make: at least one.
func piecesOf(bytes int) uint64 { return uint64(max(1, (bytes+pieceSize-1)/pieceSize)) }

// DefaultSilence is how long a peer may say nothing before it is taken for dead.
const DefaultSilence = 2500 * time.Millisecond

// pace is what follows from how long a peer may be silent.
type pace struct{ silence, idle, beat, retry time.Duration }

func paceOf(silence time.Duration) pace {
	if silence <= 0 {
		silence = DefaultSilence
	}
	return pace{silence: silence, idle: silence * 3 / 5, beat: silence * 8 / 25, retry: silence / 100}
}

// refusal is an error after which trying again is of no use.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

func refused(format string, args ...any) error { return &refusal{fmt.Errorf(format, args...)} }

// Final marks an error of a Connect after which trying again is of no use.
func Final(err error) error { return &refusal{err} }

func isRefusal(err error) bool {
	_, ok := errors.AsType[*refusal](err)
	return ok
}

// ErrLeave says that the coordinator told the agent to go: its session is over, or does
// not want it.
var ErrLeave = errors.New("the coordinator told this agent to leave")

func dismissed(l *Leave) error { return &refusal{fmt.Errorf("%w: %.1000s", ErrLeave, l.Why)} }
