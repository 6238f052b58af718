package link

import (
	"os"
	"strconv"
	"testing"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc/mem"

	"github.com/weir-bench/weir/test/lab/mutate"
)

// encode is the input of a fuzz target that says these words.
func encode(f testing.TB, words ...*frame) []byte {
	var b []byte
	for _, w := range words {
		one, err := codec{}.Marshal(w)
		if err != nil {
			f.Fatal(err)
		}
		b = append(append(b, byte(one.Len())), one.Materialize()...)
	}
	return b
}

// decode gives the words of an input until one cannot be read, or hear says that it is the last.
func decode(b []byte, hear func(*frame) bool) {
	for len(b) > 0 {
		n := min(int(b[0]), len(b)-1)
		w := &frame{}
		if (codec{}).Unmarshal(mem.BufferSlice{mem.SliceBuffer(b[1 : 1+n])}, w) != nil || !hear(w) {
			return
		}
		b = b[1+n:]
	}
}

// spoken is a sender that has sent two messages, of one and of two pieces, and may send a third.
func spoken(t *testing.T) *sender {
	out := newOutbox()
	for _, size := range []int{3, 2 * pieceSize, 3} {
		if err := out.put(Message{Body: make([]byte, size)}); err != nil {
			t.Fatal(err)
		}
	}
	l, err := out.resume(0)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := l.nextFrame(); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// checked takes messages that are within the limits.
func checked(t *testing.T) func(Message) error {
	return func(m Message) error {
		if err := checkSizes(len(m.Head), len(m.Body)); err != nil {
			t.Error(err)
		}
		return nil
	}
}

// checkSender checks what is left to send after acknowledgements.
func checkSender(t *testing.T, l *sender) {
	if len(l.out.queue) == 0 || l.out.queue[len(l.out.queue)-1].first != 4 {
		t.Error("a message is forgotten that was not sent")
	}
	if w, err := l.nextFrame(); err != nil || w.Taken == 0 && w.Piece.Number != 4 {
		t.Errorf("%v, %v is said next", w, err)
	}
}

// upwards are words of agents, genuine ones and ones that make no sense.
func upwards(t testing.TB) [][]byte {
	return [][]byte{
		encode(t, pieceOf(1, &start{Body: 3}, 3), pieceOf(2, &start{Head: 1}, 1)),
		encode(t, pieceOf(1, &start{Body: 1 << 31, Head: 1 << 31}, 3)),
		encode(t, pieceOf(1, &start{Body: MaxBody}, 3)),
		encode(t, pieceOf(1, &start{}, 0), &frame{Taken: 2}, &frame{Bye: true}),
		encode(t, &frame{Taken: 4}), encode(t, helloOf("n1")),
	}
}

// hearUpwards has a coordinator hear what an agent says. It takes nothing that is no message, holds no
// more than the longest one, and forgets nothing that it has not sent.
func hearUpwards(t *testing.T, b []byte) {
	l := spoken(t)
	in := &inbox{out: l.out, budget: semaphore.NewWeighted(maxAssembling), take: checked(t)}
	decode(b, func(word *frame) bool {
		over, err := in.handleAgent(t.Context(), l, word)
		if !over && err != nil {
			t.Errorf("%v is no end", err)
		}
		return !over
	})
	in.abandon()
	if err := in.drained(); err != nil {
		t.Error(err)
	}
	if !in.budget.TryAcquire(maxAssembling) {
		t.Error("memory is reserved for no message")
	}
	checkSender(t, l)
}

// downwards are words of coordinators, genuine ones and ones that make no sense.
func downwards(t testing.TB) [][]byte {
	return [][]byte{
		encode(t, pieceOf(1, &start{Body: 3}, 3), pieceOf(2, &start{Head: 1}, 1)),
		encode(t, pieceOf(1, &start{Body: MaxBody}, 3)), encode(t, pieceOf(1, nil, 3)),
		encode(t, &frame{Taken: 2}, &frame{Taken: 4}), encode(t, &frame{Leave: "x"}), encode(t, farewell),
	}
}

// hearDownwards has an agent hear what a coordinator says. What ends its link is final.
func hearDownwards(t *testing.T, b []byte) {
	l := spoken(t)
	in := &inbox{out: l.out, take: checked(t)}
	decode(b, func(word *frame) bool {
		over, err := in.handleCoordinator(t.Context(), l, word)
		if err != nil && !isRefusal(err) {
			t.Errorf("%v is not final", err)
		}
		return !over && err == nil
	})
	if err := in.drained(); err != nil {
		t.Error(err)
	}
	checkSender(t, l)
}

func FuzzPieces(f *testing.F) {
	for _, b := range upwards(f) {
		f.Add(b)
	}
	f.Fuzz(hearUpwards)
}

func FuzzOrders(f *testing.F) {
	for _, b := range downwards(f) {
		f.Add(b)
	}
	f.Fuzz(hearDownwards)
}

// The same of many messages that are nearly genuine. WEIR_HOSTILE says how many they are.
func TestHostileWords(t *testing.T) {
	all := 20_000
	if text := os.Getenv("WEIR_HOSTILE"); text != "" {
		var err error
		if all, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	up, down := mutate.New(3, upwards(t)...), mutate.New(4, downwards(t)...)
	for range all / 2 {
		hearUpwards(t, up.Next())
		hearDownwards(t, down.Next())
	}
}
