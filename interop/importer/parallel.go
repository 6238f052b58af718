package importer

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// Flags of GNU parallel that do not change which commands it runs.
var (
	parallelPlain = names("--bar|--progress|--eta|--verbose|-v|-t|--tag|--lb|--line-buffer|-u|--ungroup|--group|-k|" +
		"--keep-order|--will-cite|--no-notice|--link|--xapply")
	parallelValued = names("-j|--jobs|-P|--max-procs|--delay|--timeout|--joblog|--results|--retries|--tmpdir|--tagstring|" +
		"--load|--memfree|--nice|--halt|--wd|--workdir|--env|-N|-n|--max-args|--max-replace-args")
)

// parallelPlace matches what GNU parallel replaces; a brace of other texts, as JSON, is none.
var parallelPlace = lazyregexp.New(`\{(?:\d*|#|%|[./]+|\d+[./]+)\}`)

// parallel reads the command of GNU parallel once for each of its values. It is done if they are known, and weir knows
// all flags.
func (s *script) parallel(text string, n *syntax.CallExpr, depth int) (done bool, err error) {
	words := []string{}
	for _, w := range n.Args[1:] {
		words = append(words, s.words(text, w)...)
	}
	words = s.fileSources(words)
	at := slices.IndexFunc(words, isSource)
	if at < 0 {
		at = len(words)
	}
	template, together, linked, ok := parallelFlags(words[:at])
	jobs, known := s.parallelJobs(n, words[at:], linked)
	if !ok || !known || depth >= maxNesting {
		return false, nil
	}
	line := strings.Join(template, " ")
	for _, place := range parallelPlace().FindAllString(line, -1) {
		i, err := strconv.Atoi(strings.Trim(place, "{}"))
		if place != "{}" && (err != nil || i < 1 || i > len(jobs[0])) {
			return false, nil
		}
	}
	if line != "" && !parallelPlace().MatchString(line) {
		line += " {}"
	}
	return true, s.pool("parallel", or(together, "as many as processors"), len(jobs), func(i int) error {
		l := Line{env: slices.Clone(s.exported), notes: slices.Clone(s.notes), outer: s.outerCommand}
		command := strings.Join(jobs[i], " ")
		if line != "" {
			command = parallelCommand(line, jobs[i])
		}
		return s.inner(n, l, commandText{text: command}, depth)
	})
}

// fileSources puts the lines of known files in place of :::: FILE and -a FILE.
func (s *script) fileSources(words []string) []string {
	for i := 0; i+1 < len(words) && strings.HasPrefix(words[i], "-"); i++ {
		if words[i] == "-a" || words[i] == "--arg-file" {
			words = slices.Concat(words[:i], words[i+2:], []string{"::::", words[i+1]})
		} else if slices.Contains(parallelValued, words[i]) {
			i++
		}
	}
	for i, w := range words {
		if w != "::::" || i+1 == len(words) {
			continue
		}
		if text, known := s.known.fileText(words[i+1]); known {
			s.uses(words[i+1])
			return s.fileSources(slices.Concat(words[:i], []string{":::"}, linesOf(text), words[i+2:]))
		}
	}
	return words
}

// isSource reports whether a word begins values of GNU parallel.
func isSource(word string) bool { return strings.HasPrefix(word, ":::") }

// parallelFlags reads the flags before the command; together is how many jobs run at once, linked whether values of
// several sources go together. It is not ok if a flag changes which commands run.
func parallelFlags(words []string) (command []string, together string, linked, ok bool) {
	for len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' {
		flag, value, joined := strings.Cut(words[0], "=")
		words = words[1:]
		if len(flag) > 2 && flag[1] != '-' {
			flag, value, joined = flag[:2], flag[2:], true
		}
		switch {
		case slices.Contains(parallelPlain, flag):
			linked = linked || flag == "--link" || flag == "--xapply"
			continue
		case !slices.Contains(parallelValued, flag) || !joined && len(words) == 0:
			return nil, "", false, false
		case !joined:
			value, words = words[0], words[1:]
		}
		switch flag {
		case "-j", "--jobs", "-P", "--max-procs":
			together = value
		case "-N", "-n", "--max-args", "--max-replace-args":
			if value != "1" {
				return nil, "", false, false
			}
		}
	}
	return words, together, linked, true
}

// parallelJobs returns the values of each job: each combination of those of all sources.
func (s *script) parallelJobs(n *syntax.CallExpr, words []string, linked bool) (jobs [][]string, known bool) {
	jobs = [][]string{nil}
	if len(words) == 0 {
		text, known, _ := s.givenTo(n)
		jobs = nil
		for line := range strings.Lines(text) {
			jobs = append(jobs, []string{strings.TrimSuffix(line, "\n")})
		}
		return jobs, known && len(jobs) > 0 && len(jobs) <= mostItems
	}
	for len(words) > 0 {
		mark := words[0]
		end := 1
		for end < len(words) && !isSource(words[end]) {
			end++
		}
		values := words[1:end]
		words = words[end:]
		if mark != ":::" && mark != ":::+" || len(values) == 0 || slices.ContainsFunc(values, unexpanded) {
			return nil, false
		}
		together := mark == ":::+" || linked && len(jobs[0]) > 0
		if jobs = combined(jobs, values, together); jobs == nil || len(jobs) > mostItems {
			return nil, false
		}
	}
	return jobs, true
}

// combined adds the values of a source to jobs: one to each, or all to each.
func combined(jobs [][]string, values []string, together bool) (all [][]string) {
	if together && len(jobs) != len(values) {
		return nil
	}
	for i, job := range jobs {
		if together {
			all = append(all, append(slices.Clone(job), values[i]))
			continue
		}
		for _, v := range values {
			all = append(all, append(slices.Clone(job), v))
		}
	}
	return all
}

// parallelCommand puts the values of a job into the command, quoted.
func parallelCommand(line string, job []string) string {
	var quoted []string
	for _, v := range job {
		q, err := syntax.Quote(v, syntax.LangBash)
		if err != nil {
			q = v
		}
		quoted = append(quoted, q)
	}
	return parallelPlace().ReplaceAllStringFunc(line, func(place string) string {
		if i, err := strconv.Atoi(strings.Trim(place, "{}")); err == nil {
			return quoted[i-1]
		}
		return strings.Join(quoted, " ")
	})
}
