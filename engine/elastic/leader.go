package elastic

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/engine/mesh"
	"github.com/weir-bench/weir/workload/epelastic"
)

// Leader leads the group. It runs in the process of rank 0, beside that rank's member.
type Leader struct {
	// Look adds to led what has disturbed a GPU since the last call. It is called outside of timed parts.
	Look func(gpu string, led *epelastic.Led)

	spec   *epelastic.Spec
	nodes  []string // by rank
	events *events
	spokes []*mesh.Spoke // by rank: the process in the group, or joining; nil: none
	// next are new processes that have not been notified to join. One may connect before the end of its predecessor is
	// known.
	next   []*mesh.Spoke
	group  []int    // connected ranks
	number int      // of the last order
	gpus   []string // by rank: of the process that opened last
	ahead  []int64
	bound  int64

	phase int
	led   *epelastic.Led
}

// event is an answer of a process, or its start or end (err).
type event struct {
	spoke *mesh.Spoke
	text  []byte
	err   error
}

// NewLeader makes the leader of a run and the hub that members connect to.
func NewLeader(s *epelastic.Spec, nodes []string) (*Leader, *mesh.Hub, error) {
	l := &Leader{
		spec: s, nodes: nodes, events: newEvents(), spokes: make([]*mesh.Spoke, len(nodes)),
		next: make([]*mesh.Spoke, len(nodes)), ahead: make([]int64, len(nodes)), gpus: make([]string, len(nodes)),
	}
	hub, err := mesh.NewHub(nodes, 0, func(s *mesh.Spoke, text []byte, err error) { l.events.put(event{s, text, err}) })
	return l, hub, err
}

// fail is an error of the group as a whole.
func (l *Leader) fail(format string, args ...any) error {
	return &engine.Error{
		Phase: "run", Peer: -1, Code: -int(syscall.EPROTO),
		Text: fmt.Sprintf("phase %d: ", l.phase) + fmt.Sprintf(format, args...),
	}
}

// Steps of a phase before its change, and of each order while ranks open.
const (
	shareBefore = 4 // of the iterations
	whileOpens  = 2
)

// Lead leads the group through a phase.
func (l *Leader) Lead(ctx context.Context, phase int) (*epelastic.Led, error) {
	p := l.spec.Phases[phase]
	l.phase = phase
	l.led = &epelastic.Led{Began: Now(), Prepared: [][2]int64{}, GPUs: make([]string, len(l.nodes))}
	l.use(l.group)
	if err := l.lead(ctx, p); err != nil {
		return nil, err
	}
	for _, gpu := range slices.Compact(slices.Sorted(slices.Values(l.led.GPUs))) {
		if gpu != "" {
			l.Look(gpu, l.led)
		}
	}
	l.led.Ahead, l.led.Bound = slices.Clone(l.ahead), l.bound
	led := l.led
	return led, l.send(l.group, order{Do: doEnd})
}

func (l *Leader) lead(ctx context.Context, p epelastic.Phase) error {
	phases := l.spec.Phases
	if l.phase > 0 {
		l.led.Changes = append(l.led.Changes, epelastic.Change{Ranks: l.group})
		if _, err := l.steps(ctx, l.before(), nil); err != nil {
			return err
		}
	}
	if len(p.Lost()) > 0 {
		if err := l.lose(ctx, p); err != nil {
			return err
		}
	}
	if l.phase == 0 || !slices.Equal(l.group, p.Ranks) {
		change := epelastic.Change{Ranks: p.Ranks, Order: Now()}
		joined := phases.Joined(l.phase)
		if l.phase == 0 {
			joined = p.Ranks
		}
		if err := l.open(ctx, joined); err != nil {
			return err
		}
		change.Opened = Now()
		if err := l.regroup(ctx, change, nil); err != nil {
			return err
		}
	}
	_, err := l.steps(ctx, int(l.spec.Iterations), nil)
	return err
}

// use records the GPUs of ranks that take part in the phase, as killed ranks cannot report theirs. Earlier disturbances
// of a GPU that is new in the phase are dropped.
func (l *Leader) use(ranks []int) {
	for _, r := range ranks {
		gpu := l.gpus[r]
		if gpu != "" && !slices.Contains(l.led.GPUs, gpu) {
			l.Look(gpu, &epelastic.Led{})
		}
		l.led.GPUs[r] = gpu
	}
}

