package importer

import (
	"path"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// moment is a number of seconds that a script computes from its clock.
type moment struct {
	start   int64 // how often it has the time at which a loop starts
	passed  int64 // how often it has the time since then
	seconds int64
}

// keepMoment keeps a time that an assignment computes.
func (s *script) keepMoment(a *syntax.Assign) {
	m, known := s.momentOf(a.Value)
	if s.moments == nil {
		s.moments = map[string]moment{}
	}
	switch name := a.Name.Value; {
	case known && m.passed == 1:
		s.moments[name] = moment{start: m.start, seconds: m.seconds}
	case known && name == clock && m.start == 0:
		s.moments[name] = moment{passed: 1, seconds: m.seconds}
	default:
		delete(s.moments, name)
	}
}

// clock is the variable with the seconds since the start of the script, or since it was assigned.
const clock = "SECONDS"

// lastsFor returns how long a loop with a condition on the clock runs, in seconds; 0: it has none.
func (s *script) lastsFor(n *syntax.WhileClause) int64 {
	if len(n.Cond) != 1 {
		return 0
	}
	if o, known := s.holds(n.Cond); known && o.yes != n.Until && !s.leaves(n.Do) {
		return s.limit
	}
	var less, more moment
	var op string
	var known, also bool
	switch cond := n.Cond[0].Cmd.(type) {
	case *syntax.CallExpr:
		if len(cond.Args) < 4 || cond.Args[0].Lit() != "[" && cond.Args[0].Lit() != "test" {
			return 0
		}
		op = cond.Args[2].Lit()
		less, known = s.momentOf(cond.Args[1])
		more, also = s.momentOf(cond.Args[3])
	case *syntax.TestClause:
		binary, _ := cond.X.(*syntax.BinaryTest)
		if binary == nil {
			return 0
		}
		x, _ := binary.X.(*syntax.Word)
		y, _ := binary.Y.(*syntax.Word)
		op = binary.Op.String()
		less, known = s.momentOf(x)
		more, also = s.momentOf(y)
	case *syntax.ArithmCmd:
		binary, _ := cond.X.(*syntax.BinaryArithm)
		if binary == nil {
			return 0
		}
		op = binary.Op.String()
		less, known = s.moment(binary.X)
		more, also = s.moment(binary.Y)
	}
	switch op {
	case "-lt", "-le", "<", "<=":
	case "-gt", "-ge", ">", ">=":
		less, more = more, less
	default:
		return 0
	}
	if n.Until {
		less, more = more, less
	}
	if !known || !also || less.passed-more.passed != 1 {
		return 0
	}
	return max(0, more.seconds-less.seconds) // SECONDS is 0 at the start of a script
}

// timeLimit matches timeout with its duration.
var timeLimit = lazyregexp.New(`(?:^|[ /])timeout(?: -[ks] \S+| -\S+)* (\d[\d.]*[smh]?)(?: |$)`)

// limitOf returns the seconds after which timeout ends the command behind it; 0: the words have none that is known.
func limitOf(words []string) int64 {
	m := timeLimit().FindStringSubmatch(strings.Join(words, " "))
	if m == nil {
		return 0
	}
	seconds, _ := secondsOf(m[1])
	return int64(seconds)
}

// moment returns a time that arithmetic computes.
func (s *script) moment(e syntax.ArithmExpr) (m moment, known bool) {
	switch e := e.(type) {
	case *syntax.ParenArithm:
		return s.moment(e.X)
	case *syntax.BinaryArithm:
		sign := int64(1)
		if e.Op == syntax.Sub {
			sign = -1
		} else if e.Op != syntax.Add {
			break
		}
		x, known := s.moment(e.X)
		y, also := s.moment(e.Y)
		return moment{x.start + sign*y.start, x.passed + sign*y.passed, x.seconds + sign*y.seconds}, known && also
	case *syntax.Word:
		return s.momentOf(e)
	}
	seconds, known := s.known.number(e, false)
	return moment{seconds: seconds}, known
}

// momentOf returns the time of a word: the clock, a variable that was computed from it, or a number.
func (s *script) momentOf(w *syntax.Word) (m moment, known bool) {
	part := onlyPart(w)
	if part == nil {
		return moment{}, false
	}
	name := ""
	switch part := part.(type) {
	case *syntax.Lit:
		name = part.Value
	case *syntax.ParamExp:
		if part.Param == nil || part.Exp != nil || part.Length || part.Excl {
			return moment{}, false // no plain value of a variable
		}
		name = part.Param.Value
	case *syntax.ArithmExp:
		return s.moment(part.X)
	case *syntax.CmdSubst:
		if len(part.Stmts) == 1 {
			call, ok := part.Stmts[0].Cmd.(*syntax.CallExpr)
			ok = ok && len(call.Args) == 2 && path.Base(call.Args[0].Lit()) == "date" && call.Args[1].Lit() == "+%s"
			return moment{start: 1, passed: 1}, ok
		}
	}
	if m, known = s.moments[name]; known {
		return m, true
	}
	if text, ok := s.known.value(w); ok && text != name {
		name = text
	} else if at := s.known[name]; at.Set {
		name = at.Str
	} else if name == clock {
		return moment{start: 1, passed: 1}, true
	}
	seconds, err := strconv.ParseInt(name, 10, 64)
	return moment{seconds: seconds}, err == nil
}
