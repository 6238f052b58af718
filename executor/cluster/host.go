package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"weir/executor/wire"
)

// Host brings the nodes of one launch together: it hears what each says of its ranks,
// and tells all what they need. So keys, requests and watches grow with the nodes and
// not with their pairs.
type Host struct {
	s      *Session
	launch string
	prefix string
	nodes  map[string][]int // ranks
	ranks  int
	stop   context.CancelFunc
	wg     sync.WaitGroup
	news   chan struct{}

	mu        sync.Mutex
	books     map[string][]byte // as nodes wrote them
	connected map[string]bool
}

// Host opens the meeting place of a launch whose ranks are on the nodes that are named
// in their order. Ranks that are all on one node meet there and need none.
func (s *Session) Host(ctx context.Context, launch string, nodes []string) (*Host, error) {
	if err := checkName("launch", launch); err != nil {
		return nil, err
	}
	life, stop := context.WithCancel(s.ctx)
	h := &Host{
		s: s, launch: launch, prefix: s.launchKey(launch), nodes: map[string][]int{}, ranks: len(nodes), stop: stop,
		news: make(chan struct{}, 1), books: map[string][]byte{}, connected: map[string]bool{},
	}
	for rank, node := range nodes {
		h.nodes[node] = append(h.nodes[node], rank)
	}
	if len(h.nodes) < 2 {
		return h, nil
	}
	run, err := s.follow(ctx, followed{h.prefix + upDir, mostValue, pageKeys}, h.apply)
	if err != nil {
		stop()
		return nil, fmt.Errorf("opening the meeting place of launch %s: %w", launch, err)
	}
	h.wg.Go(func() { h.fail(life, run(life)) })
	h.wg.Go(func() { h.fail(life, h.serve(life)) })
	return h, nil
}

// Close leaves the meeting place. Its keys stay until the launch is forgotten.
func (h *Host) Close() {
	if h != nil {
		h.stop()
		h.wg.Wait()
	}
}

// apply takes what a node says.
func (h *Host) apply(c change) {
	node, what, _ := strings.Cut(c.name, "/")
	if _, ours := h.nodes[node]; !ours || c.deleted { // a dead agent's lease; whoever watches the members says so
		return
	}
	h.mu.Lock()
	switch what {
	case addressesKey:
		h.books[node] = c.value
	case connectedKey:
		h.connected[node] = true
	}
	h.mu.Unlock()
	select {
	case h.news <- struct{}{}:
	default:
	}
}

func (h *Host) come() (addressed, connected bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.books) == len(h.nodes), len(h.connected) == len(h.nodes)
}

// serve tells all nodes of all addresses once those are known, and lets them go once
// all are connected.
func (h *Host) serve(ctx context.Context) error {
	introduced := false
	for {
		select {
		case <-h.news:
		case <-ctx.Done():
			return nil
		}
		addressed, connected := h.come()
		if addressed && !introduced {
			if err := h.introduce(ctx); err != nil {
				return err
			}
			introduced = true
		}
		if introduced && connected {
			return h.s.put(ctx, h.prefix+downDir+goKey, nil)
		}
	}
}

// introduce writes all addresses.
func (h *Host) introduce(ctx context.Context) error {
	all := make([][]byte, h.ranks)
	for _, node := range slices.Sorted(maps.Keys(h.nodes)) {
		ranks := h.nodes[node]
		own, err := h.addressesOf(ctx, node, all)
		if err != nil {
			return err
		}
		if own != len(ranks) || slices.ContainsFunc(ranks, func(r int) bool { return all[r] == nil }) {
			return fmt.Errorf("node %s has the addresses of %d ranks that are not its own %d", node, own, len(ranks))
		}
	}
	var text []byte
	for _, address := range all {
		text = wire.AppendPeer(text, address)
	}
	t := TextFor(text, 1)
	if err := h.s.lay(ctx, h.prefix+pagesDir, t, text); err != nil {
		return fmt.Errorf("writing the addresses of all ranks: %w", err)
	}
	value, err := addressBook{Text: t}.encode()
	if err != nil {
		return err
	}
	return h.s.put(ctx, h.prefix+downDir+peersKey, value)
}

// addressesOf reads what a node says of its ranks into their places among all, and says
// of how many it does.
func (h *Host) addressesOf(ctx context.Context, node string, all [][]byte) (own int, err error) {
	h.mu.Lock()
	value := h.books[node]
	h.books[node] = []byte{} // it may be long, and has served
	h.mu.Unlock()
	book, err := readAddressBook(value)
	var text []byte
	if err == nil {
		text, err = h.s.fetch(ctx, nodePages(h.prefix, node), book.Text)
	}
	if err == nil {
		own, err = decodeAddresses(text, all)
	}
	if err != nil {
		return 0, fmt.Errorf("node %s: %w", node, err)
	}
	return own, nil
}

// nodePages are the pages of what one node says.
func nodePages(prefix, node string) string { return prefix + pagesDir + node + "/" }

// fail ends the launch on all nodes, since nobody can meet any more.
func (h *Host) fail(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	_ = h.s.Abort(ctx, h.launch, err.Error()) // without etcd the nodes' deadlines end it
}

// Missing says which ranks the launch waits for, nil if for none.
func (h *Host) Missing() *MissingError {
	if len(h.nodes) < 2 {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	of := make([]string, h.ranks)
	for node, ranks := range h.nodes {
		for _, r := range ranks {
			of[r] = node
		}
	}
	return missingOf(h.ranks,
		func(r int) bool { return h.books[of[r]] != nil },
		func(r int) bool { return h.connected[of[r]] })
}

// Abort ends a launch on all nodes. The first reason stays.
func (s *Session) Abort(ctx context.Context, launch, reason string) error {
	if _, err := s.putNew(ctx, s.launchKey(launch)+downDir+abortKey, []byte(reason)); err != nil {
		return fmt.Errorf("aborting launch %s: %w", launch, err)
	}
	return nil
}