func (l *Leader) before() int { return max(2, int(l.spec.Iterations)/shareBefore) }

// lose has ranks killed and muted, and continues without them and those that leave.
func (l *Leader) lose(ctx context.Context, p epelastic.Phase) error {
	ends, n := map[int]Steps{}, max(2, l.before()/2)
	for _, r := range p.Lost() {
		ends[r] = Steps{N: n, EndAt: n / 2, EndIn: p.At, Dies: slices.Contains(p.Kill, r)}
	}
	lost, err := l.steps(ctx, n, ends)
	if err != nil {
		return err
	}
	change := epelastic.Change{Ranks: l.spec.Phases.Survivors(l.phase), Order: Now()}
	return l.regroup(ctx, change, lost)
}

// open waits until joining ranks have connected and allocated their memory. The group continues to make steps
// meanwhile.
func (l *Leader) open(ctx context.Context, joined []int) error {
	var notified, done []int
	for len(done) < len(joined) {
		if err := l.handleChanges(); err != nil {
			return err
		}
		for _, r := range joined {
			if l.spokes[r] == nil && l.next[r] != nil {
				l.spokes[r], l.next[r] = l.next[r], nil
			}
			if l.spokes[r] != nil && !slices.Contains(notified, r) {
				if err := l.readClock(ctx, r); err != nil {
					return err
				}
				l.number++
				if l.send([]int{r}, order{Do: doOpen}) != nil {
					return l.fail("lost rank %d, which was joining", r)
				}
				notified = append(notified, r)
			}
		}
		ready := l.events.takeAnswers(func(rank int) bool {
			return slices.Contains(notified, rank) && !slices.Contains(done, rank) && !slices.Contains(l.group, rank)
		})
		for _, e := range ready {
			var a answer
			if err := json.Unmarshal(e.text, &a); err != nil {
				return l.fail("rank %d answers %q: %v", e.spoke.Rank, e.text, err)
			}
			l.gpus[e.spoke.Rank] = a.GPU
			done = append(done, e.spoke.Rank)
		}
		switch {
		case len(ready) > 0 || len(done) == len(joined):
		case len(l.group) > 0:
			if _, err := l.steps(ctx, whileOpens, nil); err != nil {
				return err
			}
		default:
			if err := l.events.wait(ctx); err != nil {
				return l.timedOut(ctx, err, joined, done, "join the group and allocate their memory")
			}
		}
		if err := ctx.Err(); err != nil {
			return l.timedOut(ctx, err, joined, done, "join the group and allocate their memory")
		}
	}
	return nil
}

// timedOut reports the missing ranks of a timeout.
func (l *Leader) timedOut(ctx context.Context, err error, ranks, done []int, what string) error {
	var missing []int
	for _, r := range ranks {
		if !slices.Contains(done, r) {
			missing = append(missing, r)
		}
	}
	if e, ok := context.Cause(ctx).(*engine.Error); ok {
		if e.Code == -int(syscall.ECANCELED) {
			return e
		}
		err = e
	}
	return l.fail("ranks %v did not %s: %v", missing, what, err)
}

