package elastic

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/engine/mesh"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/epelastic"
	"github.com/weir-bench/weir/workload/move"
)

// world simulates the ranks of a run: steps with a missing rank wait until they are aborted.
type world struct {
	t      *testing.T
	spec   *epelastic.Spec
	nodes  []string
	leader *Leader
	hub    []byte

	mu      sync.Mutex
	changed chan struct{}
	made    map[int]map[int]int // steps by contents, then by rank
}

// played is a process of a rank.
type played struct {
	w        *world
	rank     int
	spoke    *mesh.Spoke
	group    []int
	contents int
	broken   chan struct{}
	mu       sync.Mutex
	survives bool
}

var errDied = errors.New("died")

func (p *played) Open() (string, error)      { return gpuOf(p.rank), nil }
func (p *played) Address() ([]byte, error)   { return []byte{byte(p.rank)}, nil }
func (p *played) Connect(all [][]byte) error { return nil }
func (p *played) Disconnect(abandon bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = make(chan struct{})
	return nil
}

func (p *played) Prepare(group []int, contents int) error {
	p.group, p.contents = group, contents
	return nil
}

func (p *played) BreakOff() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.broken:
	default:
		close(p.broken)
	}
}

func (p *played) Die() {
	if !p.survives {
		p.spoke.Close()
		panic(errDied)
	}
}

func (p *played) Steps(s Steps) (did Stepped, err error) {
	for i := range s.N {
		if s.EndIn != "" && i == s.EndAt && !p.survives {
			if s.Dies {
				p.Die()
			}
			did.Mute = true
			return did, nil
		}
		start := Now()
		if missing, err := p.w.step(p, time.Duration(p.w.spec.Silence)); err != nil {
			did.Missing = missing
			return did, err
		}
		did.Steps = append(did.Steps, epelastic.Step{Start: start, Turn: start, End: Now()})
	}
	return did, nil
}

// step waits until all of the group have made as many steps with these contents.
func (w *world) step(p *played, silence time.Duration) (missing []int, err error) {
	w.mu.Lock()
	if w.made[p.contents] == nil {
		w.made[p.contents] = map[int]int{}
	}
	w.made[p.contents][p.rank]++
	mine := w.made[p.contents][p.rank]
	close(w.changed)
	w.changed = make(chan struct{})
	w.mu.Unlock()
	p.mu.Lock()
	broken := p.broken
	p.mu.Unlock()
	over := time.After(silence)
	for {
		w.mu.Lock()
		changed, late := w.changed, []int(nil)
		for _, r := range p.group {
			if w.made[p.contents][r] < mine {
				late = append(late, r)
			}
		}
		w.mu.Unlock()
		if len(late) == 0 {
			return nil, nil
		}
		select {
		case <-changed:
		case <-broken:
			return nil, &engine.Error{Peer: -1, Code: -int(syscall.ECONNABORTED), Text: "told to break off"}
		case <-over:
			return late, &engine.Error{Peer: late[0], Code: -int(syscall.ETIMEDOUT), Text: "nothing came"}
		}
	}
}

// gpuOf returns the GPU of a rank; two ranks share each.
func gpuOf(rank int) string { return fmt.Sprintf("GPU %d", rank/2) }

// run is a process of a rank, for the cases of its life.
func (w *world) run(ctx context.Context, rank, first, last int, survives bool,
	report func(phase int, p *epelastic.Part)) (err error) {
	p := &played{w: w, rank: rank, broken: make(chan struct{}), survives: survives}
	if p.spoke, err = mesh.Join(w.hub, w.nodes, rank, 10*time.Second); err != nil {
		return err
	}
	defer p.spoke.Close()
	defer func() {
		if died := recover(); died != nil && died != any(errDied) {
			panic(died)
		}
	}()
	m := NewMember(rank, 1, p, p.spoke)
	for phase := first; phase <= last; phase++ {
		part := &epelastic.Part{Part: &move.Part{Rank: rank}}
		led := make(chan error, 1)
		if rank == 0 {
			go func() {
				var err error
				if part.Led, err = w.leader.Lead(ctx, phase); err != nil {
					p.spoke.Close()
				}
				led <- err
			}()
		} else {
			led <- nil
		}
		err := m.Run(ctx, part)
		if why := <-led; why != nil {
			return why
		}
		if err != nil {
			return err
		}
		report(phase, part)
	}
	return nil
}

