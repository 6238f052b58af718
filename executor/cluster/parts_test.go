package cluster

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// noise is text of which no part is like another.
func noise(bytes int) []byte {
	text := make([]byte, bytes)
	rand.NewChaCha8([32]byte{1}).Read(text)
	return text
}

func keysOf(t *testing.T, s *Session, id string) int {
	t.Helper()
	n, err := s.Keys(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Who sees a placement can read all that belongs to it, however long it is, and
// nothing of it is left when the task is over.
func TestLongTextsAreSharedInParts(t *testing.T) {
	server := startServer(t)
	coordinator, agent := openSession(t, server, "s"), openSession(t, server, "s")
	for size, keys := range map[int]int{1: 1, partSize: 1, partSize + 1: 2, 9<<20 + 5: 10} {
		tasks, err := agent.Placements(t.Context(), strconv.Itoa(size))
		if err != nil {
			t.Fatal(err)
		}
		text := noise(size)
		if err := coordinator.Share(t.Context(), "l", text); err != nil {
			t.Fatal(err)
		}
		if err := coordinator.Share(t.Context(), "l-other", []byte("another's")); err != nil {
			t.Fatal(err)
		}
		if err := coordinator.Place(t.Context(), strconv.Itoa(size), "l", nil); err != nil {
			t.Fatal(err)
		}
		task := next(t, "the task", tasks).Task
		got, err := agent.Shared(t.Context(), task, PartsOf(text))
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%d bytes came as %d, %v", size, len(got), err)
		}
		if n := keysOf(t, agent, "s"); n != keys+2 {
			t.Errorf("%d bytes are in %d keys, want %d", size, n-2, keys)
		}
		if err := coordinator.Forget(t.Context(), "l", []string{strconv.Itoa(size)}); err != nil {
			t.Fatal(err)
		}
		if n := keysOf(t, agent, "s"); n != 1 {
			t.Errorf("%d bytes left %d keys", size, n-1)
		}
	}
}

func TestWhatIsNotWholeIsRefused(t *testing.T) {
	server := startServer(t)
	s := openSession(t, server, "s")
	text := noise(2*partSize + 100)
	parts := PartsOf(text)
	wrong := bytes.Clone(text[partSize : 2*partSize])
	wrong[77] ^= 1
	put := func(part int, value []byte) func() error {
		return func() error { return s.put(t.Context(), s.sharedKey("l")+strconv.Itoa(part), string(value)) }
	}
	for name, test := range map[string]struct {
		spoil func() error
		parts Parts
		want  string
	}{
		"missing": {func() error {
			_, err := s.client.Delete(t.Context(), s.sharedKey("l")+"1")
			return err
		}, parts, "reading what is shared of l: part 2 of 3: it is not in etcd"},
		"flipped": {put(1, wrong), parts, "part 2 of 3: it is not what was written"},
		"short":   {put(2, text[:99]), parts, "part 3 of 3: it has 99 bytes and was written with 100"},
		"long":    {put(0, text[:partSize+1]), parts, "part 1 of 3: it has 1048577 bytes and was written with 1048576"},
		"another": {put(0, text[partSize:2*partSize]), parts, "part 1 of 3: it is not what was written"},
		"no list": {put(0, nil), Parts{}, "0 bytes in 0 parts"},
		"too few": {put(0, nil), Parts{Bytes: len(text), Sums: parts.Sums[:2]}, "2097252 bytes in 2 parts"},
		"a bomb":  {put(0, nil), Parts{Bytes: 1 << 40, Sums: make([]uint32, 1<<20)}, "at most 65 parts"},
		"less":    {put(0, nil), Parts{Bytes: -1}, "-1 bytes"},
	} {
		if err := s.Share(t.Context(), "l", text); err != nil {
			t.Fatal(err)
		}
		if err := test.spoil(); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Shared(t.Context(), "l", test.parts); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %d bytes, %v, want %q", name, len(got), err, test.want)
		}
	}
	for _, text := range [][]byte{nil, make([]byte, maxParts*partSize+1)} {
		if err := s.Share(t.Context(), "long", text); err == nil || !strings.Contains(err.Error(), "sharing long: ") {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := s.Share(stopped, "l", text); err == nil || !strings.Contains(err.Error(), "writing part 1 of 3") {
		t.Errorf("without a context: %v", err)
	}
	if err := s.Wipe(false); err != nil {
		t.Fatal(err)
	}
	if n := keysOf(t, s, "s"); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}

// Parts go with the process that wrote them, as all keys do.
func TestPartsHangOnTheLease(t *testing.T) {
	server := startServer(t)
	observer := openSession(t, server, "observer")
	s, err := Open(t.Context(), []string{server.Endpoint()}, "s")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Share(t.Context(), "l", noise(3*partSize)); err != nil {
		t.Fatal(err)
	}
	if n := keysOf(t, observer, "s"); n != 3 {
		t.Errorf("%d keys, want 3", n)
	}
	if err := s.Close(false); err != nil {
		t.Fatal(err)
	}
	if n := keysOf(t, observer, "s"); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}

// The addresses of as many ranks as a launch has, of a fabric that says much: those
// that come before an agent looks, in one answer, and those that come later.
func TestAThousandRanksLearnAllAddresses(t *testing.T) {
	const ranks, size = 1024, 16 << 10
	server := startServer(t)
	all, mine := noise(ranks*size), [2]map[int][]byte{{}, {}}
	for r := range ranks {
		mine[r%2][r] = all[r*size : (r+1)*size]
	}
	first, err := openSession(t, server, "s").Meet(t.Context(), "l", ranks)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if err := first.Publish(t.Context(), mine[0]); err != nil {
		t.Fatal(err)
	}
	second, err := openSession(t, server, "s").Meet(t.Context(), "l", ranks)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := second.Publish(t.Context(), mine[1]); err != nil {
		t.Fatal(err)
	}
	for i, m := range []*Rendezvous{first, second} {
		until(t, m, func() bool { _, err := m.Addresses(); return err == nil })
		got, _ := m.Addresses()
		if !bytes.Equal(bytes.Join(got, nil), all) {
			t.Errorf("agent %d has other addresses than were published", i)
		}
	}
}

// BenchmarkShare is what a launch costs on its way through etcd, and what of it stays
// on the disk and in memory while launches follow each other.
func BenchmarkShare(b *testing.B) {
	for _, mib := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("%dMiB", mib), func(b *testing.B) {
			server := startServer(b)
			s := openSession(b, server, "s")
			text := noise(mib << 20)
			parts := PartsOf(text)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if err := s.Share(b.Context(), "l", text); err != nil {
					b.Fatal(err)
				}
				if _, err := s.Shared(b.Context(), "l", parts); err != nil {
					b.Fatal(err)
				}
				if err := s.Forget(b.Context(), "l", nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
