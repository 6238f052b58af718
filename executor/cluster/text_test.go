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
	for _, test := range []struct{ size, readers, keys int }{
		{1, 1, 0}, {shortText, 1000, 0}, {shortText + 1, 1000, 1}, {partSize, 1, 0}, {partSize/2 + 1, 2, 1},
		{partSize + 1, 1, 2}, {9<<20 + 5, 1, 19},
	} {
		node := strconv.Itoa(test.size)
		tasks, err := agent.Placements(t.Context(), node)
		if err != nil {
			t.Fatal(err)
		}
		text := noise(test.size)
		where := TextFor(text, test.readers)
		if err := coordinator.Share(t.Context(), "l", where, text); err != nil {
			t.Fatal(err)
		}
		another := noise(shortText + 1)
		if err := coordinator.Share(t.Context(), "l-other", TextFor(another, partSize), another); err != nil {
			t.Fatal(err)
		}
		if err := coordinator.Place(t.Context(), "l", map[string][]byte{node: nil}); err != nil {
			t.Fatal(err)
		}
		task := next(t, "the task", tasks).Task
		got, err := agent.Shared(t.Context(), task, where)
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%d bytes came as %d, %v", test.size, len(got), err)
		}
		if n := keysOf(t, agent, "s"); n != test.keys+2 {
			t.Errorf("%d bytes are in %d keys, want %d", test.size, n-2, test.keys)
		}
		if err := coordinator.Forget(t.Context(), "l", []string{node}); err != nil {
			t.Fatal(err)
		}
		if n := keysOf(t, agent, "s"); n != 1 {
			t.Errorf("%d bytes left %d keys", test.size, n-1)
		}
	}
}

func TestWhatIsNotWholeIsRefused(t *testing.T) {
	server := startServer(t)
	s := openSession(t, server, "s")
	text := noise(2*partSize + 100)
	where := TextFor(text, 1)
	wrong := bytes.Clone(text[partSize : 2*partSize])
	wrong[77] ^= 1
	put := func(part int, value []byte) func() error {
		return func() error { return s.put(t.Context(), partKey(s.sharedKey("l"), part), value) }
	}
	untouched := func() error { return nil }
	for name, test := range map[string]struct {
		spoil func() error
		where Text
		want  string
	}{
		"missing": {func() error {
			_, err := s.client.Delete(t.Context(), partKey(s.sharedKey("l"), 1))
			return err
		}, where, "reading what is shared of l: part 2 of 3: it is not in etcd"},
		"flipped": {put(1, wrong), where, "part 2 of 3: it is not what was written"},
		"short":   {put(2, text[:99]), where, "part 3 of 3: it has 99 bytes and was written with 100"},
		"long": {put(0, text[:partSize+1]), where,
			"part 1 of 3: it has 524289 bytes and was written with 524288"},
		"another": {put(0, text[partSize:2*partSize]), where, "part 1 of 3: it is not what was written"},
		"nowhere": {untouched, Text{}, "it is nowhere"},
		"no list": {untouched, Text{Parts: &Parts{}}, "0 bytes in 0 parts"},
		"too few": {untouched, Text{Parts: &Parts{Bytes: len(text), Sums: where.Parts.Sums[:2]}},
			"1048676 bytes in 2 parts"},
		"a bomb": {untouched, Text{Parts: &Parts{Bytes: 1 << 40, Sums: make([][]byte, 1<<21)}}, "at most 130 parts"},
		"less":   {untouched, Text{Parts: &Parts{Bytes: -1}}, "-1 bytes"},
		"both":   {untouched, Text{Parts: where.Parts, Inline: []byte("x")}, "1 bytes are not in parts"},

		"long inline": {untouched, Text{Inline: text}, "1048676 bytes are not in parts"},
	} {
		if err := s.Share(t.Context(), "l", where, text); err != nil {
			t.Fatal(err)
		}
		if err := test.spoil(); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Shared(t.Context(), "l", test.where); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %d bytes, %v, want %q", name, len(got), err, test.want)
		}
	}
	for _, text := range [][]byte{nil, make([]byte, maxParts*partSize+1)} {
		if err := s.Share(t.Context(), "long", TextFor(text, 1), text); err == nil ||
			!strings.Contains(err.Error(), "sharing long: ") {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := s.Share(stopped, "l", where, text); err == nil || !strings.Contains(err.Error(), "writing part 1 of 3") {
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
	s, err := Open(t.Context(), server.Config(), "s")
	if err != nil {
		t.Fatal(err)
	}
	text := noise(3 * partSize)
	if err := s.Share(t.Context(), "l", TextFor(text, 1), text); err != nil {
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

// BenchmarkShare is what a launch costs on its way through etcd, and what of it stays
// on the disk and in memory while launches follow each other.
func BenchmarkShare(b *testing.B) {
	for _, mib := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("%dMiB", mib), func(b *testing.B) {
			server := startServer(b)
			s := openSession(b, server, "s")
			text := noise(mib << 20)
			where := TextFor(text, 1)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if err := s.Share(b.Context(), "l", where, text); err != nil {
					b.Fatal(err)
				}
				if _, err := s.Shared(b.Context(), "l", where); err != nil {
					b.Fatal(err)
				}
				if err := s.Forget(b.Context(), "l", nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
