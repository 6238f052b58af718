package native

import (
	"errors"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"weir/engine"
	"weir/results"
	"weir/workload"
)

// The check must be able to fail: one byte flipped in what a rank received is
// found, and named by sender, block and offset, in every direction.
func TestVerificationFindsOneWrongByte(t *testing.T) {
	for name, c := range map[string]struct {
		option  workload.TransferOptions
		corrupt string
		want    string
	}{
		"write":                 {options(4096, batch4), "1:5000", "wrong data from rank 0 to rank 1 after an untimed pass: byte 5000 of 16384 (block 1, offset 904 in it)"},
		"read":                  {options(4096, read), "0:17", "wrong data from rank 1 to rank 0 after an untimed pass: byte 17 of 4096"},
		"last byte":             {options(1<<20 + 3), "1:1048578", "byte 1048578 of 1048579"},
		"initiator of pingpong": {options(64, pingpong), "0:3", "wrong data from rank 1"},
		"timed write":           {options(4096, batch4), "1:5000:timed", "wrong data from rank 0 to rank 1 after the timed part: byte 5000 of 16384"},
		"timed read":            {options(4096, read), "0:17:timed", "wrong data from rank 1 to rank 0 after the timed part: byte 17 of 4096"},
		"timed pingpong":        {options(100000, pingpong), "1:99998:timed", "wrong data from rank 0 to rank 1 after the timed part: byte 99998 of 99999"},
		"full":                  {options(777, full), "1:776", "byte 776 of 777"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(CorruptEnv, c.corrupt)
			_, err := tryTransfer(t, "shm", 2, c.option)
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

func TestCorruptEnvIsChecked(t *testing.T) {
	for _, text := range []string{"x", "2:0", "-1:0", "1:8", "1:-1", "1"} { // a self-test that tests nothing must not look like success
		t.Setenv(CorruptEnv, text)
		if _, err := tryTransfer(t, "shm", 2, options(8)); err == nil || !strings.Contains(err.Error(), "rank:offset") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestFourRanksInPairs(t *testing.T) {
	o := options(256<<10, func(o *workload.TransferOptions) { o.Ranks = 4; o.Iterations = 20000 })
	for _, fabric := range []string{"shm", "tcp"} {
		ranks := transfer(t, fabric, 4, o)[0]
		m, err := engine.TransferMetrics(engine.Case{Options: o}, ranks)
		if err != nil {
			t.Fatalf("%s: %v", fabric, err)
		}
		sum := 0.
		for _, r := range ranks[:2] {
			sum += float64(r.Samples.Bytes) / float64(r.Samples.End-r.Samples.Start)
		}
		if m["bandwidth.min_rank"] > sum/2*1.001 || m["bandwidth"] <= 0 {
			t.Errorf("%s: aggregate %v, least rank %v, sum of solo rates %v", fabric, m["bandwidth"], m["bandwidth.min_rank"], sum)
		}
	}
}

// A rank whose peer never comes gives up at its deadline and says whom it missed.
func TestDeadline(t *testing.T) {
	for _, fabric := range []string{"shm", "tcp"} {
		l := engine.Launch{Fabric: fabric, Ranks: 2, Nodes: []string{"a", "a"}, Cases: []engine.Case{{Key: "a", Options: options(4096), Timeout: 300e6}}}
		ranks := make([]engine.Rank, 2)
		addresses := make([][]byte, 2)
		for i := range ranks {
			var err error
			if ranks[i], err = (native{}).Open(l, engine.Identity{Rank: i}, control(t)); err != nil {
				t.Fatal(err)
			}
			if addresses[i], err = ranks[i].Address(); err != nil {
				t.Fatal(err)
			}
		}
		connected := make(chan error, 2)
		for _, r := range ranks {
			go func() { connected <- r.Connect(addresses) }()
		}
		for range ranks {
			if err := <-connected; err != nil {
				t.Fatal(err)
			}
		}
		begin := time.Now()
		_, err := ranks[0].Run(l.Cases[0]) // rank 1 stays away
		if err == nil || !strings.Contains(err.Error(), "rank 1 did not come to the barrier within 0.3 s") {
			t.Errorf("%s: got %v", fabric, err)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s: gave up after %v", fabric, took)
		}
	}
}

func TestUnsupportedIsAnError(t *testing.T) {
	vram := options(8, func(o *workload.TransferOptions) { o.Target = "vram" })
	for want, try := range map[string]func() error{
		"memory of kind vram":                   func() error { _, err := tryTransfer(t, "shm", 2, vram); return err },
		"this weir has no fabric carrierpigeon": func() error { _, err := tryTransfer(t, "carrierpigeon", 2, options(8)); return err },
		"GiB of memory on this node": func() error {
			_, err := tryTransfer(t, "shm", 2, options(1<<40))
			return err
		},
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestPeerThatClosesTCP(t *testing.T) {
	l := engine.Launch{Fabric: "tcp", Ranks: 2, Nodes: []string{"a", "a"}, Cases: []engine.Case{
		{Key: "a", Options: options(1<<20, func(o *workload.TransferOptions) { o.Iterations = 1 << 30 }), Timeout: 20e9}}}
	ctl := control(t)
	r0, err := (native{}).Open(l, engine.Identity{Rank: 0}, ctl)
	if err != nil {
		t.Fatal(err)
	}
	r1, err := (native{}).Open(l, engine.Identity{Rank: 1}, control(t))
	if err != nil {
		t.Fatal(err)
	}
	a0, _ := r0.Address()
	a1, _ := r1.Address()
	done := make(chan error, 2)
	for _, r := range []engine.Rank{r0, r1} {
		go func() { done <- r.Connect([][]byte{a0, a1}) }()
	}
	if err := errors.Join(<-done, <-done); err != nil {
		t.Fatal(err)
	}
	r1.(*rank).breakConnections()
	if _, err := r0.Run(l.Cases[0]); err == nil || !strings.Contains(err.Error(), "peer 1") {
		t.Errorf("got %v, want the peer named", err)
	}
}

// The C recorder and hdrhistogram-go must put every value into the same counter.
func TestRecorderIsHdrHistogram(t *testing.T) {
	h := hdr.New(1, results.HistogramHighest, 3)
	if n := len(h.Export().Counts); n != histogramCounts() {
		t.Fatalf("C has %d counters, HdrHistogram %d", histogramCounts(), n)
	}
	for _, v := range []int64{0, 1, 1023, 1024, 2047, 2048, 2049, 4095, 4096, 1e6, 123456789, 1<<39 + 12345, results.HistogramHighest} {
		h.Reset()
		if err := h.RecordValue(v); err != nil {
			t.Fatal(err)
		}
		want := -1
		for i, n := range h.Export().Counts {
			if n != 0 {
				want = i
			}
		}
		if got := histogramIndex(v); got != want {
			t.Errorf("value %d: C counts it at %d, HdrHistogram at %d", v, got, want)
		}
	}
}

func TestPatternTellsPlaceAndKey(t *testing.T) {
	for _, n := range []int{1, 7, 8, 9, 4096, 5000, 8192*3 + 5} {
		for at := 0; at < n; at += max(1, n/13) {
			if got := patternCheckFlipped(n, at); got != at {
				t.Errorf("%d bytes, flipped at %d: found at %d", n, at, got)
			}
		}
		if got := patternCheckFlipped(n, -1); got != -1 {
			t.Errorf("%d good bytes: fault found at %d", n, got)
		}
	}
}
