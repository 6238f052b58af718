package faults

import (
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-bench/weir/test/lab"
	"github.com/weir-bench/weir/test/phase"
)

var (
	count  = flag.Int("faults", 17, "how many faults are to meet a session: one of each kind")
	seed   = flag.Uint64("seed", 0, "of what is injected when; 0: another each time")
	only   = flag.String("kind", "", "inject this kind alone, as the table calls it")
	worlds = flag.Int("worlds", 3, "clusters at a time")
)

// program is weir, built once, where a test needs it.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "weir-faults")
	if err != nil {
		return "", err
	}
	built = dir
	path := filepath.Join(dir, "weir")
	cmd := exec.Command("go", "build", "-o", path, "github.com/weir-bench/weir/cmd/weir")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

// built is the folder that the program is in.
var built string

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && slices.Contains([]string{"serve", "work"}, os.Args[1]) {
		play(os.Args[1:])
		return
	}
	lab.UnsetTuningVariables()
	os.Setenv("WEIR_DISTURBED", "keep") // worlds share their processors
	code := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

func weir(t *testing.T) string {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatalf("building weir: %v", err)
	}
	return path
}

// TestFaults injects faults at random moments and holds every session to the same
// promises, whatever was broken. It fails where too few of them met a session.
func TestFaults(t *testing.T) {
	phase.Rest(t)
	path := weir(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d: the same faults again with -faults %d -seed %d", *seed, *count, *seed)
	table := &table{}
	var next atomic.Int64
	t.Run("worlds", func(t *testing.T) {
		for i := range min(*worlds, *count) {
			t.Run("world", func(t *testing.T) {
				t.Parallel()
				w := &cluster{t: t, weir: path}
				if i%2 == 1 { // every other one has services and roles
					w.agentFlags, w.launches = []string{"--allow-commands"}, launchesOfPrograms
					w.scenario = strings.ReplaceAll(programs, "$SELF", self) + "    retry: {times: 4, wait: 0s}\n"
				}
				bringUp(w, "a", "b", "c")
				w.calm()
				for table.counts().goesOn(*count) && !t.Failed() {
					n := int(next.Add(1)) - 1
					// of the number alone, whichever world it comes to
					r := rand.New(rand.NewPCG(*seed, uint64(n)))
					table.add(w.runWithFault(r, w.draw(r, n)))
				}
			})
		}
	})
	table.tell(t)
	if why := table.counts().shortfall(*count); why != "" {
		t.Error(why)
	}
}
