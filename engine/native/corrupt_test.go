package native

import (
	"fmt"
	"strings"
	"testing"

	"weir/test/phase"
	"weir/workload/move"
)

// On each fabric, with each of its APIs and providers, and in each way to move, a byte
// that was flipped after it came is found, before the timed part and after it.
func TestWrongByteOverEachFabric(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	type carrier struct {
		name, fabric string
		change       func(*move.Spec)
		ops          []string
	}
	all := []string{"write", "read", "pingpong"}
	carriers := []carrier{
		{"shm", "shm", func(*move.Spec) {}, all}, {"tcp", "tcp", func(*move.Spec) {}, all},
		{"ucx rma", "ucx", api("rma"), all},
	}
	for _, name := range []string{"am", "tag"} {
		carriers = append(carriers, carrier{"ucx " + name, "ucx", api(name), []string{"write", "pingpong"}})
	}
	if (native{}).Probe([]string{"libfabric"})["libfabric"].Available {
		for _, p := range providers(t) {
			carriers = append(carriers, carrier{"libfabric " + p, "libfabric", provider(p), all})
		}
	}
	for _, c := range carriers {
		for _, op := range c.ops {
			t.Run(c.name+"/"+op, func(t *testing.T) {
				needs(t, c.fabric)
				for when, words := range map[string]string{"": "an untimed pass", ":timed": "the timed part"} {
					receiver, sender := 1, 0
					o := options(5000, c.change, func(o *move.Spec) { o.Iterations, o.Warmup, o.InFlight = 5, 1, 2 })
					switch op {
					case "read":
						o.Op, receiver, sender = "read", 0, 1
					case "pingpong":
						o.Mode = "pingpong"
					}
					t.Setenv(CorruptEnv, fmt.Sprintf("%d:4321%s", receiver, when))
					want := fmt.Sprintf("wrong data from rank %d to rank %d after %s: byte 4321 of", sender, receiver,
						words)
					if _, err := tryCases(t, c.fabric, 2, o); err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("got %v, want %q", err, want)
					}
				}
			})
		}
	}
}

func TestNixlWrongByte(t *testing.T) {
	phase.NotUnderRace(t)
	lib := "WEIR_NIXL_LIBRARY=" + fakeNixl(t)
	for corrupt, words := range map[string]string{"1:4000": "an untimed pass", "1:4000:timed": "the timed part"} {
		want := "wrong data from rank 0 to rank 1 after " + words + ": byte 4000 of 4096"
		if out := nixlChild(t, "one", lib, CorruptEnv+"="+corrupt); !strings.Contains(out, want) {
			t.Errorf("want %q:\n%s", want, out)
		}
	}
}
