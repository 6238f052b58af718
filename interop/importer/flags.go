package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
	"github.com/weir-bench/weir/internal/suggest"
)

// shown formats a flag as users write it.
func (f *flag) shown() string { return dashed(f.Names[0]) }

// all formats all names of a flag as users write them.
func (f *flag) all(between string) string {
	var names []string
	for _, n := range f.Names {
		names = append(names, dashed(n))
	}
	return strings.Join(names, between)
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// setting is a flag with its value.
type setting struct {
	flag  *flag
	value string
	words []string // as written
}

// typedDash matches a flag that a web page or an editor made prettier.
var typedDash = lazyregexp.New(`^-?[‐‑‒–—―−][A-Za-z]`)

// parse reads the words after the tool's name.
func (t *tool) parse(args []string) (settings []setting, positional []string, err error) {
	if t.Style == words {
		return nil, args, nil
	}
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		switch {
		case word == "--":
			return settings, append(positional, args...), nil
		case typedDash().MatchString(word):
			return nil, nil, fmt.Errorf("%q begins with a dash of typeset texts: flags begin with - or --", word)
		case len(word) < 2 || word[0] != '-':
			positional = append(positional, word)
		case t.Style == getopt && word[1] != '-':
			if args, err = t.shorts(word[1:], args, &settings); err != nil {
				return nil, nil, err
			}
		default:
			s, taken, err := t.long(word, args)
			if err != nil {
				return nil, nil, err
			}
			settings, args = append(settings, s), args[taken:]
		}
	}
	return settings, positional, nil
}

// shorts reads flags of one letter that share a word; the rest of the word is the value of a flag
// that takes one.
func (t *tool) shorts(letters string, args []string, settings *[]setting) ([]string, error) {
	for i, letter := range letters {
		f := t.flag(string(letter))
		if f == nil {
			return nil, t.unknown("-"+string(letter), string(letter))
		}
		s := setting{flag: f, value: "true", words: []string{"-" + string(letter)}}
		if f.Takes == nothing {
			*settings = append(*settings, s)
			continue
		}
		s.value = letters[i+len(string(letter)):]
		if s.value == "" {
			if len(args) == 0 {
				return nil, fmt.Errorf("-%c needs a value", letter)
			}
			s.value, args = args[0], args[1:]
		}
		s.words = append(s.words, s.value)
		*settings = append(*settings, s)
		return args, s.check("-" + string(letter))
	}
	return args, nil
}

// long reads a flag by name; taken is the number of following words that belong to it.
func (t *tool) long(word string, args []string) (s setting, taken int, err error) {
	name, value, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
	shown := strings.TrimSuffix(word, "="+value)
	s = setting{value: value, words: []string{word}}
	if t.Style == gflags {
		name = strings.ReplaceAll(name, "-", "_")
	}
	if s.flag = t.flag(name); s.flag == nil && t.Style == gflags {
		if f := t.flag(strings.TrimPrefix(name, "no")); f != nil && f.Takes == boolean && !hasValue {
			return setting{f, "false", []string{word}}, 0, nil
		}
	}
	if s.flag == nil && t.Style == argparse {
		s.flag = t.flag(strings.ReplaceAll(name, "_", "-"))
	}
	if s.flag == nil && t.Style != gflags {
		s.flag = t.begins(name)
	}
	switch {
	case s.flag == nil:
		return s, 0, t.unknown(shown, name)
	case s.flag.Takes == nothing && hasValue:
		return s, 0, fmt.Errorf("%s takes no value", shown)
	case s.flag.Takes == nothing, s.flag.Takes == boolean && !hasValue:
		s.value = "true"
	case !hasValue && len(args) == 0:
		return s, 0, fmt.Errorf("%s needs a value", shown)
	case !hasValue:
		taken = 1
		for s.flag.Takes == several && taken < len(args) && !strings.HasPrefix(args[taken], "-") {
			taken++
		}
		s.value = strings.Join(args[:taken], " ")
		s.words = append(s.words, args[:taken]...)
	}
	return s, taken, s.check(shown)
}

