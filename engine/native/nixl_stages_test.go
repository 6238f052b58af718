package native

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
	"github.com/weir-bench/weir/workload/transfer"
)

// slowCall is how long the fake sleeps in the call selected by a test, in seconds. No machine shortens that,
// but the measuring clock has a calibrated rate, with an error of up to a thousandth.
const (
	slowCall  = 2e-3
	slowLeast = slowCall * 0.999
)

var recreated, prepared, reregistered = withOptions("nixl_recreate", "true"), withOptions("nixl_prepared", "true"),
	withOptions("nixl_reregister", "true")

// slowLaunches returns few requests of all shapes; the window is one, because with more the transfer of one
// lasts as long as the posting of the next. A shape that occurs twice in a launch is created for each of its
// cases; requests missing when a timed part begins are created there.
func slowLaunches() [][]move.Spec {
	few := func(o *move.Spec) { o.Iterations, o.Warmup, o.InFlight = 6, 2, 1 }
	cold := func(o *move.Spec) { o.Verify, o.Warmup, o.BlockSize = "none", 0, quantity.Size(48<<10) }
	of := func(change ...func(*move.Spec)) move.Spec {
		return options(64<<10, append([]func(*move.Spec){few}, change...)...)
	}
	batch := func(o *move.Spec) { o.Batch = 64 }
	return [][]move.Spec{
		{of(), of(), of(read), of(batch), of(read, batch), of(pingpong)},
		{of(cold), of(cold, read), of(cold, pingpong)},
		{of(recreated), of(recreated, read), of(recreated, batch), of(recreated, pingpong)},
	}
}

// slowMakings returns few requests, created in another way in each launch.
func slowMakings(how func(*move.Spec)) [][]move.Spec {
	var all [][]move.Spec
	for _, l := range slowLaunches()[:2] {
		for k := range l {
			how(&l[k])
		}
		all = append(all, l)
	}
	return all
}