// regroup connects the ranks of a change with each other, without the lost ones.
func (l *Leader) regroup(ctx context.Context, c epelastic.Change, lost []int) error {
	var stay, leave []int
	for _, r := range l.group {
		switch {
		case slices.Contains(lost, r):
		case slices.Contains(c.Ranks, r):
			stay = append(stay, r)
		default:
			leave = append(leave, r)
		}
	}
	how := doDisconnect
	if len(lost) > 0 {
		how = doAbandon
	}
	if _, err := l.ask(ctx, slices.Concat(stay, leave), order{Do: how}, "disconnect"); err != nil {
		return err
	}
	if err := l.send(leave, order{Do: doEnd}); err != nil {
		return err
	}
	for _, r := range leave {
		l.spokes[r] = nil
	}
	for _, r := range lost { // muted ranks
		if l.spokes[r] != nil {
			_ = l.send([]int{r}, order{Do: doAbandon})
			_ = l.send([]int{r}, order{Do: doEnd})
			l.spokes[r] = nil
		}
	}
	l.group = nil
	answers, err := l.ask(ctx, c.Ranks, order{Do: doAddress}, "report their addresses")
	if err != nil {
		return err
	}
	addresses := make([][]byte, len(l.nodes))
	for r, a := range answers {
		addresses[r] = a.Address
	}
	if _, err := l.ask(ctx, c.Ranks, order{Do: doConnect, Addresses: addresses}, "connect"); err != nil {
		return err
	}
	c.Connected = Now()
	l.group = c.Ranks
	l.led.Changes = append(l.led.Changes, c)
	l.use(c.Ranks)
	if _, err := l.ask(ctx, c.Ranks, order{Do: doPrepare, Ranks: c.Ranks}, "make their rows"); err != nil {
		return err
	}
	l.led.Prepared = append(l.led.Prepared, [2]int64{c.Connected, Now()})
	return nil
}

// send sends an order with the last number to ranks.
func (l *Leader) send(ranks []int, o order) error {
	o.Number = l.number
	text := encode(o)
	for _, r := range ranks {
		if l.spokes[r] == nil {
			return l.lostRank(r, nil)
		}
		if err := l.spokes[r].Send(text); err != nil {
			return l.lostRank(r, err)
		}
	}
	return nil
}

func (l *Leader) lostRank(rank int, err error) error {
	e := l.fail("lost rank %d, which its phase does not specify: %v", rank, err).(*engine.Error)
	e.Peer, e.Code = rank, -int(syscall.ECONNRESET)
	return e
}

// ask sends an order to ranks and waits for the answer of each.
func (l *Leader) ask(ctx context.Context, ranks []int, o order, what string) (map[int]answer, error) {
	l.number++
	if err := l.send(ranks, o); err != nil {
		return nil, err
	}
	answers := map[int]answer{}
	for len(answers) < len(ranks) {
		if err := l.handleChanges(); err != nil {
			return nil, err
		}
		came := l.events.takeAnswers(func(rank int) bool { return slices.Contains(ranks, rank) })
		for _, e := range came {
			var a answer
			if err := json.Unmarshal(e.text, &a); err != nil || a.Number != l.number {
				return nil, l.fail("rank %d answers another order: %q", e.spoke.Rank, e.text)
			}
			answers[e.spoke.Rank] = a
		}
		if len(came) == 0 {
			if err := l.events.wait(ctx); err != nil {
				done := []int{}
				for r := range answers {
					done = append(done, r)
				}
				return nil, l.timedOut(ctx, err, ranks, done, what)
			}
		}
	}
	return answers, nil
}

// handleChanges handles starts and ends of processes.
func (l *Leader) handleChanges() error {
	for e, any := l.events.takeChange(); any; e, any = l.events.takeChange() {
		rank := e.spoke.Rank
		switch {
		case e.err == nil:
			l.next[rank] = e.spoke
		case l.spokes[rank] == e.spoke: // otherwise it left in order
			l.spokes[rank] = nil
			return l.lostRank(rank, e.err)
		case l.next[rank] == e.spoke:
			l.next[rank] = nil
			return l.fail("lost rank %d before it joined: %v", rank, e.err)
		}
	}
	return nil
}

const clockQuestions = 8

// readClock measures by how much the clock of a rank's host is ahead.
func (l *Leader) readClock(ctx context.Context, rank int) error {
	l.ahead[rank] = 0
	if l.nodes[rank] == l.nodes[0] {
		return nil
	}
	best := int64(-1)
	for range clockQuestions {
		asked := Now()
		answers, err := l.ask(ctx, []int{rank}, order{Do: doClock}, "report their clocks")
		if err != nil {
			return err
		}
		if took := Now() - asked; best < 0 || took < best {
			best, l.ahead[rank] = took, answers[rank].Clock-asked-took/2
		}
	}
	l.bound = max(l.bound, best/2)
	return nil
}

// grace is the time for ranks to report that they are alive.
func (l *Leader) grace() time.Duration { return time.Duration(l.spec.Silence) }
