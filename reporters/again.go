package reporters

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/results"
)

// remedy is what to change first to decide an inconclusive finding, if repeating the command cannot; "":
// it may.
func remedy(f finding) string {
	a := f.assertion
	open := f.standing == string(results.InconclusiveVerdict) || f.standing == string(results.WarnVerdict)
	if a == nil || a.Change == "" || !open {
		return ""
	}
	if m := launchesChange.FindStringSubmatch(a.Change); m != nil && f.launches != "" {
		return plain("without " + f.launches + ", or with --launches " + m[1])
	}
	return plain(sentence(" ", "first "+a.Change, parenthesis(f.place)))
}

// launchesChange is the advice to set launches in the scenario.
var launchesChange = regexp.MustCompile(`^set launches: (.*)$`)

// launchesFlag is the flag --launches of the session, which takes precedence over the scenario; "": it had none.
func launchesFlag(doc *results.Document) string {
	for i, word := range doc.Session.Again {
		if word == "--launches" && i+1 < len(doc.Session.Again) {
			return "--launches " + doc.Session.Again[i+1]
		}
	}
	return ""
}

// againText is the text after "again:": what to change, or a command.
func againText(doc *results.Document, f finding) string {
	if text := remedy(f); text != "" {
		return text
	}
	return again(doc, f)
}

// again is the command that repeats the cases of a finding, with the session's flags; "" if there is no
// case, or if the result would be the same.
func again(doc *results.Document, f finding) string {
	switch a := f.assertion; {
	case f.busy:
		return "" // on the same host it would end as before
	case f.of != nil && cannotLaunch(f.of), undecidable(f):
		return ""
	case len(f.sameCases) > 0 && f.of != nil:
		return withLaunches(againOnly(doc, selectors(doc, append([]*results.Case{f.of}, f.sameCases...))...), f)
	case f.of != nil:
		return withLaunches(againOnly(doc, f.of.Key), f)
	case a == nil || len(a.Cases) == 0:
		return ""
	case a.Trend != nil:
		return withLaunches(againOnly(doc, f.where), f)
	default:
		return withLaunches(againOnly(doc, runsOf(doc, a.Cases)...), f)
	}
}

// undecidable reports whether a finding is inconclusive because the workload cannot tell the metric, so that more
// launches would be as inconclusive.
func undecidable(f finding) bool {
	return f.assertion != nil && f.standing == string(results.InconclusiveVerdict) &&
		slices.ContainsFunc(f.assertion.Reasons, func(r results.Reason) bool { return r.Kind == results.Undecidable })
}

// mostSelected is how many cases a command names; beyond that it names their runs.
const mostSelected = 4

// selectors select cases: by their keys, or by their runs if these have no other cases or too many.
func selectors(doc *results.Document, cases []*results.Case) []string {
	others := map[string]int{} // cases of a run that are not selected
	for _, c := range doc.Cases {
		others[c.Run]++
	}
	var keys []string
	for _, c := range cases {
		others[c.Run]--
		keys = append(keys, c.Key)
	}
	rest := slices.ContainsFunc(cases, func(c *results.Case) bool { return c.Run == "" || others[c.Run] > 0 })
	if rest && len(keys) <= mostSelected {
		return keys
	}
	return runsOf(doc, keys)
}

// mostAgain is the largest number of launches that weir run accepts.
const mostAgain = 1000

// withLaunches asks for as many launches as would decide an inconclusive finding.
func withLaunches(command string, f finding) string {
	a := f.assertion
	if a == nil || f.standing != string(results.InconclusiveVerdict) || a.Deciding < 1 || a.Deciding > mostAgain {
		return command
	}
	return launchesWord.ReplaceAllString(command, "") + " --launches " + strconv.Itoa(a.Deciding)
}

var launchesWord = regexp.MustCompile(` --launches[ =]\d+`)

// againOnly is the command for some selectors; "" for older documents, which do not record the session's
// flags.
func againOnly(doc *results.Document, selectors ...string) string {
	words := []string{"weir run " + quoted(doc.Scenario.File)}
	if said := doc.Session.Again; len(said) > 0 {
		words = nil
		for _, word := range said {
			words = append(words, shellWord(word))
		}
	}
	for _, s := range selectors {
		words = append(words, "--only "+quoted(s))
	}
	return strings.Join(append(shellVariables(doc), words...), " ")
}

// shellVariables are assignments of the library variables that the session's shell had.
func shellVariables(doc *results.Document) []string {
	all := doc.Environment.Variables
	if len(all) == 0 {
		return nil
	}
	words := []string{"env"}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		words = append(words, shellWord(name)+"="+shellWord(all[name]))
	}
	return words
}

// shellWord quotes a word for a shell.
func shellWord(s string) string {
	harmless := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./:=,@%+", r)
	}
	if s != "" && strings.TrimFunc(s, harmless) == "" {
		return s
	}
	return quoted(s)
}

func quoted(s string) string { return "'" + strings.ReplaceAll(plain(s), "'", `'\''`) + "'" }
