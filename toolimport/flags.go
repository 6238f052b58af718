package toolimport

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"weir/suggest"
)

// kind is what a flag takes.
type kind int

const (
	nothing kind = iota // it stands alone
	boolean             // true or false; alone it is true
	number              // a whole number from 0
	text
)

// fate is what becomes of a flag.
type fate int

const (
	asOption    fate = iota // an option of the workload
	asVariable              // an environment variable of the run
	used                    // the tool's function reads it
	ignored                 // without influence on what is measured
	unavailable             // of something that this version of weir does not measure
	unmapped                // it changes what is measured
)

// flag is one flag of a tool.
type flag struct {
	names   []string // the long one first, without dashes
	takes   kind
	initial string // the tool's default
	fate    fate
	to      string            // the option or variable
	values  map[string]string // those of the option for those of the flag; nil: the same
	doc     string            // what becomes of it otherwise, or why nothing does
	secret  bool
}

func names(s string) []string { return strings.Split(s, "|") }

func option(name string, takes kind, initial, to string, values map[string]string) flag {
	return flag{names: names(name), takes: takes, initial: initial, fate: asOption, to: to, values: values}
}

func variable(name string, takes kind, to string, values map[string]string) flag {
	return flag{names: names(name), takes: takes, fate: asVariable, to: to, values: values}
}

func row(f fate, name string, takes kind, initial, doc string) flag {
	return flag{names: names(name), takes: takes, initial: initial, fate: f, doc: doc}
}

func use(name string, takes kind, initial, doc string) flag {
	return row(used, name, takes, initial, doc)
}

func ignore(name string, takes kind, doc string) flag { return row(ignored, name, takes, "", doc) }

func lose(name string, takes kind, initial, doc string) flag {
	return row(unmapped, name, takes, initial, doc)
}

// shown is a flag as a user writes it.
func (f *flag) shown() string { return dashed(f.names[0]) }

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// style is how a tool reads its command line.
type style int

const (
	gflags   style = iota // -name value, --name=value, --noname; dashes and underscores are the same
	getopt                // -f, -s8, -s 8, -fN, --name value, --name=value, beginnings of names
	argparse              // --name value, --name=value, beginnings of names
)

// setting is a flag with its value.
type setting struct {
	flag  *flag
	value string
	words []string // as it is written
}

// parse reads the words behind the tool's name.
func (t *tool) parse(args []string) (settings []setting, positional []string, err error) {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		switch {
		case word == "--":
			return settings, append(positional, args...), nil
		case len(word) < 2 || word[0] != '-':
			positional = append(positional, word)
		case t.style == getopt && word[1] != '-':
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

// shorts reads flags of one letter that share a word; what follows the letter of one that
// takes a value is the value.
func (t *tool) shorts(letters string, args []string, settings *[]setting) ([]string, error) {
	for i, letter := range letters {
		f := t.flag(string(letter))
		if f == nil {
			return nil, t.unknown("-"+string(letter), string(letter))
		}
		s := setting{flag: f, value: "true", words: []string{"-" + string(letter)}}
		if f.takes == nothing {
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

// long reads a flag with its name; taken is how many of the next words belong to it.
func (t *tool) long(word string, args []string) (s setting, taken int, err error) {
	name, value, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
	shown := strings.TrimSuffix(word, "="+value)
	s = setting{value: value, words: []string{word}}
	if t.style == gflags {
		name = strings.ReplaceAll(name, "-", "_")
	}
	if s.flag = t.flag(name); s.flag == nil && t.style == gflags {
		if f := t.flag(strings.TrimPrefix(name, "no")); f != nil && f.takes == boolean && !hasValue {
			return setting{f, "false", []string{word}}, 0, nil
		}
	}
	if s.flag == nil && t.style != gflags {
		s.flag = t.begins(name)
	}
	switch {
	case s.flag == nil:
		return s, 0, t.unknown(shown, name)
	case s.flag.takes == nothing && hasValue:
		return s, 0, fmt.Errorf("%s takes no value", shown)
	case s.flag.takes == nothing, s.flag.takes == boolean && !hasValue:
		s.value = "true"
	case !hasValue && len(args) == 0:
		return s, 0, fmt.Errorf("%s needs a value", shown)
	case !hasValue:
		s.value, taken = args[0], 1
		s.words = append(s.words, s.value)
	}
	return s, taken, s.check(shown)
}

// check holds a value against what its flag takes.
func (s *setting) check(shown string) error {
	switch s.flag.takes {
	case boolean:
		b, ok := booleans[strings.ToLower(s.value)]
		if !ok {
			return fmt.Errorf("%s: %q is neither true nor false", shown, s.value)
		}
		s.value = strconv.FormatBool(b)
	case number:
		if s.flag.fate == ignored && unexpanded(s.value) {
			return nil
		}
		n, err := strconv.ParseInt(s.value, 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("%s: %q is no whole number from 0%s", shown, s.value, ofShell(s.value))
		}
		s.value = strconv.FormatInt(n, 10)
	}
	return nil
}

var booleans = map[string]bool{
	"true": true, "t": true, "yes": true, "y": true, "1": true, "false": false, "f": false, "no": false, "n": false,
	"0": false,
}

func (t *tool) flag(name string) *flag {
	for i := range t.flags {
		if slices.Contains(t.flags[i].names, name) {
			return &t.flags[i]
		}
	}
	return nil
}

// begins is the only flag of which name is the beginning, as getopt_long takes it.
func (t *tool) begins(name string) (found *flag) {
	if len(name) < 2 {
		return nil
	}
	for i := range t.flags {
		f := &t.flags[i]
		if !slices.ContainsFunc(f.names, func(n string) bool { return len(n) > 1 && strings.HasPrefix(n, name) }) {
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
	for _, f := range t.flags {
		for _, n := range f.names {
			known = append(known, dashed(n))
		}
	}
	return fmt.Errorf("%s has no flag %s. %s", t.name, shown,
		suggest.Documented(dashed(name), known, "flags", "weir docs import "+t.name))
}

// unexpanded says whether a shell would have put something else in a value's place.
func unexpanded(value string) bool { return strings.ContainsAny(value, "$`") }

func ofShell(value string) string {
	if unexpanded(value) {
		return ": weir does not expand what a shell would; write the value"
	}
	return ""
}
