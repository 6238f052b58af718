package cluster

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"weir/executor/wire"
)

// until waits for news until done says so.
func until(t testing.TB, r *Rendezvous, done func() bool) {
	t.Helper()
	deadline := time.After(60 * time.Second)
	for !done() {
		select {
		case <-r.Changed():
			if err := r.Broken(); err != nil {
				t.Fatal(err)
			}
		case <-deadline:
			t.Fatal("what the test waits for did not happen")
		}
	}
}

// byRank names the nodes of ranks that are dealt to them one by one.
func byRank(nodes, ranks int) []string {
	var names []string
	for r := range ranks {
		names = append(names, fmt.Sprintf("n%d", r%nodes))
	}
	return names
}

// ranksOf are those of a node.
func ranksOf(nodes []string, node string) (mine []int) {
	for r, n := range nodes {
		if n == node {
			mine = append(mine, r)
		}
	}
	return mine
}

func meet(t testing.TB, s *Session, node string, nodes []string) *Rendezvous {
	t.Helper()
	m, err := s.Meet(t.Context(), "l", node, ranksOf(nodes, node), len(nodes))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func host(t testing.TB, s *Session, nodes []string) *Host {
	t.Helper()
	h, err := s.Host(t.Context(), "l", nodes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// addressesOf are addresses of so many bytes of a node's ranks.
func addressesOf(nodes []string, node string, all []byte) map[int][]byte {
	own, size := map[int][]byte{}, len(all)/len(nodes)
	for _, r := range ranksOf(nodes, node) {
		own[r] = all[r*size : (r+1)*size]
	}
	return own
}

// Short addresses travel with the word that they are there; those of as many ranks as a
// launch has, of a fabric that says much, in pages both ways.
func TestRanksOfTwoNodesMeet(t *testing.T) {
	for name, test := range map[string]struct{ ranks, size int }{"short": {130, 30}, "long": {1024, 16 << 10}} {
		t.Run(name, func(t *testing.T) {
			server := startServer(t)
			nodes, all := byRank(2, test.ranks), noise(test.ranks*test.size)
			coordinator := openSession(t, server, "s")
			h := host(t, coordinator, nodes)
			first := meet(t, openSession(t, server, "s"), "n0", nodes)
			if err := first.Publish(t.Context(), addressesOf(nodes, "n0", all)); err != nil {
				t.Fatal(err)
			}
			if err := first.Arrive(t.Context()); err != nil { // which must open nothing: nobody is connected yet
				t.Fatal(err)
			}
			second := meet(t, openSession(t, server, "s"), "n1", nodes)
			missing, err := second.Missing(t.Context())
			if err != nil || missing.What != theAddresses || len(missing.Ranks) != test.ranks/2 ||
				missing.Ranks[0] != 1 {
				t.Errorf("n0 has published and n1 has not, but %v is missing (%v)", missing, err)
			}
			if err := second.Publish(t.Context(), addressesOf(nodes, "n1", all)); err != nil {
				t.Fatal(err)
			}
			for i, m := range []*Rendezvous{first, second} {
				until(t, m, func() bool { return m.Addresses() != nil })
				if told, err := wire.DecodePeers(m.Addresses(), test.ranks); err != nil ||
					!bytes.Equal(bytes.Join(told, nil), all) {
					t.Errorf("node %d has other addresses than were published", i)
				}
				if m.Started() {
					t.Error("one node is not connected, and the launch has started")
				}
			}
			missing, err = first.Missing(t.Context())
			if err != nil || missing.What != theConnections || len(missing.Ranks) != test.ranks/2 ||
				missing.Ranks[0] != 1 {
				t.Errorf("n0 is connected and n1 is not, but %v is missing (%v)", missing, err)
			}
			if diff := cmp.Diff(missing, h.Missing()); diff != "" {
				t.Errorf("the host knows another truth: %s", diff)
			}
			if err := second.Arrive(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, m := range []*Rendezvous{first, second} {
				until(t, m, m.Started)
			}
			if missing, err := first.Missing(t.Context()); missing != nil || err != nil || h.Missing() != nil {
				t.Errorf("all have come, but %v is missing (%v)", missing, err)
			}
			h.Close()
			if err := coordinator.Forget(t.Context(), "l", []string{"n0", "n1"}); err != nil {
				t.Fatal(err)
			}
			if n := keysOf(t, coordinator, "s"); n != 0 {
				t.Errorf("the launch left %d keys", n)
			}
		})
	}
}

func TestMissingRanksAreNamed(t *testing.T) {
	for _, test := range []struct {
		ranks int
		want  string
	}{
		{1, "addresses: waiting for rank 0"}, {2, "addresses: waiting for ranks 0, 1"},
		{11, "addresses: waiting for ranks 0, 1, 2, 3, 4, 5, 6, 7 and 3 more"},
	} {
		none := func(int) bool { return false }
		if got := missingOf(test.ranks, none, none).Error(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// A node that says something that cannot be ends the launch on all nodes, and is named.
func TestNodeThatLiesEndsTheLaunch(t *testing.T) {
	nodes := []string{"n0", "n1", "n1"}
	book := func(own map[int][]byte, text *Text) []byte {
		b := addressBook{Text: TextFor(encodeAddresses(own), 1)}
		if text != nil {
			b.Text = *text
		}
		value, err := b.encode()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	for name, test := range map[string]struct {
		value []byte
		want  string
	}{
		"another's rank": {book(map[int][]byte{0: nil, 1: nil}, nil), "node n1: reading addresses: they make no sense"},

		"too few": {book(map[int][]byte{1: nil}, nil), "node n1 has the addresses of 1 ranks that are not its own 2"},

		"no such rank": {book(map[int][]byte{1: nil, 3: nil}, nil), "node n1: reading addresses: they make no sense"},
		"nonsense":     {[]byte("nonsense"), "node n1: reading addresses: they make no sense"},
		"nowhere":      {book(nil, &Text{}), "node n1: reading addresses: it is nowhere"},
		"not there": {book(nil, &Text{Parts: &Parts{Bytes: 1, Sums: [][]byte{nil}}}),
			"node n1: part 1 of 1: it is not in etcd"},
		"a bomb": {book(nil, &Text{Parts: &Parts{Bytes: 1 << 40}}), "at most 130 parts are allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			server := startServer(t)
			s := openSession(t, server, "s")
			host(t, s, nodes)
			m := meet(t, s, "n0", nodes)
			if err := m.Publish(t.Context(), map[int][]byte{0: []byte("here")}); err != nil {
				t.Fatal(err)
			}
			if err := s.put(t.Context(), s.launchKey("l")+upDir+"n1/"+addressesKey, test.value); err != nil {
				t.Fatal(err)
			}
			until(t, m, func() bool { _, aborted := m.Aborted(); return aborted })
			if reason, _ := m.Aborted(); !strings.Contains(reason, test.want) {
				t.Errorf("%q, want %q", reason, test.want)
			}
		})
	}
}

func TestAbortOfALaunchIsSeenByLateComers(t *testing.T) {
	server := startServer(t)
	s := openSession(t, server, "s")
	nodes := byRank(2, 2)
	for _, reason := range []string{"rank 1 died", "rank 0 heard nothing"} {
		if err := s.Abort(t.Context(), "l", reason); err != nil {
			t.Fatal(err)
		}
	}
	if got, ok := meet(t, s, "n0", nodes).Aborted(); !ok || got != "rank 1 died" {
		t.Errorf("got %q, %v", got, ok)
	}
}

func FuzzAddresses(f *testing.F) {
	f.Add([]byte{}, uint16(4))
	f.Add(encodeAddresses(map[int][]byte{0: []byte("a"), 3: nil, 300: noise(500)}), uint16(512))
	f.Fuzz(func(t *testing.T, text []byte, below uint16) {
		got := make([][]byte, below)
		known, err := decodeAddresses(text, got)
		if err != nil {
			return
		}
		of := map[int][]byte{}
		for rank, address := range got {
			if address != nil {
				of[rank] = address
			}
		}
		again := make([][]byte, below)
		n, err := decodeAddresses(encodeAddresses(of), again)
		if diff := cmp.Diff(got, again); diff != "" || n != known || n != len(of) || err != nil {
			t.Errorf("%d and %d addresses: %s (%v)", known, n, diff, err)
		}
	})
}

// What is written where nodes look for addresses is read within bounds, or refused.
func FuzzAddressBook(f *testing.F) {
	for _, b := range []addressBook{
		{Ranks: []int{0, 1}, Text: TextFor(encodeAddresses(map[int][]byte{0: []byte("a"), 1: nil}), 1)},
		{Text: TextFor(noise(partSize+1), 1)}, {Text: Text{Parts: &Parts{Bytes: 1 << 40}}},
	} {
		value, err := b.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(value)
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, value []byte) {
		b, err := readAddressBook(value)
		if err != nil {
			return
		}
		if err := b.Text.check(); err != nil {
			t.Error(err)
		}
		again, err := b.encode()
		if err == nil {
			_, err = readAddressBook(again)
		}
		if err != nil {
			t.Errorf("what is read cannot be written: %v", err)
		}
	})
}
