package importer

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// loop reads the passes of a loop with known values; of another loop its body once.
func (s *script) loop(text string, n *syntax.ForClause, depth int) error {
	defer s.enterLoop()()
	lines, sleeps := len(s.lines), len(s.sleeps)
	if c, ok := n.Loop.(*syntax.CStyleLoop); ok && !s.repeats(n) {
		if passes, done, err := s.threePart(text, n, c, depth); done {
			s.paced(s.lines[lines:], s.sleeps[sleeps:], passes, passes)
			return err
		}
	}
	name, values, ok := s.passes(n)
	passes, read, err := len(values), len(values), error(nil)
	if ok {
		err = s.eachPass(text, n, name, values, depth)
	} else {
		read = 1
		passes, err = s.onePass(text, n, depth)
	}
	if err == nil && !s.counts(n) {
		s.paced(s.lines[lines:], s.sleeps[sleeps:], passes, read)
	}
	return err
}

// eachPass reads the body of a loop for each value.
func (s *script) eachPass(text string, n *syntax.ForClause, name string, values []string, depth int) error {
	assumed, counts := s.known.assumes(n.Loop), s.counts(n)
	s.reachLoop(n)
	defer func(outer string) { s.point = outer }(s.point)
	for _, v := range values {
		if s.commands++; s.commands > mostCommands {
			return s.tooMany()
		}
		s.known.set(name, v, true)
		s.known.assume(name, assumed)
		s.exportKnown(name)
		if counts {
			s.point = v
		}
		if err := s.walkAll(text, n.Do, depth); err != nil {
			return err
		}
		if s.leftLoop() {
			break
		}
	}
	return nil
}

// onePass reads the body of a loop once for all its passes.
func (s *script) onePass(text string, n *syntax.ForClause, depth int) (passes int, err error) {
	passes, known := s.count(n)
	repeats := s.repeats(n)
	if s.any && repeats {
		f := s.tell(n, strings.TrimRight(text[n.Pos().Offset():n.DoPos.Offset()], "; \n"),
			"nothing: it only repeats, and weir repeats launches itself")
		defer func(before int) {
			if slices.ContainsFunc(s.lines[before:], func(l Line) bool { return l.tool == curl }) {
				f.Became = "the number of requests"
			}
		}(len(s.lines))
	}
	s.known.forgetIn(n)
	if iter, ok := n.Loop.(*syntax.WordIter); ok {
		for _, w := range iter.Items {
			if err := s.walk(text, w, depth); err != nil {
				return 0, err
			}
		}
	}
	s.reachLoop(n)
	if s.commands++; s.commands > mostCommands {
		return 0, s.tooMany()
	}
	if !known {
		passes = 0
	}
	err = s.inLoop(passes, &syntax.Block{Stmts: n.Do}, func() error {
		err := s.walkAll(text, n.Do, depth)
		s.leftLoop()
		return err
	})
	s.known.forgetIn(n)
	return passes, err
}

// reachLoop keeps that the commands of a loop's values run.
func (s *script) reachLoop(n *syntax.ForClause) {
	syntax.Walk(n.Loop, func(in syntax.Node) bool {
		s.reach(in)
		return true
	})
}

// enterLoop begins a loop; what it returns ends it.
func (s *script) enterLoop() (end func()) {
	outer, others := s.unsureLoop, len(s.others)
	s.unsureLoop = s.unsure
	s.depth++
	s.around++
	return func() {
		s.tellChanging(others, true)
		s.around--
		s.unsureLoop = outer
		s.depth--
	}
}

// leftLoop reports whether a pass of a loop left it, and ends the jump that did, unless it leaves more loops.
func (s *script) leftLoop() bool {
	if s.levels > 1 && (s.jump == breaks || s.jump == continues) {
		s.levels--
		return true
	}
	left := s.jump != onward && s.jump != continues
	if s.jump == breaks || s.jump == continues {
		s.jump = onward
	}
	return left
}

// threePart reads the passes of for ((…; …; …)). It is not done if they are not known.
func (s *script) threePart(text string, n *syntax.ForClause, c *syntax.CStyleLoop, depth int) (
	passes int, done bool, err error,
) {
	if c.Cond == nil && !s.leaves(n.Do) {
		return 0, false, nil
	}
	return s.attempt(n, func(pass int) (again, known bool) {
		step := c.Post
		if pass == 0 {
			step = c.Init
		}
		if step != nil {
			if _, known = s.known.number(step, true); !known {
				return false, false
			}
		}
		if c.Cond == nil {
			return true, true
		}
		more, known := s.known.number(c.Cond, false)
		return more != 0, known
	}, text, n.Do, depth)
}

// attempt reads passes of a body while a condition holds. If that becomes unknown, or the passes are too many, nothing
// was read.
func (s *script) attempt(
	n syntax.Node, holds func(pass int) (again, known bool), text string, body []*syntax.Stmt, depth int,
) (passes int, done bool, err error) {
	before, known, wave := *s, maps.Clone(s.known), s.shell.wave
	for pass := 0; pass < mostItems && err == nil && s.tried < mostTried; pass++ {
		s.tried++
		again, ok := holds(pass)
		if !ok {
			break
		}
		if !again {
			return pass, true, nil
		}
		if s.commands++; s.commands > mostCommands {
			break
		}
		if err = s.walkAll(text, body, depth); err == nil && s.leftLoop() {
			return pass + 1, true, nil
		}
	}
	s.shell.wave, s.sleeps = wave, before.sleeps
	s.known, s.exported, s.notes, s.lost = known, before.exported, before.notes, before.lost
	s.lines, s.commands = s.lines[:len(before.lines)], before.commands
	s.jump, s.exportsAll, s.others = before.jump, before.exportsAll, s.others[:len(before.others)]
	return 0, false, nil
}

// count returns how often a loop repeats its body, if that is known.
func (s *script) count(n *syntax.ForClause) (times int, known bool) {
	if c, ok := n.Loop.(*syntax.CStyleLoop); ok && c.Init != nil && c.Cond != nil && c.Post != nil {
		v := maps.Clone(s.known)
		_, known := v.number(c.Init, true)
		for known && *s.counted < mostPasses {
			*s.counted++
			var more int64
			if more, known = v.number(c.Cond, false); known && more == 0 {
				return times, times > 0
			}
			times++
			if known {
				_, known = v.number(c.Post, true)
			}
		}
		return 0, false
	}
	iter, ok := n.Loop.(*syntax.WordIter)
	if !ok || n.Select {
		return 0, false
	}
	if !iter.InPos.IsValid() {
		return len(s.known["@"].List), s.known["@"].Set && len(s.known["@"].List) > 0
	}
	for _, w := range iter.Items {
		n, known := s.known.wordsIn(w)
		if !known {
			return 0, false
		}
		times += n
	}
	return times, times > 0
}

// passes returns the values of a loop with a body that depends on its variable, if all are known. A loop that only
// repeats commands is read once.
func (s *script) passes(n *syntax.ForClause) (name string, values []string, ok bool) {
	iter, ok := n.Loop.(*syntax.WordIter)
	if !ok || n.Select || s.repeats(n) {
		return "", nil, false
	}
	if !iter.InPos.IsValid() { // for NAME; do
		return iter.Name.Value, s.known["@"].List, s.known["@"].Set
	}
	for _, w := range iter.Items {
		words, ok := s.known.fields(w)
		if !ok || len(values)+len(words) > mostItems {
			return "", nil, false
		}
		values = append(values, words...)
	}
	return iter.Name.Value, values, len(iter.Items) > 0
}
