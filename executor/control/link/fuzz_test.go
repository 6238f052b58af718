package link

import (
	"os"
	"strconv"
	"testing"

	"golang.org/x/sync/semaphore"
	"google.golang.org/protobuf/proto"

	pb "github.com/weir-bench/weir/internal/linkpb"
	"github.com/weir-bench/weir/test/lab/mutate"
)

// encode is the input of a fuzz target that says these words.
func encode[W proto.Message](f testing.TB, words ...W) []byte {
	var b []byte
	for _, w := range words {
		one, err := proto.Marshal(w)
		if err != nil {
			f.Fatal(err)
		}
		b = append(append(b, byte(len(one))), one...)
	}
	return b
}

// decode gives the words of an input until one cannot be read, or hear says that it is the last.
func decode[W proto.Message](b []byte, word func() W, hear func(W) bool) {
	for len(b) > 0 {
		n := min(int(b[0]), len(b)-1)
		w := word()
		if proto.Unmarshal(b[1:1+n], w) != nil || !hear(w) {
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
	if w, err := l.nextFrame(); err != nil || w.piece.GetNumber() != 4 && w.taken == 0 {
		t.Errorf("%v, %v is said next", w, err)
	}
}

// upwards are words of agents, genuine ones and ones that make no sense.
func upwards(t testing.TB) [][]byte {
	return [][]byte{
		encode(t, piece(1, &pb.Start{Body: 3}, 3), piece(2, &pb.Start{Head: 1}, 1)),
		encode(t, piece(1, &pb.Start{Body: 1 << 31, Head: 1 << 31}, 3)),
		encode(t, piece(1, &pb.Start{Body: MaxBody}, 3)),
		encode(t, piece(1, &pb.Start{}, 0), &pb.FromAgent{Say: &pb.FromAgent_Taken{Taken: 2}},
			&pb.FromAgent{Say: &pb.FromAgent_Bye{Bye: &pb.Bye{}}}),
		encode(t, &pb.FromAgent{Say: &pb.FromAgent_Taken{Taken: 4}}), encode(t, hello("n1")),
	}
}

// hearUpwards has a coordinator hear what an agent says. It takes nothing that is no message, holds no
// more than the longest one, and forgets nothing that it has not sent.
func hearUpwards(t *testing.T, b []byte) {
	l := spoken(t)
	in := &inbox{out: l.out, budget: semaphore.NewWeighted(maxAssembling), take: checked(t)}
	decode(b, func() *pb.FromAgent { return &pb.FromAgent{} }, func(word *pb.FromAgent) bool {
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
	order := func(number uint64, start *pb.Start, data int) *pb.FromCoordinator {
		return &pb.FromCoordinator{Say: &pb.FromCoordinator_Piece{Piece: piece(number, start, data).GetPiece()}}
	}
	return [][]byte{
		encode(t, order(1, &pb.Start{Body: 3}, 3), order(2, &pb.Start{Head: 1}, 1)),
		encode(t, order(1, &pb.Start{Body: MaxBody}, 3)), encode(t, order(1, nil, 3)),
		encode(t, &pb.FromCoordinator{Say: &pb.FromCoordinator_Taken{Taken: 2}},
			&pb.FromCoordinator{Say: &pb.FromCoordinator_Taken{Taken: 4}}),
		encode(t, &pb.FromCoordinator{Say: &pb.FromCoordinator_Leave{Leave: &pb.Leave{Why: "x"}}}), encode(t, farewell),
	}
}

// hearDownwards has an agent hear what a coordinator says. What ends its link is final.
func hearDownwards(t *testing.T, b []byte) {
	l := spoken(t)
	in := &inbox{out: l.out, take: checked(t)}
	decode(b, func() *pb.FromCoordinator { return &pb.FromCoordinator{} }, func(word *pb.FromCoordinator) bool {
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
