package native

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

// An invalid address is an error that names the peer, immediately and on every fabric, and is not passed to a
// library.
func TestDamagedAddress(t *testing.T) {
	for _, fabric := range []string{"shm", "tcp", "ucx", "libfabric"} {
		t.Run(fabric, func(t *testing.T) {
			needs(t, fabric)
			ranks, addresses := openUnequal(t, fabric, options(8), options(8))
			whole := addresses[1]
			flipped := slices.Clone(whole)
			flipped[len(flipped)/2] ^= 4
			for name, bad := range map[string][]byte{
				"empty": nil, "one byte": {7}, "cut": whole[:len(whole)-1], "flipped": flipped,
				"longer": append(slices.Clone(whole), 0),
			} {
				var e *engine.Error
				if err := ranks[0].Connect([][]byte{addresses[0], bad}); !errors.As(err, &e) || e.Peer != 1 ||
					e.Phase != "connect" || !strings.Contains(e.Text, "its address was damaged") {
					t.Errorf("%s: got %v", name, err)
				}
			}
		})
	}
}

// With the address of a dead peer a rank fails within the connect timeout. The rank is a process, because
// some libraries end it themselves.
func TestDeadAddress(t *testing.T) {
	phase.Long(t)
	for name, c := range map[string]struct {
		fabric string
		option move.Spec
		env    map[string]string
		want   string
	}{
		"shm":               {"shm", options(8), nil, "(peer 1): connecting to its socket: Connection refused"},
		"tcp":               {"tcp", options(8), nil, "(peer 1): none of its"},
		"ucx rma sockets":   {"ucx", options(8), overSockets, "(peer 1): "},
		"ucx am sockets":    {"ucx", options(8, api("am")), overSockets, "(peer 1): "},
		"ucx tag sockets":   {"ucx", options(8, api("tag")), overSockets, "(peer 1): "},
		"ucx rma of memory": {"ucx", options(8), overQueue, "(peer 1): "},
		"ucx am of memory":  {"ucx", options(8, api("am")), overQueue, "(peer 1): "},
	} {
		t.Run(name, func(t *testing.T) {
			needs(t, c.fabric)
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			l := engine.Launch{
				Fabric: c.fabric, Ranks: 2, Nodes: []string{"a", "a"},
				Cases: []engine.Case{caseOf("a", c.option, patience, 0)},
			}
			ranks := []*rankProcess{
				startRank(t, t.Context(), l, engine.Identity{}), startRank(t, t.Context(), l, engine.Identity{Rank: 1}),
			}
			ours, theirs := ranks[0].address(t), ranks[1].address(t)
			_ = ranks[1].end() // it was killed
			begin := time.Now()
			fmt.Fprintln(ranks[0].in, ours, theirs)
			ended := make(chan error, 1)
			go func() { ended <- ranks[0].cmd.Wait() }()
			select {
			case err := <-ended:
				words := ranks[0].words.String()
				t.Logf("after %v: %v: %s", time.Since(begin).Round(time.Millisecond), err, words)
				if err == nil || words == "" || !strings.Contains(words, c.want) {
					t.Errorf("ended with %v and %q, want %q", err, words, c.want)
				}
			case <-time.After(8*time.Second + 35*time.Second): // its connectTimeout is the usual one
				t.Error("hangs")
			}
			forgetSharedOf(ranks[0].cmd.Process.Pid)
		})
	}
}

// A valid address is returned unchanged.
func TestSealedAddress(t *testing.T) {
	r := &rank{member: member{fabric: "tcp"}}
	for _, text := range []string{"", "00", "deadbeef"} {
		want, _ := hex.DecodeString(text)
		if got, err := r.openAddress(1, sealAddress(slices.Clone(want))); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %x, %v", text, got, err)
		}
	}
}
