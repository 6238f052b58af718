package importer

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// slept is a pause of a shell.
type slept struct {
	of       *shell
	text     string
	branches int
	command  *syntax.CallExpr
}

// pause is what the passes of a loop leave between requests.
type pause struct {
	text   string  // of sleep
	each   float64 // seconds; 0: only the shell knows
	starts int     // requests that each pass starts in the background; 0: they are not in the background
	waves  bool    // each pass waits for its requests
	sure   bool    // no branch decides whether it is there
}

// paced keeps the pauses between the requests of a loop with a number of passes, and how many of them were read.
func (s *script) paced(lines []Line, sleeps []slept, passes, read int) {
	outer := 1
	for _, l := range s.shell.loops {
		if !l.waits {
			outer *= max(1, l.times)
		}
	}
	pauses, ofJob, requests := map[*Fate]*pause{}, map[int]*pause{}, map[*Fate]int{}
	for i := range lines {
		l := &lines[i]
		at := slices.IndexFunc(l.stages, func(of stage) bool { return of.of.of == s.shell })
		if l.tool != curl || l.pause != nil || at < 0 {
			continue
		}
		if pauses[l.fate] == nil {
			pauses[l.fate] = s.pauseOf(sleeps, read)
		}
		if l.pause = pauses[l.fate]; l.pause == nil {
			return
		}
		requests[l.fate] += l.times / max(1, s.times)
		if of := l.stages[at]; of.job > 0 {
			l.pause.starts += of.copies / outer
			l.pause.waves = of.waves || of.of != s.shell.wave
			if other := ofJob[of.job]; other != nil && other != l.pause { // the job sends several
				other.each, l.pause.each = 0, 0
			}
			ofJob[of.job] = l.pause
		}
	}
	for fate, of := range pauses {
		became := "nothing: the load sends the next request when one ends"
		if of.starts > 0 {
			if of.starts != requests[fate] { // each sends several
				of.each = 0
			}
			if of.starts = max(1, of.starts/max(1, passes)); !of.waves && of.sure {
				became = "the rate of requests"
			}
		}
		for _, one := range sleeps {
			if f := s.fateOf[one.command]; f != nil && one.of == s.shell {
				f.Became = became
			}
		}
	}
}

// pauseOf returns the pause of a pass, given those of all that were read; nil: there is none.
func (s *script) pauseOf(sleeps []slept, read int) (of *pause) {
	known := true
	for _, one := range sleeps {
		if one.of != s.shell {
			continue
		}
		seconds, ok := secondsOf(one.text)
		if of == nil {
			of = &pause{text: "sleep " + one.text, sure: true}
		}
		known = known && ok && of.text == "sleep "+one.text
		of.each, of.sure = of.each+seconds, of.sure && one.branches == s.branches
	}
	if of != nil && known {
		of.each /= float64(max(1, read))
	} else if of != nil {
		of.each = 0
	}
	return of
}

// secondsOf returns the seconds of an argument of sleep.
func secondsOf(text string) (seconds float64, known bool) {
	unit := 1.0
	for suffix, of := range map[string]float64{"s": 1, "m": 60, "h": 3600} {
		if cut, ok := strings.CutSuffix(text, suffix); ok {
			text, unit = cut, of
			break
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	return n * unit, err == nil && n > 0 && !math.IsInf(n, 0)
}
