package results

import (
	"regexp"
	"strings"
	"time"

	"weir/assertion"
)

// MayFail is why a case may be an error or miss its assertions, with what the gate said of it.
type MayFail struct {
	assertion.MayFail
	// Verdict is XFail of an error or a miss that is excused, XPass of a case that has none although its
	// failure is expected strictly, and "" where neither counts: the day has passed, the error is another
	// one, or the case did not run to its end.
	Verdict Verdict `json:"verdict,omitempty" doc:"xfail: an error, or an assertion that does not hold, which is excused; xpass: the case works although it is strictly expected not to." schema:"enum=xfail|xpass"`
	Message string  `json:"message,omitempty" doc:"The error or miss that is excused, or why an error is not."`
}

// MayBeError says whether errors of the case may be excused in a session that started then.
func (c *Case) MayBeError(started time.Time) bool {
	return c.MayFail != nil && c.MayFail.Counts(started)
}

// Excused says whether the gate called the case an error, or one that misses an assertion, that is expected.
func (c *Case) Excused() bool { return c.MayFail != nil && c.MayFail.Verdict == XFail }

// Unexpected says whether the gate found that the case works although it is strictly expected not to.
func (c *Case) Unexpected() bool { return c.MayFail != nil && c.MayFail.Verdict == XPass }

// ExcusesError says whether may_fail excuses that the status of a case is an error: all failures of its
// launches match, or came after the programs had started where there is nothing to match. A case that was
// never launched is excused by a match alone.
func (d *Document) ExcusesError(c *Case) bool {
	if !c.MayBeError(d.Session.Started) {
		return false
	}
	failures := d.failuresOf(c)
	for _, f := range failures {
		if c.MayFail.Match == "" && !f.afterStart() || !c.MayFail.Names(f.text()) {
			return false
		}
	}
	return len(failures) > 0 || c.MayFail.Match != "" && c.MayFail.Names(c.Reason)
}

// failuresOf are the failures that made a case an error: those of its launches, or, where it was given
// up without a failure of its own, the one of its run that its reason tells.
func (d *Document) failuresOf(c *Case) []*Failure {
	if own := c.failures(); len(own) > 0 {
		return own
	}
	for _, other := range d.Cases {
		if other.Run != c.Run {
			continue
		}
		for _, f := range other.failures() {
			if strings.HasSuffix(c.Reason, f.String()) {
				return []*Failure{f}
			}
		}
	}
	return nil
}

// failures are those of launches that were not made again.
func (c *Case) failures() []*Failure {
	var out []*Failure
	for _, l := range c.Launches {
		if l.Failure != nil && !l.Retried {
			out = append(out, l.Failure)
		}
	}
	return out
}

func (f *Failure) text() string { return strings.Join(append([]string{f.Cause}, f.Log...), "\n") }

// afterStart says whether the programs of the launch had started when it failed. One that its loader,
// shell or interpreter ends because something is not there has not.
func (f *Failure) afterStart() bool {
	switch {
	case f.Kind == FailedSetup, f.Kind == FailedReady, f.Phase == "start", f.Phase == "ready":
		return false
	}
	return !somethingLacks.MatchString(f.Cause)
}

// somethingLacks are the words in which dynamic loaders, shells, interpreters and libraries with plugins
// say that a program, library, module or plugin is not there.
var somethingLacks = regexp.MustCompile(`(?im)` + strings.Join([]string{
	`exit(ed with)? status 12[67]\b`, // of shells and loaders: cannot be executed, is not there
	`error while loading shared libraries`,
	`cannot open shared object file`,
	`undefined symbol: `,
	`\bsh: (line )?\d+: .*: (not found|no such file or directory)$`,
	`: command not found$`,
	`\bmodulenotfounderror\b`, `\bimporterror\b`, `\bno module named\b`,
	`can't open file '`,
	`\blib[\w.+-]+:? (is |was )?(missing|not found|not installed)\b`,
	`\b(library|plugin|backend)s?\b.{0,80}\b(missing|not found|not installed|(cannot|could not) be (loaded|found))\b`,
	`\b(failed|unable|cannot|could not|can't) (to )?(load|find|open|dlopen)\b.{0,80}(\b(library|plugin)|\.so\b)`,
	`\bno (such )?plugins?\b`,
}, "|"))

// CommandCounts says whether a command failed and the session with it. A setup that failed
// is an error of its run's cases, which may be excused.
func (d *Document) CommandCounts(c Command) bool {
	if !c.Counts() || c.Stage != "setup" || c.Scope != "run" {
		return c.Counts()
	}
	excused := false
	for _, of := range d.Cases {
		if of.Run == c.Of && of.Status == Error {
			if !d.ExcusesError(of) {
				return true
			}
			excused = true
		}
	}
	return !excused
}