// check checks a value against the flag's type.
func (s *setting) check(shown string) error {
	switch s.flag.Takes {
	case boolean:
		b, ok := booleans[strings.ToLower(s.value)]
		if !ok {
			return fmt.Errorf("%s: %q is neither true nor false", shown, s.value)
		}
		s.value = strconv.FormatBool(b)
	case number:
		if s.flag.fate == ignored && unexpanded(s.value) || s.flag.seedNewEachTime(s.value) {
			return nil
		}
		n, err := strconv.ParseInt(s.value, 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("%s: %q is not a whole number from 0%s", shown, s.value, ofShell(s.value))
		}
		s.value = strconv.FormatInt(n, 10)
	case decimal:
		if n, err := strconv.ParseFloat(s.value, 64); (err != nil || !(n >= 0)) && !unexpanded(s.value) {
			return fmt.Errorf("%s: %q is not a number from 0", shown, s.value)
		}
	}
	return nil
}

var booleans = map[string]bool{
	"true": true, "t": true, "yes": true, "y": true, "1": true, "false": false, "f": false, "no": false, "n": false,
	"0": false,
}

func (t *tool) flag(name string) *flag {
	for i := range t.Flags {
		if slices.Contains(t.Flags[i].Names, name) {
			return &t.Flags[i]
		}
	}
	return nil
}

// begins returns the only flag with name as a prefix, as getopt_long does.
func (t *tool) begins(name string) (found *flag) {
	if len(name) < 2 {
		return nil
	}
	for i := range t.Flags {
		f := &t.Flags[i]
		if !slices.ContainsFunc(f.Names, func(n string) bool { return len(n) > 1 && strings.HasPrefix(n, name) }) {
			continue
		}
		if found != nil {
			return nil
		}
		found = f
	}
	return found
}

func (t *tool) unknown(shown, name string) error {
	var known []string
	for _, f := range t.Flags {
		for _, n := range f.Names {
			known = append(known, dashed(n))
		}
	}
	return fmt.Errorf("%s has no flag %s that weir knows. %s", t.name, shown,
		suggest.Documented(dashed(name), known, "flags", "weir docs import "+t.name))
}

// unexpanded reports whether a shell would expand a value.
func unexpanded(value string) bool { return strings.ContainsAny(value, "$`") }

func ofShell(value string) string {
	if unexpanded(value) {
		return ": weir does not know what the shell puts there; write the value"
	}
	return ""
}

// takesArguments checks the words without a flag: the address of the server of a test with two sides.
func (t *tool) takesArguments(positional []string) error {
	const one = "%s takes one argument without a flag, the address of the server, and %d are given: %s"
	switch n := len(positional); {
	case t.Style == words || n == 0:
	case t.TwoSided && n > 1:
		return fmt.Errorf(one, t.name, n, strings.Join(positional, " "))
	case !t.TwoSided && t.instead == nil:
		return fmt.Errorf("%s takes no argument %q without a flag", t.name, positional[0])
	}
	return nil
}

// cutPassed removes what genai-perf passes to perf_analyzer, except what is a flag of its own too.
func (l *Line) cutPassed(t *tool) {
	i := slices.Index(l.args, "--")
	if i < 0 || t.name != "genai-perf" {
		return
	}
	passed := l.args[i+1:]
	l.args = slices.Clone(l.args[:i])
	var dropped []string
	for at := 0; at < len(passed); at++ {
		name, _, joined := strings.Cut(passed[at], "=")
		switch {
		case !slices.Contains(samePassed, name):
			dropped = append(dropped, passed[at])
		case joined || at+1 == len(passed):
			l.args = append(l.args, passed[at])
		default:
			l.args = append(l.args, passed[at], passed[at+1])
			at++
		}
	}
	if dropped != nil {
		l.notes = append(l.notes, Note{"arguments of perf_analyzer are not taken over: " +
			strings.Join(dropped, " "), true})
	}
}

// samePassed are flags that perf_analyzer and genai-perf have alike.
var samePassed = names("--request-count|--warmup-request-count")
