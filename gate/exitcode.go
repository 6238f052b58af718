package gate

import (
	"slices"

	"github.com/weir-bench/weir/results"
)

// The exit codes of weir are an interface: scripts and CI jobs branch on them.
const (
	ExitPassed       = 0
	ExitFailed       = 1
	ExitInconclusive = 3
	ExitUsage        = 4
	ExitEmpty        = 5
	ExitExecution    = 6
	ExitStale        = 7
	ExitInternal     = 8
	ExitTimeout      = 124
	ExitInterrupted  = 130
	ExitTerminated   = 143
)

// ExitCodes lists every exit code with its meaning.
var ExitCodes = []struct {
	Code    int
	Meaning string
}{
	{ExitPassed, "all gates passed; warnings and assertions of severity info do not count"},
	{ExitFailed,
		"an assertion failed, an assertion expected to fail held, or a case with strict may_fail worked; of weir compare: a regression"},
	{ExitInconclusive,
		"no gate failed, but after the last look one is still inconclusive, or no launch of a case counts: less noise or more launches would decide it; of weir compare: whether there is a regression; of weir calibrate: too much noise for a tolerance"},
	{ExitUsage, "wrong usage, or a scenario or plan that is not valid; nothing was run"},
	{ExitEmpty, "nothing was run: no case was selected, or all were skipped or excluded"},
	{ExitExecution,
		"execution error: infrastructure, a crash, the timeout of a case, a metric that is missing or not finite, a failed check, setup or teardown, a required artifact that is missing"},
	{ExitStale, "the saved plan is stale, or a digest does not match"},
	{ExitInternal, "internal error: a bug in weir"},
	{ExitTimeout, "the total timeout passed; what was measured until then is in the report"},
	{ExitInterrupted, "interrupted (SIGINT); what was measured until then is in the report"},
	{ExitTerminated, "terminated (SIGTERM); what was measured until then is in the report"},
}

// precedence lists codes before those that they outrank. Aborts come first: an interrupted session keeps
// its code whatever it measured.
var precedence = []int{
	ExitTerminated, ExitInterrupted, ExitTimeout,
	ExitInternal, ExitUsage, ExitStale, ExitExecution, ExitFailed, ExitInconclusive, ExitEmpty, ExitPassed,
}

// Worst returns the code that outranks the others; an unknown code counts as an internal error.
func Worst(codes ...int) int {
	worst := len(precedence) - 1
	for _, c := range codes {
		i := slices.Index(precedence, c)
		if i < 0 {
			return ExitInternal
		}
		worst = min(worst, i)
	}
	return precedence[worst]
}

// ExitCode returns the exit code of a judged document. Outcomes of the session itself take part: an abort,
// an internal error, a wrong or stale plan; failed checks, setups, teardowns and missing artifacts are
// execution errors. Codes of verdicts are computed again.
func ExitCode(doc *results.Document) int {
	codes := []int{}
	switch c := doc.Session.ExitCode; c {
	case ExitTerminated, ExitInterrupted, ExitTimeout, ExitInternal, ExitUsage, ExitStale:
		codes = append(codes, c)
	}
	if doc.Session.Reason != "" {
		codes = append(codes, ExitExecution)
	}
	for _, c := range doc.Checks {
		if c.FailsSession() {
			codes = append(codes, ExitExecution)
		}
	}
	for _, a := range doc.Artifacts {
		if a.FailsSession() {
			codes = append(codes, ExitExecution)
		}
	}
	for _, c := range doc.Commands {
		if doc.CommandCounts(c) {
			codes = append(codes, ExitExecution)
		}
	}
	for _, c := range doc.Cases {
		switch {
		case c.Excused():
		case c.Status == results.Error || c.Invalid != "":
			codes = append(codes, ExitExecution)
		case c.Unexpected():
			codes = append(codes, ExitFailed)
		case c.Unmeasured() != "":
			codes = append(codes, unmeasured(doc))
		}
	}
	if !doc.Ran() {
		codes = append(codes, ExitEmpty)
	}
	for _, a := range doc.AllAssertions() {
		switch a.Standing() {
		case string(results.Fail), string(results.XPass):
			codes = append(codes, ExitFailed)
		case string(results.InconclusiveVerdict):
			codes = append(codes, ExitInconclusive)
		case string(results.ErrorVerdict):
			codes = append(codes, ExitExecution)
		}
	}
	return Worst(codes...)
}

// unmeasured is the exit code for a case without a usable launch.
func unmeasured(doc *results.Document) int {
	switch doc.Session.Policy().As {
	case "fail":
		return ExitFailed
	case "warn", "pass":
		return ExitPassed
	}
	return ExitInconclusive
}

// status is the session's status for an exit code.
func status(code int) string {
	switch code {
	case ExitPassed:
		return results.Passed
	case ExitFailed:
		return results.Failed
	case ExitInconclusive:
		return results.Inconclusive
	case ExitTimeout, ExitInterrupted, ExitTerminated:
		return results.Aborted
	}
	return results.Errored
}
