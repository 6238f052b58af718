package hosts

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
)

// plan is a random list of phases, as a scenario has it: ranks join, leave and are killed; mute: and
// fall silent.
func plan(rng *rand.Rand, mute bool) string {
	list := func(ranks []int) string { return strings.ReplaceAll(fmt.Sprint(ranks), " ", ", ") }
	group, next, phases := []int{0}, 1, []string{}
	for range 1 + rng.IntN(3) {
		group, next = append(group, next), next+1
	}
	phases = append(phases, "{ranks: "+list(group)+"}")
	var out []int
	for range 2 + rng.IntN(3) {
		var kept, kill, silent, left []int
		for _, r := range group {
			switch n := rng.IntN(10); {
			case r == 0 || n < 5:
				kept = append(kept, r)
			case n < 8:
				kill = append(kill, r)
			case n < 9 && mute:
				silent = append(silent, r)
			default:
				left = append(left, r)
			}
		}
		for _, r := range out {
			if rng.IntN(2) == 0 {
				kept = append(kept, r)
			} else {
				left = append(left, r)
			}
		}
		for rng.IntN(3) == 0 && next < 6 {
			kept, next = append(kept, next), next+1
		}
		slices.Sort(kept)
		if slices.Equal(kept, group) {
			continue
		}
		text := "{ranks: " + list(kept)
		if len(kill) > 0 {
			text += ", kill: " + list(kill)
		}
		if len(silent) > 0 {
			text += ", mute: " + list(silent)
		}
		if len(kill)+len(silent) > 0 {
			text += ", at: " + []string{"dispatch", "combine", "idle"}[rng.IntN(3)]
		}
		phases = append(phases, text+"}")
		group, out = kept, slices.Concat(left, kill, silent)
	}
	return "[" + strings.Join(phases, ", ") + "]"
}

// Over every fabric over which ranks may die, random plans go on to their ends: no token is wrong, each
// survivor masks those that were killed or fell silent and nobody else, and a death is noticed soon.
func TestRandomPlansOverFabrics(t *testing.T) {
	program := weir(t)
	n := 8
	if phase.AtLength() {
		n = 30
	}
	for fabric, options := range map[string]string{
		"shm": "fabric: shm", "tcp": "fabric: tcp", "ucx": "fabric: ucx, api: am", "libfabric": "fabric: libfabric",
	} {
		t.Run(fabric, func(t *testing.T) {
			if !offers(t, program, fabric) {
				t.Skipf("no fabric %s here: scripts/setup installs its library", fabric)
			}
			text := "scenario: random\ndefaults:\n  launches: 1\n  timeout: 2m\n  options:\n    ep_elastic: {" +
				options + ", tokens: 32, hidden: 512, top_k: 4, iterations: 8, silence: 2s}\nruns:\n"
			for seed := range uint64(n) {
				rng := rand.New(rand.NewPCG(seed, 11))
				text += fmt.Sprintf("  p%d:\n    workload: ep_elastic\n    options: {layout: %s, phases: %s}\n"+
					"    assert: [wrong_tokens <= 0, mask.wrong <= 0]\n",
					seed, []string{"message", "rank", "packed"}[seed%3], plan(rng, seed%8 == 0))
			}
			out := t.TempDir() + "/out"
			p := start(t, exec.Command(program, "run", write(t, "random.yaml", text), "--out", out))
			select {
			case <-p.done:
			case <-time.After(5 * time.Minute):
			}
			p.ends(0)
			killed, longest := 0., 0.
			for _, c := range document(t, out).Cases {
				if c.Status != results.OK {
					t.Errorf("%s: %s", c.Key, c.Status)
					continue
				}
				m := c.Launches[0].Metrics
				killed += m.At("killed")
				if m.At("killed") > 0 && m.At("muted") == 0 {
					longest = max(longest, m.At("detect.time"))
				}
			}
			if killed == 0 {
				t.Error("nobody was killed")
			}
			t.Logf("%v ranks were killed; the last survivor noticed after %v at most", killed,
				time.Duration(longest*1e9))
			if longest > 2 { // a busy machine; silence is found after more
				t.Errorf("a death was noticed after %v s", longest)
			}
		})
	}
}

// offers says whether this host has a fabric.
func offers(t *testing.T, program, fabric string) bool {
	t.Helper()
	text, err := exec.Command(program, "probe", "--json").Output()
	if err != nil {
		t.Fatalf("weir probe: %v", err)
	}
	var host results.Node
	if err := json.Unmarshal(text, &host); err != nil {
		t.Fatal(err)
	}
	f, told := host.Fabrics[fabric]
	if !told {
		t.Fatalf("weir probe does not name %s:\n%s", fabric, text)
	}
	return f.Available
}
