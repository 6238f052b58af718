package reporters

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"weir/results"
)

// remedy is what to change first of what was inconclusive, where the same command cannot decide; "": it may.
func remedy(f finding) string {
	a := f.assertion
	open := f.standing == string(results.InconclusiveVerdict) || f.standing == string(results.WarnVerdict)
	if a == nil || a.Change == "" || !open {
		return ""
	}
	return plain(sentence(" ", "first "+a.Change, parenthesis(f.place)))
}

// againText is what stands behind "again:", what to change or a command.
func againText(doc *results.Document, f finding) string {
	if text := remedy(f); text != "" {
		return text
	}
	return again(doc, f)
}

// again is the command that runs what a finding is about once more, with the flags of
// the session that decide what is run and where; "" where it is about no case, or must end as before.
func again(doc *results.Document, f finding) string {
	switch a := f.assertion; {
	case f.busy:
		return "" // on the same host it would end as before
	case f.of != nil && lacking(f.of):
		return ""
	case len(f.alike) > 0 && f.of != nil:
		keys := []string{f.of.Key}
		for _, c := range f.alike {
			keys = append(keys, c.Key)
		}
		if len(keys) <= mostSelected {
			return withLaunches(againOnly(doc, keys...), f)
		}
		return withLaunches(againOnly(doc, runsOf(doc, keys)...), f)
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

// mostSelected is how many cases a command names; of more it names their runs.
const mostSelected = 4

// mostAgain is the largest number of launches that weir run takes.
const mostAgain = 1000

// withLaunches asks for as many launches as would decide what is inconclusive: as many as
// before would leave it so.
func withLaunches(command string, f finding) string {
	a := f.assertion
	if a == nil || f.standing != string(results.InconclusiveVerdict) || a.Deciding < 1 || a.Deciding > mostAgain {
		return command
	}
	return launchesWord.ReplaceAllString(command, "") + " --launches " + strconv.Itoa(a.Deciding)
}

var launchesWord = regexp.MustCompile(` --launches[ =]\d+`)

// againOnly is the command for some selectors. Documents of older versions do not say
// with which flags their session ran.
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

// shellVariables are the words that give a command the library variables that the shell of
// the session had.
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

// shellWord is a word as a shell reads it.
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
