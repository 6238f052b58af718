package native

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

// A rank without its peer fails at its deadline and names the peer.
func TestDeadline(t *testing.T) {
	for _, fabric := range []string{"shm", "tcp"} {
		l := engine.Launch{
			Fabric: fabric, Ranks: 2, Nodes: []string{"a", "a"},
			Cases: []engine.Case{caseOf("a", options(4096), 300e6, 0)},
		}
		ranks, err := connectedPair(t, l)
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		_, err = ranks[0].measure(l.Cases[0].Key) // rank 1 stays away
		if err == nil || !strings.Contains(err.Error(), "rank 1 did not reach the barrier within 0.3 s") {
			t.Errorf("%s: got %v", fabric, err)
		}
		if took := time.Since(begin); took > 35*time.Second {
			t.Errorf("%s: gave up after %v", fabric, took)
		}
	}
}

func TestUnsupportedIsAnError(t *testing.T) {
	vram := options(8, func(o *move.Spec) { o.Target = "vram" })
	for want, try := range map[string]func() error{
		"fabric shm moves host memory only": func() error { _, err := tryCases(t, "shm", 2, vram); return err },

		"this version of weir has no fabric carrierpigeon": func() error {
			_, err := tryCases(t, "carrierpigeon", 2, options(8))
			return err
		},
		"fabric ucx allocates the buffers itself and has no pages 2MiB": func() error {
			_, err := tryCases(t, "ucx", 2, options(8, func(o *move.Spec) { o.Pages = "2MiB" }))
			return err
		},
		"fabric shm has no alloc heap": func() error { _, err := tryCases(t, "shm", 2, options(8, heap)); return err },
		"GiB of memory on this node": func() error {
			_, err := tryCases(t, "shm", 2, options(1<<40))
			return err
		},
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// If one of several ranks does not come, the others name it.
func TestOneOfFourStaysAway(t *testing.T) {
	phase.Long(t)
	o := options(4096, withPattern("all_to_all", 4))
	for _, fabric := range []string{"shm", "tcp"} {
		l, ranks := openConnected(t, fabric, slices.Repeat([]string{"a"}, 4), o)
		for _, r := range ranks {
			r.launch.Cases[0].Timeout = 3e9
		}
		errs := make(chan error, 4)
		run := func(r *rank) { _, err := r.measure(l.Cases[0].Key); errs <- err }
		named, ended := false, 0
		end := func(err error) {
			ended++
			if err == nil {
				t.Errorf("%s: a rank came through without rank 3", fabric)
				return
			}
			named = named || strings.Contains(err.Error(), "rank 3 did not reach the barrier")
		}
		go run(ranks[1])
		go run(ranks[2])
		for _, r := range ranks[1:3] { // rank 0 waits for them first, and must not time out on them
			for ended == 0 && r.control.Phase.Load() < engine.PhaseVerify {
				select {
				case err := <-errs:
					end(err)
				case <-time.After(time.Millisecond):
				}
			}
		}
		go run(ranks[0])
		for ended < 3 {
			end(<-errs)
		}
		if !named {
			t.Errorf("%s: no rank names rank 3", fabric)
		}
	}
}
