package importer

import (
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// shell runs commands of a script: the script's own, or that of a job in the background.
type shell struct {
	wave  *wave
	jobs  int
	loops []onePass // those around the command that are read once for all passes
}

// jobsOf is what a script says about how often its commands run, and which together.
type jobsOf struct {
	shell    *shell
	outer    []stage // in the shells around the current one
	sleeps   []slept
	branches int    // around the command that may not run
	times    int    // how often loops that are read once repeat the command; 0: once
	open     int    // loops around the command with passes that only the shell knows
	lasts    string // the time for which the loop around the command runs; "": it is not known
	limit    int64  // the seconds after which timeout ends the shell; 0: it does not
	point    string // the value of the loop around the command that says how many run
	moments  map[string]moment
	counted  *int // passes of all loops that were counted
}

func newJobs() jobsOf { return jobsOf{shell: newShell(), counted: new(int)} }

// amount is how often a command runs, and what runs at the same time.
type amount struct {
	stages []stage
	order  int    // its number among the commands that run
	times  int    // how often loops repeat it
	open   bool   // only the shell knows how often
	lasts  string // the time for which loops repeat it
	point  string // the value of the loop around it that says how many run
	pause  *pause
}

// amount returns that of the current command.
func (s *script) amount() amount {
	return amount{
		stages: s.stages(), order: s.commands, times: max(1, s.times), open: s.open > 0, lasts: s.lasts, point: s.point,
	}
}

// onePass is a loop that is read once for all its passes.
type onePass struct {
	times int  // its passes; 0: only the shell knows, or which of them wait
	waits bool // each pass waits for what it starts
}

// wave is what a shell starts in the background until it waits, or what one command starts together.
type wave struct {
	of       *shell
	by       string // what runs the commands together
	most     int    // of its jobs run at once; 0: all, -1: only the shell knows
	running  int    // jobs that no wait -n has waited for
	highest  int    // of running
	slides   bool   // it has a wait -n
	branches int    // around its last job that may not run
	unsure   bool   // only the shell knows whether it ends earlier
}

// stage is the place of a command in one of the shells around it.
type stage struct {
	of      *wave
	job     int  // its number in the wave; 0: the shell itself runs the command
	copies  int  // how often loops start the job in the wave
	unknown bool // only the shell knows how often
	waves   bool // loops start such waves one after another
}

// background is what runs commands with & together.
const background = "&"

func newShell() *shell {
	s := &shell{}
	s.wave = &wave{of: s, by: background}
	return s
}

// stages returns the place of a command that the current shell runs.
func (s *script) stages() []stage {
	return append(slices.Clone(s.outer), stage{of: s.shell.wave, copies: 1})
}

// job reads commands that the current shell starts in the background.
func (s *script) job(read func() error) error {
	w := s.shell.wave
	s.shell.jobs++
	at := stage{of: w, job: s.shell.jobs, copies: 1}
	for _, l := range s.shell.loops {
		switch {
		case l.waits:
			at.waves = true
		case l.times == 0:
			at.unknown = true
		default:
			at.copies *= l.times
		}
	}
	w.branches, w.running = s.branches, w.running+at.copies
	w.highest = max(w.highest, w.running)
	return s.ownShell(func() error { return s.below(at, newShell(), read) })
}

// mostWaiting is how deep functions are searched for wait.
const mostWaiting = 3

// mostPasses are those that are counted of all loops of a script.
const mostPasses = 1 << 16

// inLoop reads the body of a loop once for its passes; 0: only the shell knows how many.
func (s *script) inLoop(passes int, body syntax.Node, read func() error) error {
	times, loops, open := s.times, s.shell.loops, s.open
	waits, sometimes := s.waits(body, mostWaiting)
	in := onePass{times: passes, waits: waits}
	if sometimes {
		in.times = 0
	}
	s.shell.loops = append(slices.Clone(loops), in)
	if s.times = max(1, times) * max(1, passes); passes == 0 {
		s.open++
	}
	of := s.shell
	defer func() { s.times, of.loops, s.open = times, loops, open }()
	return read()
}

// below reads commands of another shell.
func (s *script) below(at stage, in *shell, read func() error) error {
	outer, shell := s.outer, s.shell
	s.outer, s.shell = append(slices.Clone(outer), at), in
	defer func() { s.outer, s.shell = outer, shell }()
	return read()
}

// pool reads commands that one command runs, at most as many together as a text says: "": one after another, "0": all.
func (s *script) pool(by, most string, commands int, read func(i int) error) error {
	each := func(in func(func() error) error) error {
		for i := range commands {
			if err := in(func() error { return read(i) }); err != nil {
				return err
			}
		}
		return nil
	}
	if most == "" {
		return each(func(one func() error) error { return one() })
	}
	in := newShell()
	n, err := strconv.Atoi(most)
	if in.wave.by, in.wave.most = by, n; err != nil || n < 0 {
		in.wave.most = -1
	}
	return s.below(stage{of: s.shell.wave, copies: 1}, in, func() error { return each(s.job) })
}

// wait ends a wave of the current shell.
func (s *script) wait(n *syntax.CallExpr) {
	w := s.shell.wave
	switch {
	case w.running > 0 && s.branches > w.branches:
		w.unsure = true
	case len(n.Args) > 1 && n.Args[1].Lit() == "-n":
		w.slides, w.running = true, max(0, w.running-1)
	default:
		s.shell.wave = &wave{of: s.shell, by: background}
	}
}

// waits reports whether commands, or functions that they call, wait for what they start; sometimes: only in a branch,
// or for one job alone.
func (s *script) waits(top syntax.Node, depth int) (always, sometimes bool) {
	add := func(n syntax.Node, depth int, sure bool) {
		a, b := s.waits(n, depth)
		always, sometimes = always || a && sure, sometimes || b || a && !sure
	}
	syntax.Walk(top, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			return !n.Background
		case *syntax.FuncDecl, *syntax.CmdSubst:
			return false
		case *syntax.BinaryCmd:
			if n != top && (n.Op == syntax.AndStmt || n.Op == syntax.OrStmt) {
				add(n, depth, false)
				return false
			}
		case *syntax.IfClause, *syntax.CaseClause:
			if n != top {
				add(n, depth, false)
				return false
			}
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				return true
			}
			name := n.Args[0].Lit()
			one := len(n.Args) > 1 && n.Args[1].Lit() == "-n"
			always, sometimes = always || name == "wait" && !one, sometimes || name == "wait" && one
			if f := s.functions[name]; f != nil && depth > 0 {
				add(f.decl.Body, depth-1, true)
			}
		}
		return true
	})
	return always, sometimes
}