// play runs all phases, and returns the parts of ranks by phase.
func play(t *testing.T, phases epelastic.Phases, silence time.Duration,
	survives int) (parts []map[int]*epelastic.Part, err error) {
	t.Helper()
	w := &world{
		t: t, nodes: slices.Repeat([]string{"a"}, phases.Ranks()), changed: make(chan struct{}),
		made: map[int]map[int]int{},
		spec: &epelastic.Spec{Iterations: 8, Silence: quantity.Time(silence), Phases: phases},
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 60*time.Second, errors.New("it takes too long"))
	defer cancel()
	var hub *mesh.Hub
	if w.leader, hub, err = NewLeader(w.spec, w.nodes); err != nil {
		t.Fatal(err)
	}
	w.leader.Look = func(gpu string, led *epelastic.Led) {
		led.GPUCounters = append(led.GPUCounters, results.Counter{Device: gpu})
	}
	defer hub.Close()
	if w.hub, err = hub.Address(); err != nil {
		t.Fatal(err)
	}
	for range phases {
		parts = append(parts, map[int]*epelastic.Part{})
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	for rank, lives := range phases.Lives() {
		all.Go(func() {
			for _, life := range lives {
				e := w.run(ctx, rank, life.First, life.Last, rank == survives, func(phase int, p *epelastic.Part) {
					mu.Lock()
					defer mu.Unlock()
					parts[phase][rank] = p
				})
				if e != nil {
					mu.Lock()
					if rank == 0 || err == nil {
						err = e
					}
					mu.Unlock()
					cancel()
					return
				}
			}
		})
	}
	all.Wait()
	return parts, err
}

// random makes phases in which ranks join, leave and are killed, and with mute also muted.
func random(rng *rand.Rand, mute bool) (p epelastic.Phases) {
	group, next := []int{0}, 1
	for range 1 + rng.IntN(5) {
		group, next = append(group, next), next+1
	}
	p = append(p, epelastic.Phase{Ranks: slices.Clone(group)})
	out := []int{}
	for range 1 + rng.IntN(4) {
		var phase epelastic.Phase
		kept := []int{}
		for _, r := range group {
			switch n := rng.IntN(10); {
			case r == 0 || n < 5:
				kept = append(kept, r)
			case n < 7:
				phase.Kill = append(phase.Kill, r)
			case n < 8 && mute:
				phase.Mute = append(phase.Mute, r)
			default: // it leaves
			}
		}
		back := []int{}
		for _, r := range out {
			if rng.IntN(2) == 0 {
				back = append(back, r)
			}
		}
		for rng.IntN(3) == 0 && next < 9 {
			back, next = append(back, next), next+1
		}
		phase.Ranks = slices.Sorted(slices.Values(append(kept, back...)))
		if len(phase.Lost()) > 0 {
			phase.At = []string{epelastic.InDispatch, epelastic.InCombine, epelastic.Idle}[rng.IntN(3)]
		}
		all := slices.Concat(group, out)
		out = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(all))),
			func(r int) bool { return slices.Contains(phase.Ranks, r) })
		p, group = append(p, phase), phase.Ranks
	}
	return p
}

var plans = flag.Int("plans", 0, "how many random plans are played; 0: 300, or 60 where time is short")

// No random plan hangs, all ranks of a group make their steps, and each survivor masks exactly the killed and muted
// ranks.
func TestRandomPlans(t *testing.T) {
	n := *plans
	if n == 0 {
		n = map[bool]int{true: 300, false: 60}[phase.AtLength()]
	}
	for seed := range uint64(n) {
		mute := seed%25 == 0 // takes as long as the option silence
		phases := random(rand.New(rand.NewPCG(seed, 7)), mute)
		parts, err := play(t, phases, 5*time.Second-time.Duration(boolean(mute))*4500*time.Millisecond, -1)
		if err != nil {
			t.Fatalf("seed %d, %+v: %v", seed, phases, err)
		}
		for i, phase := range phases {
			gpus := make([]string, phases.Ranks())
			for _, r := range slices.Concat(phases.Before(i), phase.Ranks) {
				gpus[r] = gpuOf(r)
			}
			if got := parts[i][0].Led.GPUs; !slices.Equal(got, gpus) {
				t.Errorf("seed %d: GPUs are %q and not %q in phase %d of %+v", seed, got, gpus, i, phases)
			}
			var looked []string
			for _, c := range parts[i][0].Led.GPUCounters {
				looked = append(looked, c.Device)
			}
			slices.Sort(gpus)
			gpus = slices.DeleteFunc(slices.Compact(gpus), func(gpu string) bool { return gpu == "" })
			if !slices.Equal(looked, gpus) {
				t.Errorf("seed %d: looked at %q and not %q in phase %d of %+v", seed, looked, gpus, i, phases)
			}
			for _, r := range phase.Ranks {
				p := parts[i][r]
				if p == nil {
					t.Fatalf("seed %d: rank %d says nothing of phase %d of %+v", seed, r, i, phases)
				}
				last := int64(len(parts[i][0].Led.Changes) - 1)
				n := 0
				for _, s := range p.Steps {
					if s.Group == last {
						n++
					}
				}
				if n < 8 {
					t.Errorf("seed %d: rank %d has %d steps in phase %d of %+v", seed, r, n, i, phases)
				}
				var masked []int
				for _, m := range p.Masks {
					masked = append(masked, m.Rank)
				}
				want := phase.Lost()
				if !slices.Contains(phases.Before(i), r) {
					want = nil // it came afterwards
				}
				if slices.Sort(masked); !slices.Equal(masked, want) {
					t.Errorf("seed %d: rank %d masks %v and not %v in phase %d of %+v", seed, r, masked, want, i,
						phases)
				}
			}
			if got := slices.Sorted(maps.Keys(parts[i])); len(got) < len(phase.Ranks) {
				t.Errorf("seed %d: phase %d has only %v", seed, i, got)
			}
		}
	}
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A rank that survives its kill, or responds although it is muted, is an error with its cause.
func TestFaultsWithoutEffect(t *testing.T) {
	phases := epelastic.Phases{
		{Ranks: []int{0, 1, 2, 3}}, {Ranks: []int{0, 1, 3}, Kill: []int{2}, At: epelastic.InDispatch},
	}
	_, err := play(t, phases, time.Second, 2)
	if err == nil || !strings.Contains(fmt.Sprint(err), "rank 2 should have been killed in a step (dispatch), but is still there") {
		t.Errorf("a rank that survives: %v", err)
	}
	phases[1] = epelastic.Phase{Ranks: []int{0, 1, 3}, Mute: []int{2}, At: epelastic.InCombine}
	_, err = play(t, phases, time.Second, 2)
	if err == nil || !strings.Contains(fmt.Sprint(err), "rank 2 should have been muted in a step (combine), but is still there") {
		t.Errorf("a rank that speaks: %v", err)
	}
}
