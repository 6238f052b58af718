package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"weir/executor/wire"
)

// Rendezvous is one agent's part in the meeting of a launch's ranks. It speaks for its
// own ranks and hears of all others from the Host.
type Rendezvous struct {
	s      *Session
	prefix string
	node   string
	mine   []int
	ranks  int
	ctx    context.Context
	stop   context.CancelFunc
	wg     sync.WaitGroup
	notify chan struct{}

	mu        sync.Mutex
	addresses []byte
	started   bool
	abort     *string
	broken    error
}

// Meet comes to the meeting place of a launch of so many ranks, of which this node has
// some. If it has all, they meet here, and etcd hears nothing of it.
func (s *Session) Meet(ctx context.Context, launch, node string, mine []int, ranks int) (*Rendezvous, error) {
	if err := errors.Join(checkName("launch", launch), checkName("node", node)); err != nil {
		return nil, err
	}
	r := &Rendezvous{
		s: s, prefix: s.launchKey(launch), node: node, mine: mine, ranks: ranks, notify: make(chan struct{}, 1),
	}
	r.ctx, r.stop = context.WithCancel(s.ctx)
	if r.alone() {
		return r, nil
	}
	run, err := s.follow(ctx, followed{r.prefix + downDir, mostValue, pageKeys}, r.apply)
	if err != nil {
		r.stop()
		return nil, fmt.Errorf("meeting for launch %s: %w", launch, err)
	}
	r.wg.Go(func() { r.fail(run(r.ctx)) })
	return r, nil
}

func (r *Rendezvous) alone() bool { return len(r.mine) == r.ranks }

// Close leaves the meeting place. Its keys stay until the launch is forgotten.
func (r *Rendezvous) Close() {
	r.stop()
	r.wg.Wait()
}

// Changed has a value whenever there is news; then ask what it is.
func (r *Rendezvous) Changed() <-chan struct{} { return r.notify }

// note changes what is known, and says so.
func (r *Rendezvous) note(change func()) {
	r.mu.Lock()
	change()
	r.mu.Unlock()
	select {
	case r.notify <- struct{}{}:
	default:
	}
}

func (r *Rendezvous) fail(err error) {
	if err != nil && !errors.Is(context.Cause(r.ctx), context.Canceled) { // nobody has left
		r.note(func() { r.broken = err })
	}
}

func (r *Rendezvous) apply(c change) {
	switch {
	case c.deleted: // a dead coordinator's lease, or the launch is over
	case c.name == abortKey:
		reason := string(c.value)
		r.note(func() { r.abort = &reason })
	case c.name == peersKey:
		r.wg.Go(func() { r.fail(r.learn(c.value)) }) // pages may take a while, and there may be an end to hear of
	case c.name == goKey:
		r.note(func() { r.started = true })
	}
}

// learn reads all ranks' addresses.
func (r *Rendezvous) learn(value []byte) error {
	book, err := readAddressBook(value)
	if err != nil {
		return err
	}
	text, err := r.s.fetch(r.ctx, r.prefix+pagesDir, book.Text)
	if err != nil {
		return fmt.Errorf("reading addresses: %w", err)
	}
	return r.introduce(text)
}

func (r *Rendezvous) introduce(text []byte) error {
	if err := wire.CheckPeers(text, r.ranks); err != nil {
		return fmt.Errorf("reading addresses: %w", err)
	}
	r.note(func() { r.addresses = text })
	return nil
}

// Publish makes the addresses of the node's ranks known.
func (r *Rendezvous) Publish(ctx context.Context, addresses map[int][]byte) error {
	if r.alone() {
		var all []byte
		for rank := range r.ranks {
			all = wire.AppendPeer(all, addresses[rank])
		}
		return r.introduce(all)
	}
	text := encodeAddresses(addresses)
	book := addressBook{Ranks: r.mine, Text: TextFor(text, 1)}
	value, err := book.encode()
	if err == nil {
		err = r.s.lay(ctx, nodePages(r.prefix, r.node), book.Text, text)
	}
	if err == nil {
		err = r.s.put(ctx, r.prefix+upDir+r.node+"/"+addressesKey, value)
	}
	if err != nil {
		return fmt.Errorf("publishing addresses: %w", err)
	}
	return nil
}

// Addresses are all ranks' addresses in rank order, as package wire tells them to ranks:
// a node has nothing else to do with them. They are nil until all are known, and again
// once they are Passed.
func (r *Rendezvous) Addresses() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.addresses
}

// Passed says that the node's ranks have all addresses: those of thousands take memory.
func (r *Rendezvous) Passed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addresses = nil
}

// Arrive says that the node's ranks are connected.
func (r *Rendezvous) Arrive(ctx context.Context) error {
	if r.alone() {
		r.note(func() { r.started = true })
		return nil
	}
	if err := r.s.put(ctx, r.prefix+upDir+r.node+"/"+connectedKey, nil); err != nil {
		return fmt.Errorf("coming to the barrier: %w", err)
	}
	return nil
}

// Started says whether all ranks of all nodes are connected.
func (r *Rendezvous) Started() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.started
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

// Broken says that nothing will be learned any more.
func (r *Rendezvous) Broken() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.broken
}

// Missing asks etcd which ranks the launch waits for, nil if for none: when it is too
// late already, since nobody else needs to know.
func (r *Rendezvous) Missing(ctx context.Context) (*MissingError, error) {
	if r.alone() {
		return nil, nil
	}
	all, _, err := r.s.list(ctx, r.prefix+upDir, pageKeys)
	if err != nil {
		return nil, fmt.Errorf("asking who is missing: %w", err)
	}
	connected, addressed := map[string]bool{}, map[int]string{}
	for _, kv := range all {
		node, what, _ := strings.Cut(strings.TrimPrefix(string(kv.Key), r.prefix+upDir), "/")
		book, err := readAddressBook(kv.Value)
		switch {
		case what == connectedKey:
			connected[node] = true
		case what == addressesKey && err == nil:
			for _, rank := range book.Ranks {
				addressed[rank] = node
			}
		}
	}
	return missingOf(r.ranks,
		func(rank int) bool { return addressed[rank] != "" },
		func(rank int) bool { return connected[addressed[rank]] }), nil
}