// nixlSlow checks each case's metrics. Times are compared with each other or have a lower bound; since a busy
// machine lengthens the other one, there are five tries.
func nixlSlow(t *testing.T, launches [][]move.Spec, right func(m map[string]float64) bool) error {
	var err error
	for _, l := range launches {
		for range 5 {
			if err = nixlSlowLaunch(t, l, right); err == nil {
				break
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func nixlSlowLaunch(t *testing.T, l []move.Spec, right func(m map[string]float64) bool) error {
	ranks, wrong := tryCases(t, "nixl", 2, l...)
	for k, r := range ranks {
		o := l[k]
		m, err := transfer.Metrics(o, r)
		if err == nil && !right(m) {
			err = fmt.Errorf("%s %s of %d x %v, verify %s, %+v: prep.lists %v, prep.reregister %v, prep.request %v, post.avg %v, transfer.avg %v, latency.p50 %v",
				o.Mode, o.Op, o.Batch, o.BlockSize,
				o.Verify, o.FabricOptions, m["prep.lists"], m["prep.reregister"], m["prep.request"], m["post.avg"],
				m["transfer.avg"], m["latency.p50"])
		}
		wrong = errors.Join(wrong, err)
	}
	return wrong
}

// Creating a request is part neither of its posting nor of its latency.
func nixlSlowCreate(t *testing.T) error {
	return nixlSlow(t, slowLaunches(), func(m map[string]float64) bool {
		return m["prep.request"] >= slowLeast && m["prep.request.p99"] >= slowLeast &&
			m["post.avg"] < m["prep.request"] && m["latency.p50"] < m["prep.request"]
	})
}

func nixlSlowPost(t *testing.T) error {
	return nixlSlow(t, slowLaunches(), func(m map[string]float64) bool {
		return m["post.avg"] >= slowLeast && m["transfer.avg"] < m["post.avg"] && m["prep.request"] < m["post.avg"]
	})
}

func nixlSlowStatus(t *testing.T) error {
	return nixlSlow(t, slowLaunches(), func(m map[string]float64) bool {
		return m["transfer.avg"] >= slowLeast && m["post.avg"] < m["transfer.avg"] &&
			m["prep.request"] < m["transfer.avg"]
	})
}

// Both lists are prepared slowly, and creating a request from them is faster than that.
func nixlSlowLists(t *testing.T) error {
	return nixlSlow(t, slowMakings(prepared), func(m map[string]float64) bool {
		return m["prep.lists"] >= 2*slowLeast && m["prep.lists.p99"] >= 2*slowLeast &&
			m["prep.request"] < m["prep.lists"] && m["post.avg"] < m["prep.lists"] && m["latency.p50"] < m["prep.lists"]
	})
}

func nixlSlowRegister(t *testing.T) error {
	return nixlSlow(t, slowMakings(reregistered), func(m map[string]float64) bool {
		slow := m["prep.reregister"]
		return slow >= slowLeast && m["prep.reregister.p99"] >= slowLeast && m["prep.request"] < slow &&
			m["post.avg"] < slow && m["latency.p50"] < slow
	})
}

// The time of each of NIXL's calls is in its own column.
func TestNixlStages(t *testing.T) {
	phase.Rest(t)
	lib := "WEIR_NIXL_LIBRARY=" + fakeNixl(t)
	for call, env := range map[string]string{
		"create": "CREATE", "post": "POST", "status": "STATUS", "lists": "PREP", "register": "REGISTER",
	} {
		t.Run(call, func(t *testing.T) {
			out := nixlChild(t, "slow "+call, lib, "FAKE_NIXL_POLLS=1",
				fmt.Sprintf("FAKE_NIXL_%s_MS=%d", env, int(slowCall*1e3)))
			if !strings.Contains(out, "FINE") {
				t.Error(out)
			}
		})
	}
}

// nixlSlowCells has two cells of one sender with three shards each: the last is posted like the first, before
// the iteration's posting is over.
func nixlSlowCells(t *testing.T) error {
	o := trafficOf(matrixOf(t, 3, matrix.Cell{From: 0, To: 1, Bytes: 3000}, matrix.Cell{From: 0, To: 2, Bytes: 3000}),
		sharded(3))
	for _, change := range []func(*move.Spec){func(*move.Spec) {}, read} {
		change(&o)
		all, err := tryCases(t, "nixl", 3, o)
		if err != nil {
			return err
		}
		cells := map[string]float64{"write": 2, "read": 1}[o.Op]
		for _, r := range all[0] {
			if r.Initiator && (r.Stages.Post.Mean < cells*slowLeast || r.Stages.Prepare < slowLeast) {
				return fmt.Errorf("%s: rank %d posts %v cells in %v s, and makes one in %v s", o.Op, r.Rank, cells,
					r.Stages.Post.Mean, r.Stages.Prepare)
			}
		}
	}
	return nil
}

func TestNixlStagesOfAMatrix(t *testing.T) {
	phase.Long(t)
	slow := fmt.Sprint(int(slowCall * 1e3))
	if out := nixlChild(t, "slow cells", "WEIR_NIXL_LIBRARY="+fakeNixl(t), "FAKE_NIXL_POLLS=1",
		"FAKE_NIXL_CREATE_MS="+slow, "FAKE_NIXL_POST_MS="+slow); !strings.Contains(out, "FINE") {
		t.Error(out)
	}
}

// nixlRecreate is a write and a read of 16 KiB in four blocks: 211 requests each, of the timed part, of the
// warm-up and of the pass that verifies.
func nixlRecreate(changes ...func(*move.Spec)) func(t *testing.T) error {
	return func(t *testing.T) error {
		var cases []move.Spec
		for _, op := range []func(*move.Spec){func(*move.Spec) {}, read} {
			cases = append(cases, options(4096, append([]func(*move.Spec){batch4, op}, changes...)...))
		}
		_, err := tryCases(t, "nixl", 2, cases...)
		return err
	}
}

// A batch is one request with all its blocks, created once per place in the window and posted again after
// that; or it is created anew, its lists prepared and its memory registered as often as requested. Nothing is
// left at the end.
func TestNixlMakes(t *testing.T) {
	phase.Long(t)
	lib := "WEIR_NIXL_LIBRARY=" + fakeNixl(t)
	const there, blocks, bytes = "list weir-rank-1 4 x 4096", "list here 4 x 4096", "registered 16384"
	for child, want := range map[string]map[string]int{
		"batch":      {"write 4 x 4096": 3},
		"recreate":   {"write 4 x 4096": 211, "read 4 x 4096": 211},
		"prepared":   {"write 4 x 4096 prepared": 3, "read 4 x 4096 prepared": 3, blocks: 2, there: 2},
		"both":       {"write 4 x 4096 prepared": 211, "read 4 x 4096 prepared": 211, blocks: 2, there: 2},
		"reregister": {"write 4 x 4096": 211, "read 4 x 4096": 211, bytes: 422, "de" + bytes: 422},
	} {
		t.Run(child, func(t *testing.T) {
			trace := filepath.Join(t.TempDir(), "trace")
			out := nixlChild(t, child, lib, "FAKE_NIXL_TRACE="+trace, "FAKE_NIXL_POLLS=3")
			b, err := os.ReadFile(trace)
			if err != nil || !strings.Contains(out, "FINE") {
				t.Fatal(err, out)
			}
			got, requests, most, registered := map[string]int{}, 0, 0, 0
			for line := range strings.Lines(string(b)) {
				line = strings.TrimSpace(line)
				switch verb, what, _ := strings.Cut(line, " "); {
				case verb == "registered":
					registered++
				case verb == "deregistered":
					registered--
				case !strings.Contains(what, "4 x 4096") || verb == "list":
				case verb == "released":
					requests--
					continue
				default:
					requests++
					most = max(most, requests)
				}
				// a batch that was split would be here too
				if strings.Contains(line, " x 4096") || strings.HasSuffix(line, bytes) {
					got[line]++
				}
			}
			want[bytes] += 2 // the control regions of two ranks have as many bytes
			want["de"+bytes] += 2
			if !maps.Equal(got, want) || most > 3 || requests != 0 || registered != 0 {
				t.Errorf("%v, want %v; at most %d requests at a time, %d left; %d registrations left", got, want, most,
					requests, registered)
			}
		})
	}
}

// If the fabric prepares no requests itself, a ping-pong has none, whatever streams came before it: no
// metric, and no 0.
func TestPingPongMakesNoRequests(t *testing.T) {
	phase.Long(t)
	cases := []move.Spec{options(4096), options(4096, pingpong)}
	for _, fabric := range []string{"shm", "tcp"} {
		var has []bool
		for k, ranks := range runCases(t, fabric, 2, cases...) {
			m, err := transfer.Metrics(cases[k], ranks)
			if err != nil {
				t.Fatal(err)
			}
			_, ok := m["prep.request"]
			has = append(has, ok)
			if _, ok := m["prep.request.p99"]; ok {
				t.Errorf("%s makes requests by itself", fabric)
			}
		}
		if !slices.Equal(has, []bool{true, false}) {
			t.Errorf("%s: prep.request of a stream and a ping-pong: %v", fabric, has)
		}
	}
}
