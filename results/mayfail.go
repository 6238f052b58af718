package results

import (
	"strings"
	"time"

	"github.com/weir-bench/weir/internal/lazyregexp"
	"github.com/weir-bench/weir/results/assertion"
)

// MayFail is why a case may be an error or miss assertions, with the gate's verdict on that.
type MayFail struct {
	assertion.MayFail
	// Verdict is XFail for an excused error or miss, XPass for a strict case that works, and "" otherwise:
	// expired, another error, or not run to its end.
	Verdict Verdict  `json:"verdict,omitempty" doc:"xfail: an error, or an assertion that does not hold, which is excused; xpass: the case works although it is strictly expected not to." schema:"enum=xfail|xpass"`
	Message string   `json:"message,omitempty" doc:"The error or miss that is excused, why an error is not, or that the excuse is no longer needed."`
	Reasons []Reason `json:"reasons,omitempty" doc:"Of the message; none in documents of older versions."`
}

// MayBeError reports whether errors of the case may be excused in a session with this start.
func (c *Case) MayBeError(started time.Time) bool {
	return c.MayFail != nil && c.MayFail.Counts(started)
}

// Excused reports whether the gate expected the case's error or missed assertion.
func (c *Case) Excused() bool { return c.MayFail != nil && c.MayFail.Verdict == XFail }

// Unexpected reports whether the case works although it is strictly expected not to.
func (c *Case) Unexpected() bool { return c.MayFail != nil && c.MayFail.Verdict == XPass }

// ExcusesError reports whether may_fail excuses the error status of a case: all failures of its launches
// match, or, without a match, came after the programs had started. A case without launches is excused by a
// match only.
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

// failuresOf returns the failures that made a case an error: those of its launches, or the failure of its
// run that its reason names.
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

// failures returns the failures of launches that were not retried.
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

// afterStart reports whether the programs of the launch had started when it failed. A program that a
// loader, shell or interpreter rejects because something is missing had not.
func (f *Failure) afterStart() bool {
	switch {
	case f.Kind == FailedSetup, f.Kind == FailedReady, f.Phase == "start", f.Phase == "ready":
		return false
	}
	return !missingProgram().MatchString(f.Cause)
}

// missingProgram matches messages of dynamic loaders, shells, interpreters and plugin systems about a
// missing program, library, module or plugin.
var missingProgram = lazyregexp.New(`(?im)` + strings.Join([]string{
	`exit(ed with)? status 12[67]\b`, // of shells and loaders: not executable, not found
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

// CommandCounts reports whether a command failed and the session with it. A failed setup is an error of
// its run's cases, which may be excused.
func (d *Document) CommandCounts(c Command) bool {
	if !c.FailsSession() || c.Stage != "setup" || c.Scope != "run" {
		return c.FailsSession()
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
