package native

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"weir/engine"
	"weir/test/phase"
	"weir/workload/move"
)

// The check must be able to fail: one byte flipped in what a rank received is
// found, and named by sender, block and offset, in every direction.
func TestVerificationFindsOneWrongByte(t *testing.T) {
	phase.NotUnderRace(t)
	for name, c := range map[string]struct {
		option  move.Spec
		corrupt string
		want    string
	}{
		"write": {options(4096, batch4), "1:5000",
			"wrong data from rank 0 to rank 1 after an untimed pass: byte 5000 of 16384 (block 1, offset 904 in it)"},
		"read": {options(4096, read), "0:17",
			"wrong data from rank 1 to rank 0 after an untimed pass: byte 17 of 4096"},
		"last byte":             {options(1<<20 + 3), "1:1048578", "byte 1048578 of 1048579"},
		"initiator of pingpong": {options(64, pingpong), "0:3", "wrong data from rank 1"},
		"timed write": {options(4096, batch4), "1:5000:timed",
			"wrong data from rank 0 to rank 1 after the timed part: byte 5000 of 16384"},
		"timed read": {options(4096, read), "0:17:timed",
			"wrong data from rank 1 to rank 0 after the timed part: byte 17 of 4096"},
		"short timed pingpong": {options(48, pingpong), "0:46:timed",
			"wrong data from rank 1 to rank 0 after the timed part: byte 46 of 47"},
		"timed pingpong": {options(100000, pingpong), "1:99998:timed",
			"wrong data from rank 0 to rank 1 after the timed part: byte 99998 of 99999"},
		"full": {options(777, full), "1:776", "byte 776 of 777"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(CorruptEnv, c.corrupt)
			_, err := tryCases(t, "shm", 2, c.option)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			var e *engine.Error
			if !errors.As(err, &e) || e.Phase != "verify" {
				t.Errorf("phase of %+v is not verify", e)
			}
		})
	}
}

// A self-test that tests nothing must not look like success.
func TestCorruptEnvIsChecked(t *testing.T) {
	phase.NotUnderRace(t)
	unverified := func(o *move.Spec) { o.Verify = "none" }
	pair, pings, beyond := []move.Spec{options(8)}, []move.Spec{options(8, pingpong)},
		"of one of 2 ranks and 8 bytes that it receives"
	for name, c := range map[string]struct {
		corrupt string
		cases   []move.Spec
		want    string
	}{
		"no place":         {"x", pair, "not rank:offset or rank:offset:timed of one of 2 ranks"},
		"no offset":        {"1", pair, "not rank:offset"},
		"no such rank":     {"2:0", pair, "not rank:offset"},
		"rank before":      {"-1:0", pair, "not rank:offset"},
		"offset before":    {"1:-1", pair, "not rank:offset"},
		"beyond":           {"1:8", pair, beyond},
		"beyond a ping":    {"1:8", pings, beyond},
		"receives nothing": {"0:0", pair, "of one of 2 ranks and 0 bytes that it receives"},
		"number of a ping": {"0:7:timed", pings, "the last byte of a message may be its number"},
		"of a later thread": {"0:15:timed", []move.Spec{options(8, pingpong, threaded(2))},
			"the last byte of a message may be its number"},
		"not verified":   {"1:0", []move.Spec{options(8), options(8, unverified)}, "case b verifies nothing"},
		"smaller case":   {"1:10", []move.Spec{options(8), options(16)}, "different bytes in cases a and b"},
		"larger case":    {"1:0", []move.Spec{options(16), options(16, batch4)}, "different bytes in cases a and b"},
		"other receiver": {"1:0", []move.Spec{options(8), options(8, read)}, "different bytes in cases a and b"},

		"before a ping ends": {"1:6:timed", pings,
			"wrong data from rank 0 to rank 1 after the timed part: byte 6 of 7"},
		"untimed ping": {"1:7", pings, "wrong data from rank 0 to rank 1 after an untimed pass: byte 7 of 8"},
	} {
		t.Setenv(CorruptEnv, c.corrupt)
		if _, err := tryCases(t, "shm", 2, c.cases...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// A rank whose peer never comes gives up at its deadline and says whom it missed.
func TestDeadline(t *testing.T) {
	phase.NotUnderRace(t)
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
		if err == nil || !strings.Contains(err.Error(), "rank 1 did not come to the barrier within 0.3 s") {
			t.Errorf("%s: got %v", fabric, err)
		}
		if took := time.Since(begin); took > 35*time.Second {
			t.Errorf("%s: gave up after %v", fabric, took)
		}
	}
}

func TestUnsupportedIsAnError(t *testing.T) {
	phase.NotUnderRace(t)
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

// Where one of several ranks does not come, the others say which.
func TestOneOfFourStaysAway(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	o := options(4096, under("all_to_all", 4))
	for _, fabric := range []string{"shm", "tcp"} {
		l, ranks := opened(t, fabric, slices.Repeat([]string{"a"}, 4), o)
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
			named = named || strings.Contains(err.Error(), "rank 3 did not come to the barrier")
		}
		go run(ranks[1])
		go run(ranks[2])
		for _, r := range ranks[1:3] { // rank 0 waits for them first, and must not miss them
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
			t.Errorf("%s: nobody names rank 3", fabric)
		}
	}
}
