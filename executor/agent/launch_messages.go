package agent

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/wire"
)

func (l *nodeLaunch) emit(e event) {
	select {
	case l.events <- e:
	case <-l.over:
	}
}

func (l *nodeLaunch) onEvent(e event) {
	m := l.rankOf(e.from)
	if m == nil {
		return // its rank has another process
	}
	switch {
	case e.exit != nil:
		m.ended = true
		l.onExit(m, e.exit)
		l.startNext(m)
	case e.err != nil:
		l.fail(m, causeProtocol, e.err.Error())
	case e.frame.Kind == wire.KindFailure:
		l.onFailure(m, e.frame.Body)
	default:
		if err := l.onMessage(m, e.frame); err != nil {
			l.fail(m, causeProtocol, err.Error())
		}
	}
}

func (l *nodeLaunch) onExit(m *localRank, p *os.ProcessState) {
	// a process that died before SIGKILL is a cause even if its end is reported later
	_, signalled := signalOf(p)
	ours := !l.killSent.IsZero() && !(m.diedFirst && signalled)
	if ours || m.stage == finished && p.Success() || l.reportedCause(m) || l.killedAsPlanned(m, p) {
		return
	}
	l.fail(m, causeDied, exitCause(p, m.log.tail())+m.oomText(p)+m.position(l.task.launch.Cases))
}

func (l *nodeLaunch) reportedCause(m *localRank) bool {
	own := []causeKind{causeProgramKilled, causeFailed, causePeer, causePeerClosed, causeCancelled}
	return slices.ContainsFunc(l.causes, func(c cause) bool {
		return c.rank == m.rank && slices.Contains(own, c.kind)
	})
}

func (l *nodeLaunch) onFailure(m *localRank, body []byte) {
	e, err := wire.DecodeFailure(body)
	if err != nil {
		l.fail(m, causeProtocol, err.Error())
		return
	}
	k, class, cause := engineCause(e)
	if !l.stopSent.IsZero() && k != causeProgramKilled && !(k == causeFailed && m.failsAlone()) {
		k = causeCancelled
	}
	what, rest, more := strings.Cut(cause, "\n")
	if what += m.position(l.task.launch.Cases); more {
		what += "\n" + rest
	}
	s := l.causeOf(m, k, what)
	s.class = class
	l.failWith(s)
}

// onMessage handles a message that is valid in the rank's stage.
func (l *nodeLaunch) onMessage(m *localRank, f *wire.Frame) error {
	cases := l.task.launch.Cases
	switch {
	case m.stage == starting && f.Kind == wire.KindAddress:
		m.address = f.Body
		m.enter(addressed)
		if l.peers != nil {
			m.enter(connecting)
			m.queue(wire.KindPeers, l.peers)
			return nil
		}
		l.reportAddresses()
		return nil
	case m.stage == connecting && f.Kind == wire.KindConnected:
		m.enter(connected)
		if l.started {
			m.enter(running)
			m.queue(wire.KindGo, nil)
			return nil
		}
		l.reportConnected()
		return nil
	case m.stage == running && f.Kind == wire.KindResult:
		r, err := wire.DecodeResult(f.Body)
		if err != nil {
			return err
		}
		if r.Key != cases[m.next].Key || r.Rank != m.rank || r.Ended != nil || r.Absent {
			return fmt.Errorf("a result of rank %d for case %s came in case %s", r.Rank, r.Key, cases[m.next].Key)
		}
		if r.Unfinished { // its failure follows
			l.a.report(Report{Task: l.id, Result: &Result{Part: r}})
			return nil
		}
		if m.life.Killed && m.next == m.life.Last {
			return fmt.Errorf("it should have ended by SIGKILL in case %s, but ran it to the end", r.Key)
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
		if r.Samples != nil && engine.RunsCommands(l.task.launch.Runner) { // output of a program
			r.Samples = []byte(l.hidden.Text(string(r.Samples)))
		}
		l.a.report(Report{Task: l.id, Result: &Result{Part: r, Rate: rate}})
		return nil
	case m.stage == closing && f.Kind == wire.KindBye:
		m.enter(finished)
		return nil
	}
	return fmt.Errorf("it sent an unexpected %s", f.Kind)
}
