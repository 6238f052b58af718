package screen

import "time"

// groupTally counts the units and the launches of a launch group.
type groupTally struct {
	done, ahead  int
	made, toMake int // launches
	cases        int // without those that are skipped before the first launch
	looks        []int
	asserted     bool // an assertion may ask for more launches
	started      bool
}

// done is the number of completed units.
func (t *progressState) done() (n int) {
	for _, g := range t.group {
		n += g.done
	}
	return n
}

// total is the number of units until the next look.
func (t *progressState) total() (n int) {
	for _, g := range t.group {
		n += g.done + g.ahead
	}
	return n
}

// launchesMade are the numbers of completed launches and of all launches until the next look.
func (t *progressState) launchesMade() (made, all int) {
	for _, g := range t.group {
		made, all = made+g.made, all+g.made+g.toMake
	}
	return made, all
}

// left estimates the remaining time; "" before the first unit, and when none is known to be ahead. While a group may
// need launches beyond its next look, it is the time to that look.
func (t *progressState) left(elapsed time.Duration) string {
	done, ahead := t.done()-t.resumed, t.total()-t.done()
	if done <= 0 || ahead <= 0 {
		return ""
	}
	text := "~" + time.Duration(float64(elapsed)/float64(done)*float64(ahead)).Round(time.Second).String()
	if t.moreAfterLook() {
		return text + " to the next look"
	}
	return text + " left"
}

// moreAfterLook reports whether a group with launches ahead may need more after its next look.
func (t *progressState) moreAfterLook() bool {
	for _, g := range t.group {
		if g.asserted && g.ahead > 0 && g.made+g.toMake < g.looks[len(g.looks)-1] {
			return true
		}
	}
	return false
}
