package link

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/weir-bench/weir/test/phase"
)

// brief is the time limit for hello in these tests.
const brief = 300 * time.Millisecond

// secured is a peer that has come through TLS and was greeted.
func secured(t *testing.T, s *side) *tls.Conn {
	t.Helper()
	raw, err := s.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { raw.Close() })
	_ = raw.SetDeadline(time.Now().Add(limit))
	config, err := identity(t, s.authority, Agent, "n1").client()
	if err != nil {
		t.Fatal(err)
	}
	config.NextProtos = []string{linkProtocol}
	c := tls.Client(raw, config)
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return c
}

// dropped waits until the coordinator has closed a connection, whatever it says before.
func dropped(t *testing.T, conn net.Conn) {
	t.Helper()
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the coordinator bears it")
	}
}

// A peer that does not send hello in time is dropped, without a call of Up or Down, and others are served
// meanwhile.
func TestHostilePeersAreDropped(t *testing.T) {
	s := serve(t, nil, brief)
	for what, attack := range map[string]func(t *testing.T){
		"garbage instead of TLS": func(t *testing.T) {
			c := plain(t, s)
			_, _ = c.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
			dropped(t, c)
		},
		"nothing at all": func(t *testing.T) { dropped(t, plain(t, s)) },
		"the first half of a greeting of TLS": func(t *testing.T) {
			c := plain(t, s)
			_, _ = c.Write([]byte{22, 3, 1, 1, 0, 1, 0})
			dropped(t, c)
		},
		"nothing after TLS":    func(t *testing.T) { dropped(t, secured(t, s)) },
		"nothing after HTTP/2": func(t *testing.T) { c, _ := framed(t, s); dropped(t, c) },
		"signs of life, but no name": func(t *testing.T) {
			c, f := framed(t, s)
			beginCall(t, f, 1, heartbeatCall)
			go func() {
				for f.WriteData(1, false, []byte("\x00\x00\x00\x00\x03{}\n")) == nil {
					time.Sleep(20 * time.Millisecond)
				}
			}()
			dropped(t, c)
		},
		"a call that there is not": func(t *testing.T) {
			c, f := framed(t, s)
			beginCall(t, f, 1, "Else")
			dropped(t, c)
		},
	} {
		t.Run(what, func(t *testing.T) { attack(t) })
	}
	if got := s.seen(); len(got) != 0 {
		t.Errorf("%q", got)
	}
	dial(t, s.options(t, "n1"))
	s.wait(t, "up n1 i1")
}

func plain(t *testing.T, s *side) net.Conn {
	t.Helper()
	c, err := s.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(limit))
	return c
}

// Silent strangers above the limit do not keep other agents out.
func TestManyWhoSayNothing(t *testing.T) {
	s := serve(t, nil, brief)
	for range maxStrangers + 50 {
		plain(t, s)
	}
	dial(t, s.options(t, "n1"))
	s.wait(t, "up n1 i1")
}

// speaker is an agent of node n1 that says what it likes.
func speaker(t *testing.T, s *side) frames {
	t.Helper()
	return speaking(t, s, identity(t, s.authority, Agent, "n1"))
}

func helloOf(node string) *frame {
	return &frame{Hello: &hello{Session: "s", Node: node, Instance: "i1"}}
}

func pieceOf(number uint64, start *start, data int) *frame {
	return &frame{Piece: &piece{Number: number, Start: start}, Data: make([]byte, data)}
}

// A known agent that breaks the rules is down, for a reason that is reported.
func TestAgentsThatBreakTheRules(t *testing.T) {
	phase.Long(t)
	small, large := &start{Body: 10}, &start{Body: 2 * pieceSize}
	for what, c := range map[string]struct {
		words []*frame
		want  string
	}{
		"a piece that is not next": {[]*frame{pieceOf(2, small, 10)}, "sends piece 2 after piece 0"},

		"a piece again": {[]*frame{pieceOf(1, small, 10), pieceOf(1, small, 10)}, "sends piece 1 after piece 1"},
		"a message in another": {[]*frame{pieceOf(1, large, pieceSize), pieceOf(2, small, 10)},
			"starts a message inside another"},
		"a piece of no message":    {[]*frame{pieceOf(1, nil, 10)}, "continues none"},
		"a piece that is too long": {[]*frame{pieceOf(1, small, 11)}, "a piece of 11 bytes: must have 10"},

		"a piece that is too short": {
			[]*frame{pieceOf(1, large, 10)}, fmt.Sprintf("a piece of 10 bytes: must have %d", pieceSize),
		},
		"a body that is too long": {[]*frame{pieceOf(1, &start{Body: MaxBody + 1}, pieceSize)},
			"67108864 are allowed"},
		"a body of all there is": {[]*frame{pieceOf(1, &start{Body: 0xffffffff, Head: 0xffffffff},
			pieceSize)}, "1048576 are allowed"},
		"a head that is too long": {[]*frame{pieceOf(1, &start{Head: MaxHead + 1}, pieceSize)},
			"1048576 are allowed"},
		"an acknowledgement of nothing": {[]*frame{{Taken: 1}},
			"acknowledges piece 1 of 0"},
		"goodbye in a message": {[]*frame{pieceOf(1, large, pieceSize), {Bye: true}},
			"in the middle of a message"},
		"more than may wait":    {ahead(), "starts a message while"},
		"hello again":           {[]*frame{helloOf("n1")}, "frame of unknown type"},
		"nothing that there is": {[]*frame{{}}, "frame of unknown type"},

		"a word longer than a piece can": {[]*frame{pieceOf(1, &start{Body: 1 << 20}, 1<<20)},
			"nothing received"},
	} {
		t.Run(what, func(t *testing.T) {
			hold := make(chan struct{})
			s := serve(t, func(o *ServerOptions) {
				o.Silence = 2 * time.Second
				if what == "more than may wait" {
					o.Take = func(string, Message) error { <-hold; return nil }
				}
			}, limit)
			stream := speaker(t, s)
			for _, word := range append([]*frame{helloOf("n1")}, c.words...) {
				_ = stream.Send(word)
			}
			time.AfterFunc(100*time.Millisecond, func() { close(hold) })
			events := s.wait(t, "down n1")
			if last := events[len(events)-1]; !strings.Contains(last, c.want) {
				t.Errorf("%q, want %q", last, c.want)
			}
			for {
				if _, err := stream.Recv(); err != nil {
					break
				}
			}
		})
	}
}

