package agent

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"weir/engine"
	"weir/executor/wire"
)

func (l *launch) emit(e event) {
	select {
	case l.events <- e:
	case <-l.over:
	}
}

func (l *launch) event(e event) {
	m := l.memberOf(e.from)
	if m == nil {
		return // it has ended, as it was to
	}
	switch {
	case e.exit != nil:
		m.ended = true
		l.exited(m, e.exit)
		l.succeed(m)
	case e.err != nil:
		l.suspect(m, kindGarbage, e.err.Error())
	case e.frame.Kind == wire.KindFailure:
		l.complained(m, e.frame.Body)
	default:
		if err := l.message(m, e.frame); err != nil {
			l.suspect(m, kindGarbage, err.Error())
		}
	}
}

func (l *launch) exited(m *member, p *os.ProcessState) {
	// who died while the machine was too busy to tell is to blame, whoever spoke first
	_, signalled := signalOf(p)
	ours := !l.killed.IsZero() && !(m.fell && signalled)
	if ours || m.stage == left && p.Success() || l.spoke(m) || l.endedAsSaid(m, p) {
		return
	}
	l.suspect(m, kindDied, fromExit(p, m.log.tail())+m.starvation()+m.where(l.task.launch.Cases))
}

// spoke says whether the rank itself has already said why it ends.
func (l *launch) spoke(m *member) bool {
	return slices.ContainsFunc(l.suspects, func(s suspect) bool {
		return s.rank == m.rank && (s.kind == kindFailed || s.kind == kindPeer || s.kind == kindForsaken ||
			s.kind == kindTold)
	})
}

func (l *launch) complained(m *member, body []byte) {
	e, err := wire.DecodeFailure(body)
	if err != nil {
		l.suspect(m, kindGarbage, err.Error())
		return
	}
	k, class, cause := fromEngine(e)
	if own := k == kindFailed && m.stage == running; !l.told.IsZero() && !own {
		k = kindTold // in a case it would say that it was stopped, and may have failed before
	}
	what, said, more := strings.Cut(cause, "\n")
	if what += m.where(l.task.launch.Cases); more {
		what += "\n" + said
	}
	s := l.about(m, k, what)
	s.class = class
	l.blame(s)
}

// message takes a message that belongs to the rank's stage.
func (l *launch) message(m *member, f *wire.Frame) error {
	cases := l.task.launch.Cases
	switch {
	case m.stage == starting && f.Kind == wire.KindAddress:
		m.address = f.Body
		m.enter(addressed)
		if l.peers != nil {
			m.enter(connecting)
			m.tell(wire.KindPeers, l.peers)
			return nil
		}
		return l.publish()
	case m.stage == connecting && f.Kind == wire.KindConnected:
		m.enter(connected)
		if l.started {
			m.enter(running)
			m.tell(wire.KindGo, nil)
			return nil
		}
		return l.arrive()
	case m.stage == running && f.Kind == wire.KindResult:
		r, err := wire.DecodeResult(f.Body)
		if err != nil {
			return err
		}
		if r.Key != cases[m.next].Key || r.Rank != m.rank || r.Ended != nil || r.Absent {
			return fmt.Errorf("a result of rank %d for case %s came in case %s", r.Rank, r.Key, cases[m.next].Key)
		}
		if r.Unfinished { // why it stopped comes next
			l.a.report(Report{Task: l.id, Result: &Result{Part: r}})
			return nil
		}
		if m.life.Killed && m.next == m.life.Last {
			return fmt.Errorf("it was to end by SIGKILL in case %s, and is there after it", r.Key)
		}
		m.next++
		m.enter(running)
		if m.next > m.life.Last {
			m.enter(closing)
		}
		rate := 0.
		if r.Samples != nil {
			rate = float64(m.control.Rate.Load())
		}
		r.Facts = l.hidden.JSON(r.Facts)
		if r.Samples != nil && engine.RunsCommands(l.task.launch.Runner) { // they are what a program printed
			r.Samples = []byte(l.hidden.Text(string(r.Samples)))
		}
		l.a.report(Report{Task: l.id, Result: &Result{Part: r, Rate: rate}})
		return nil
	case m.stage == closing && f.Kind == wire.KindBye:
		m.enter(left)
		return nil
	}
	return fmt.Errorf("it sent %s out of turn", f.Kind)
}
