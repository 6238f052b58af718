package native

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/epcontrol"
)

func runEPControl(t *testing.T, fabric string, change option.Values) (map[string]float64, error) {
	t.Helper()
	v := option.Values{
		"fabric": fabric, "ranks": int64(4), "tokens": int64(8), "hidden": int64(256), "experts_per_rank": int64(2),
		"rounds": int64(3), "warmup": int64(1),
	}
	for name, value := range change {
		v[name] = value
	}
	s, err := epcontrol.Decode(v)
	if err != nil {
		t.Fatal(err)
	}
	return runRanks(t, epControlRunner{}, epcontrol.Kind, s)
}

// Over every fabric a rank is created, connected, disconnected, reconnected and destroyed, round after round,
// and the block written over each connection arrives.
func TestEPControl(t *testing.T) {
	phase.Long(t)
	for _, fabric := range []string{"shm", "tcp", "ucx", "libfabric"} {
		t.Run(fabric, func(t *testing.T) {
			needs(t, fabric)
			m, err := runEPControl(t, fabric, nil)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.
			for _, o := range epcontrol.Operations() {
				steps := 0.
				for _, step := range epcontrol.StepsOf(o) {
					steps += m[o+"."+step]
				}
				if avg := m[o+".avg"]; avg <= 0 || steps < 0.999*avg || steps > 1.001*avg ||
					m[o+".min"] > m[o+".p50"] || m[o+".p50"] > m[o+".max"] {
					t.Errorf("%s: steps add up to %v of %v, of %v to %v", o, steps, avg, m[o+".min"], m[o+".max"])
				}
				sum += m[o+".avg"]
			}
			if m["ranks_passed"] != 4 || m["total"] < 0.999*sum || m["total"] > 1.001*sum {
				t.Errorf("total %v, operations %v: %v", m["total"], sum, m)
			}
		})
	}
}

func TestEPControlOptions(t *testing.T) {
	phase.Rest(t)
	for _, change := range []option.Values{
		{"storm": false}, {"operation": "init"}, {"operation": "connect"}, {"operation": "disconnect"},
		{"operation": "reconnect"}, {"operation": "destroy"}, {"alloc": "heap", "fabric": "ucx"},
		{"fabric": "ucx", "api": "am"}, {"ranks": int64(9), "fabric": "shm"}, {"ranks": int64(2), "rounds": int64(60)},
	} {
		fabric := "tcp"
		if f, ok := change["fabric"].(string); ok {
			fabric = f
		}
		needs(t, fabric)
		m, err := runEPControl(t, fabric, change)
		if err != nil {
			t.Errorf("%v: %v", change, err)
			continue
		}
		operation, one := change["operation"].(string)
		for _, o := range epcontrol.Operations() {
			if _, there := m[o+".avg"]; there != (!one || o == operation) {
				t.Errorf("%v: %s is %v", change, o, m[o+".avg"])
			}
		}
	}
}

// A byte that changes on its way over a new connection is found.
func TestEPControlFindsAFlippedByte(t *testing.T) {
	for at, from := range map[int]int{0: 0, 64: 1, 191: 3} {
		t.Setenv(CorruptEnv, "2:"+strconv.Itoa(at))
		_, err := runEPControl(t, "tcp", nil)
		e, ok := errors.AsType[*engine.Error](err)
		if !ok || e.Peer != from || !strings.Contains(e.Text, "is wrong from byte "+strconv.Itoa(at%64)+" on") {
			t.Errorf("%d: %v", at, err)
		}
	}
	t.Setenv(CorruptEnv, "2:192")
	if _, err := runEPControl(t, "tcp", nil); err == nil || !strings.Contains(err.Error(), "receives 192 bytes") {
		t.Error(err)
	}
}

// Rounds leave neither files nor mappings behind.
func TestEPControlLeavesNothingBehind(t *testing.T) {
	phase.Rest(t)
	for _, fabric := range []string{"shm", "tcp", "ucx", "libfabric"} {
		t.Run(fabric, func(t *testing.T) {
			needs(t, fabric)
			held := func(rounds int64) (files, mappings int) {
				if _, err := runEPControl(t, fabric, option.Values{"rounds": rounds, "ranks": int64(2)}); err != nil {
					t.Fatal(err)
				}
				list, err := os.ReadDir("/proc/self/fd")
				if err != nil {
					t.Fatal(err)
				}
				maps, err := os.ReadFile("/proc/self/maps")
				if err != nil {
					t.Fatal(err)
				}
				return len(list), strings.Count(string(maps), "\n")
			}
			held(2)
			files, mappings := held(2)
			laterFiles, laterMappings := held(40)
			if laterFiles > files+8 || laterMappings > mappings+40 {
				t.Errorf("files %d, then %d; mappings %d, then %d", files, laterFiles, mappings, laterMappings)
			}
		})
	}
}
