package cluster

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Rendezvous is the meeting place of one launch's ranks. Each agent speaks for
// its own ranks and learns of all others by one watch: keys and watches grow
// with the ranks, not with their pairs.
type Rendezvous struct {
	s      *Session
	prefix string
	ranks  int
	ctx    context.Context
	stop   context.CancelFunc
	wg     sync.WaitGroup
	notify chan struct{}

	mu        sync.Mutex
	addresses map[int][]byte
	arrived   map[int]map[int]bool // by generation, by rank
	abort     *string
	broken    error
}

// Meet opens the meeting place of a launch.
func (s *Session) Meet(ctx context.Context, launch string, ranks int) (*Rendezvous, error) {
	if err := checkName("launch", launch); err != nil {
		return nil, err
	}
	life, stop := context.WithCancel(s.ctx)
	r := &Rendezvous{
		s: s, prefix: s.launchKey(launch), ranks: ranks, ctx: life, stop: stop, notify: make(chan struct{}, 1),
		addresses: map[int][]byte{}, arrived: map[int]map[int]bool{},
	}
	defer context.AfterFunc(ctx, stop)() // only while the first read is under way
	run, err := s.follow(life, r.prefix, r.apply)
	if err != nil {
		stop()
		return nil, fmt.Errorf("meeting for launch %s: %w", launch, err)
	}
	r.wg.Go(func() {
		if err := run(); err != nil {
			r.mu.Lock()
			r.broken = err
			r.mu.Unlock()
			r.wake()
		}
	})
	return r, nil
}

// Close leaves the meeting place. Its keys stay until the launch is forgotten.
func (r *Rendezvous) Close() {
	r.stop()
	r.wg.Wait()
}

// Changed has a value whenever there is news; then ask what it is.
func (r *Rendezvous) Changed() <-chan struct{} { return r.notify }

func (r *Rendezvous) wake() {
	select {
	case r.notify <- struct{}{}:
	default:
	}
}

func (r *Rendezvous) apply(c change) {
	if c.deleted {
		return // a dead agent's lease; whoever watches the members says so
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.wake()
	switch {
	case c.name == abortName:
		reason := string(c.value)
		r.abort = &reason
	case strings.HasPrefix(c.name, addressDir):
		if rank, ok := r.rank(strings.TrimPrefix(c.name, addressDir)); ok {
			r.addresses[rank] = c.value
		}
	case strings.HasPrefix(c.name, barrierDir):
		generation, name, _ := strings.Cut(strings.TrimPrefix(c.name, barrierDir), "/")
		g, err := strconv.Atoi(generation)
		if rank, ok := r.rank(name); ok && err == nil {
			if r.arrived[g] == nil {
				r.arrived[g] = map[int]bool{}
			}
			r.arrived[g][rank] = true
		}
	}
}

func (r *Rendezvous) rank(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && n < r.ranks
}

// Publish makes the addresses of an agent's ranks known.
func (r *Rendezvous) Publish(ctx context.Context, addresses map[int][]byte) error {
	var ops []clientv3.Op
	for rank, a := range addresses {
		ops = append(ops, clientv3.OpPut(r.prefix+addressDir+strconv.Itoa(rank), string(a), clientv3.WithLease(r.s.lease)))
	}
	if err := r.s.commit(ctx, ops); err != nil {
		return fmt.Errorf("publishing addresses: %w", err)
	}
	return nil
}

// Addresses are all ranks' addresses in rank order. A *MissingError names the
// ranks that have not published theirs.
func (r *Rendezvous) Addresses() ([][]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([][]byte, r.ranks)
	var missing []int
	for i := range r.ranks {
		a, ok := r.addresses[i]
		if !ok {
			missing = append(missing, i)
		}
		all[i] = a
	}
	if missing != nil {
		return nil, &MissingError{What: "addresses", Ranks: missing}
	}
	return all, nil
}

// Arrive says that ranks have come to a barrier. Generations are never used
// twice in a launch, so a late key cannot open a later barrier.
func (r *Rendezvous) Arrive(ctx context.Context, generation int, ranks []int) error {
	var ops []clientv3.Op
	for _, rank := range ranks {
		ops = append(ops, clientv3.OpPut(r.prefix+barrierKey(generation, rank), "", clientv3.WithLease(r.s.lease)))
	}
	if err := r.s.commit(ctx, ops); err != nil {
		return fmt.Errorf("coming to barrier %d: %w", generation, err)
	}
	return nil
}

// Barrier says whether a barrier is open. A *MissingError names who keeps it shut.
func (r *Rendezvous) Barrier(generation int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var missing []int
	for i := range r.ranks {
		if !r.arrived[generation][i] {
			missing = append(missing, i)
		}
	}
	if missing != nil {
		return &MissingError{What: fmt.Sprintf("barrier %d", generation), Ranks: missing}
	}
	return nil
}

// MissingError says which ranks a launch waits for.
type MissingError struct {
	What  string
	Ranks []int
}

func (e *MissingError) Error() string {
	const most = 8
	var b strings.Builder
	fmt.Fprintf(&b, "%s: waiting for rank", e.What)
	if len(e.Ranks) > 1 {
		b.WriteString("s")
	}
	for i, r := range e.Ranks {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(e.Ranks)-most)
			break
		}
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " %d", r)
	}
	return b.String()
}

// Abort ends a launch on all nodes. The first reason stays.
func (s *Session) Abort(ctx context.Context, launch, reason string) error {
	if _, err := s.putNew(ctx, s.launchKey(launch)+abortName, reason); err != nil {
		return fmt.Errorf("aborting launch %s: %w", launch, err)
	}
	return nil
}

// Aborted is the reason for which the launch must end, if it must.
func (r *Rendezvous) Aborted() (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.abort == nil {
		return "", false
	}
	return *r.abort, true
}

// Broken says that the watch ended, so that nothing will be learned any more.
func (r *Rendezvous) Broken() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.broken
}