// ahead are more reports than may wait to be acknowledged, of which none is taken.
func ahead() []*frame {
	var words []*frame
	for n := uint64(1); n < 2+maxAhead/pieceSize; n++ {
		words = append(words, pieceOf(n, &start{Body: pieceSize}, pieceSize))
	}
	return words
}

// An instance that says it has received what was never sent is refused, and is down if it was up.
func TestAHelloOfAnotherPast(t *testing.T) {
	s := serve(t, nil, limit)
	past := func(received uint64) error {
		word := helloOf("n1")
		word.Hello.Received = received
		stream := speaker(t, s)
		if err := stream.Send(word); err != nil {
			t.Fatal(err)
		}
		_, err := stream.Recv()
		return final(err)
	}
	if err := past(1); !isRefusal(err) || !strings.Contains(err.Error(), "1 received pieces, and none") {
		t.Errorf("%v", err)
	}
	if got := s.seen(); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if err := past(0); err != nil {
		t.Fatal(err)
	}
	if err := past(7); !isRefusal(err) || !strings.Contains(err.Error(), "7 received pieces of 0 sent ones") {
		t.Errorf("%v", err)
	}
	s.wait(t, "down n1 it reports 7 received pieces")
}

// Hello must be the first frame.
func TestAgentsWithoutAName(t *testing.T) {
	s := serve(t, nil, brief)
	for _, word := range []*frame{
		{}, pieceOf(1, &start{}, 0), {Bye: true}, helloOf("n2"), helloOf(""),
	} {
		stream := speaker(t, s)
		_ = stream.Send(word)
		if answer, err := stream.Recv(); err == nil {
			t.Errorf("%v is answered with %v", word, answer)
		}
	}
	if got := s.seen(); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// Many agents that announce the longest message and send none of it take no more than
// the budget for all of them.
func TestAnnouncedMessagesTakeBoundedMemory(t *testing.T) {
	s := serve(t, nil, limit)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const agents = 2 * maxAssembling / MaxBody
	a := identity(t, s.authority, Agent, AnyNode)
	for i := range agents {
		stream := speaking(t, s, a)
		_ = stream.Send(helloOf(string(rune('a' + i))))
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
		_ = stream.Send(pieceOf(1, &start{Body: MaxBody}, pieceSize))
	}
	s.wait(t, "up "+string(rune('a'+agents-1)))
	for !func() bool { // until the budget is spent
		ok := s.assembly.TryAcquire(MaxBody)
		if ok {
			s.assembly.Release(MaxBody)
		}
		return !ok
	}() {
		runtime.Gosched()
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > maxAssembling+64<<20 {
		t.Errorf("%d MiB are held for %d agents", grown>>20, agents)
	}
}

// speaking is an agent with some certificate that says what it likes.
func speaking(t *testing.T, s *side, i Identity) frames {
	t.Helper()
	raw := plain(t, s)
	config, err := i.client()
	if err != nil {
		t.Fatal(err)
	}
	w, err := dialled(t.Context(), raw, config, timeoutsOf(calm))
	if err != nil {
		t.Fatal(err)
	}
	client, err := newClient(w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	stream, err := call(t.Context(), client, attachCall, grpc.MaxCallSendMsgSize(2<<20))
	if err != nil {
		t.Fatal(err)
	}
	alive, err := call(t.Context(), client, heartbeatCall)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); exchangeHeartbeats(alive, timeoutsOf(calm).heartbeatInterval) }()
	t.Cleanup(func() { w.end(errClosed); <-done })
	return stream
}
