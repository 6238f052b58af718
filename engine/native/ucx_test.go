package native

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"weir/quantity"
	"weir/test/phase"
	"weir/workload/move"
)

func api(name string) func(*move.Spec) {
	return having("api", name)
}

func window(n int64) func(*move.Spec) {
	return func(o *move.Spec) { o.InFlight = n }
}

var (
	overSockets = map[string]string{"UCX_TLS": "tcp", "UCX_NET_DEVICES": "lo"}
	// of shared memory: with a copy by the receiver's kernel, through a queue, and with
	// every message, however small, announced before it is fetched
	overKernel, overQueue, announced = map[string]string{"UCX_TLS": "posix,cma"}, map[string]string{"UCX_TLS": "posix"},
		map[string]string{"UCX_RNDV_THRESH": "0"}
)

// overUCX runs a test with each API that sends messages in these environments; with
// tag_sync, which differs from tag in one call, in the first of them.
func overUCX(t *testing.T, test func(t *testing.T, api string), envs ...map[string]string) {
	needs(t, "ucx")
	for i, env := range envs {
		for _, name := range []string{"am", "tag", "tag_sync"} {
			if name == "tag_sync" && i > 0 {
				continue
			}
			t.Run(fmt.Sprint(name, " ", env), func(t *testing.T) {
				for k, v := range env {
					t.Setenv(k, v)
				}
				test(t, name)
			})
		}
	}
}

// Every size, batch and window arrives where it belongs, byte for byte, in every
// iteration; what is read back says which API carried it.
func TestUCXMovesEveryByte(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	overUCX(t, func(t *testing.T, name string) {
		var cases []move.Spec
		for _, size := range []quantity.Size{1, 8, 333, 4096, 8192, 9000, 64<<10 + 1, 1 << 20} {
			for _, how := range [][]func(*move.Spec){{}, {batch4, window(3)}, {window(1)}, {window(100)}, {pingpong}} {
				cases = append(cases, options(size, append(how, full, api(name))...))
			}
		}
		big := func(o *move.Spec) { o.Iterations, o.Warmup, o.InFlight = 3, 1, 2 }
		for _, how := range []func(*move.Spec){func(*move.Spec) {}, pingpong} {
			cases = append(cases, options(64<<20, full, big, how, api(name)))
		}
		checkTransfer(t, "ucx", cases)
	}, overKernel, overQueue, overSockets, announced)
}

// A request as one message of a list of its blocks, over transports that take lists as they
// are, that have them copied first, and that fetch them.
func TestUCXLists(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	needs(t, "ucx")
	many := func(o *move.Spec) { o.Batch = 300 }
	for _, env := range []map[string]string{overQueue, overKernel, {"UCX_TLS": "tcp"}, announced} {
		for _, name := range []string{"tag", "tag_sync"} {
			t.Run(fmt.Sprint(name, " ", env), func(t *testing.T) {
				for k, v := range env {
					t.Setenv(k, v)
				}
				list := having("api", name, "datatype", "iov")
				checkTransfer(t, "ucx", []move.Spec{
					options(1, list, batch4, full), options(4097, list, batch4, full),
					options(1<<20, list, batch4, full), options(8, list), options(100, list, many, full),
					options(8, list, pingpong), options(5000, list, batch4, full, spread),
					options(70000, list, batch4, sleeping),
				})
			})
		}
	}
	o := options(5000, batch4, full, having("api", "tag", "datatype", "iov"), under("all_to_all", 3))
	for _, r := range runCases(t, "ucx", 3, o)[0] {
		if !r.Verified {
			t.Errorf("rank %d is not verified", r.Rank)
		}
	}
}

// Many small messages run ahead of whoever takes them; each is counted and checked.
func TestUCXManyMessages(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	overUCX(t, func(t *testing.T, name string) {
		many := func(o *move.Spec) { o.Iterations = 5000 }
		checkTransfer(t, "ucx", []move.Spec{
			options(8, many, api(name)), options(100, many, batch4, window(1), api(name)),
			options(2000, many, window(4096), api(name)), options(8, many, pingpong, api(name)),
		})
	}, overQueue, overSockets, announced)
}

