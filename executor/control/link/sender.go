package link

import (
	"cmp"
	"fmt"
	"sort"
)

// sender sends the contents of an outbox over one connection.
type sender struct {
	out *outbox

	// of outbox.mu
	next  uint64 // number of the next piece
	acked uint64 // the last acknowledgement on this connection
	ended bool
}

// send sends the frames of the outbox until the sender or the call ends. The last one ends the link.
func (l *sender) send(call frames, last *frame) {
	for {
		f, err := l.nextFrame()
		if err != nil || call.Send(cmp.Or(f, last)) != nil || f == nil {
			return
		}
	}
}

// nextFrame waits for the next frame, an acknowledgement or a piece; nil: the end of the link is next. The error means
// that the connection or the link has ended.
func (l *sender) nextFrame() (*frame, error) {
	o := l.out
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		switch {
		case l.ended:
			return nil, errConnectionEnded
		case o.failed != nil:
			return nil, o.failed
		case o.pendingAck.piece > l.acked: // before pieces: the other side may wait for it
			l.acked, o.acked = o.pendingAck.piece, o.pendingAck
			return &frame{Taken: l.acked}, nil
		case o.dropped || o.closed && l.next == o.next:
			return nil, nil
		case l.next < o.next:
			m := l.message()
			if l.next > m.first || m.before-o.taken <= maxAhead {
				f := m.piece(l.next)
				o.sent = max(o.sent, l.next)
				l.next++
				return f, nil
			}
		}
		o.changed.Wait()
	}
}

// message is the message of the next piece. It exists: pieces that were not sent are not acknowledged.
func (l *sender) message() outgoing {
	queue := l.out.queue
	return queue[sort.Search(len(queue), func(i int) bool { return queue[i].last >= l.next })]
}

// piece is the piece with a number.
func (m outgoing) piece(number uint64) *frame {
	f := &frame{Piece: &piece{Number: number}}
	if number == m.first {
		f.Piece.Start = &start{Head: uint64(len(m.Head)), Body: uint64(len(m.Body))}
	}
	from := int(number-m.first) * pieceSize
	to := min(from+pieceSize, m.size())
	if from >= len(m.Head) {
		f.Data = m.Body[from-len(m.Head) : to-len(m.Head)] // shared with other agents
		return f
	}
	f.Data = append(f.Data, m.Head[from:min(to, len(m.Head))]...)
	if to > len(m.Head) {
		f.Data = append(f.Data, m.Body[:to-len(m.Head)]...)
	}
	return f
}

// taken handles the acknowledgement of all messages up to a piece.
func (l *sender) taken(number uint64) error {
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
	if number >= l.next {
		return fmt.Errorf("it acknowledges piece %d of %d that were sent", number, l.next-1)
	}
	l.out.forget(number)
	return nil
}

// end ends nextFrame.
func (l *sender) end() {
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
	l.ended = true
	l.out.changed.Broadcast()
}