func TestUCXTransport(t *testing.T) {
	phase.NotUnderRace(t)
	needs(t, "ucx")
	t.Setenv("UCX_TLS", "posix")
	for _, name := range []string{"rma", "am", "tag", "tag_sync"} {
		got := runCases(t, "ucx", 2, options(4096, api(name)))[0][0].Transport
		if want := regexp.MustCompile(`^ucx/` + name + ` [0-9.]+ \(posix/memory`); !want.MatchString(got) {
			t.Errorf("api %s: transport %q, want %v", name, got, want)
		}
	}
}

func TestUCXPatterns(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	needs(t, "ucx")
	for _, name := range []string{"am", "tag"} {
		for pattern, initiates := range initiates {
			for _, ranks := range []int{2, 3, 4} {
				if pattern == "pairwise" && ranks%2 != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%d", name, pattern, ranks), func(t *testing.T) {
					threads := func(o *move.Spec) { o.Threads = 2 }
					cases := []move.Spec{
						options(100, under(pattern, ranks), batch4, api(name)),
						options(70000, under(pattern, ranks), api(name)),
					}
					if pattern == "pairwise" {
						cases = append(cases, options(300, under(pattern, ranks), bidirectional, api(name)))
					}
					for k, o := range cases { // one launch each: all of a launch have the same flows
						checkMoved(t, o, runCases(t, "ucx", ranks, o)[0], func(rank int) bool {
							return initiates(rank, ranks) || cases[k].Bidirectional
						})
					}
					if o := options(5000, under(pattern, ranks), threads, api(name)); ranks == 2 {
						for rank, r := range runCases(t, "ucx", ranks, o)[0] {
							if !r.Verified {
								t.Errorf("rank %d of two threads is not verified", rank)
							}
						}
					}
				})
			}
		}
	}
}

// Requests that go round many places, and a timed part that ends by the clock: what
// is posted ahead then is more than comes.
func TestUCXPlacesAndDurations(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	defer func(f func() uint64) { lastLevelCache = f }(lastLevelCache)
	lastLevelCache = func() uint64 { return 1 << 20 }
	overUCX(t, func(t *testing.T, name string) {
		short := func(o *move.Spec) { o.Duration = 5e6 }
		cases := []move.Spec{
			options(5000, spread, batch4, api(name)), options(5000, spread, short, api(name)),
			options(64<<10, spread, short, api(name)),
			options(8, pingpong, short, api(name)), options(100000, pingpong, short, api(name)),
			options(100, api(name)),
		}
		for k, ranks := range runCases(t, "ucx", 2, cases...) {
			if !ranks[0].Verified || !ranks[1].Verified || ranks[0].Samples.Ops == 0 {
				t.Errorf("case %d: verified %v and %v, %d requests", k, ranks[0].Verified, ranks[1].Verified,
					ranks[0].Samples.Ops)
			}
		}
	}, overKernel, overQueue, overSockets, announced)
}

// A flipped byte is found after either part, as over any other fabric.
func TestUCXVerificationFindsOneWrongByte(t *testing.T) {
	phase.NotUnderRace(t)
	needs(t, "ucx")
	for corrupt, want := range map[string]string{
		"1:5000":       "wrong data from rank 0 to rank 1 after an untimed pass: byte 5000 of 16384",
		"1:5000:timed": "wrong data from rank 0 to rank 1 after the timed part: byte 5000 of 16384",
	} {
		for _, name := range []string{"am", "tag", "tag_sync"} {
			t.Setenv(CorruptEnv, corrupt)
			if _, err := tryCases(t, "ucx", 2, options(4096, batch4, api(name))); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("api %s: got %v, want %q", name, err, want)
			}
		}
	}
}

// Ranks that were told different APIs do not begin.
func TestUCXUnequalAPIs(t *testing.T) {
	phase.NotUnderRace(t)
	needs(t, "ucx")
	names := []string{"am", "tag"}
	ranks, addresses := unlike(t, "ucx", options(8, api(names[0])), options(8, api(names[1])))
	for i, r := range ranks {
		want := fmt.Sprintf("it uses api %s and this rank %s", names[1-i], names[i])
		if err := r.Connect(addresses); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("rank %d: got %v, want %q", i, err, want)
		}
	}
}
