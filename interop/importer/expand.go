package importer

import (
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// Limits of what loops and variables of a script may become.
const (
	mostCommands = 4096    // in all passes of loops
	mostItems    = 1024    // values of a loop
	mostTried    = 1 << 14 // passes of loops while their condition holds
	mostValue    = 1 << 16 // bytes of a variable
)

// variables are shell variables and arrays. One that is not set has a value that only a shell knows; one
// without an entry was assigned nowhere. "@" are the arguments of a function or a script.
type variables map[string]variable

// variable is one of a shell.
type variable struct {
	expand.Variable
	assumed   bool          // its value follows from a default, which who runs the script may replace
	integer   bool          // what is assigned to it is arithmetic: declare -i
	unset     bool          // it was unset, and has no value
	evaluated *atomic.Int64 // steps of evaluations
	function  *function     // of a name with nested behind it
	elements  []string      // of an array with unknown ones, as written
	files     map[string]*string
	written   string // how the caller of a function writes an argument that is not known, such as $HOST
}

// others is the entry of a place where variables without an entry may be assigned too: a function's body.
const others = ""

// elsewhere are the variables of such a place.
func elsewhere() variables { return variables{others: {}} }

// unknown reports whether a variable may have a value that only a shell knows.
func (v variables) unknown(name string) bool {
	known, ok := v[name]
	if !ok {
		_, ok = v[others]
	}
	return ok && !known.Set
}

// forget makes the value of a variable unknown.
func (v variables) forget(name string) { v[name] = variable{integer: v[name].integer} }

// Get, Each and Set make variables an environment of package expand.
func (v variables) Get(name string) expand.Variable {
	if name == "*" {
		name = "@"
	}
	of, has := v.resolved(name)
	if !has && name == "HOME" { // else package interp takes that of this host
		return expand.Variable{Set: true, Kind: expand.String, Str: "~"}
	}
	return of.Variable
}

func (v variables) Each(yield func(string, expand.Variable) bool) {
	for name := range v {
		if v[name].Set && !yield(name, v[name].Variable) {
			return
		}
	}
}

// Set is called for ${NAME:=DEFAULT}, and by arithmetic.
func (v variables) Set(name string, to expand.Variable) error {
	before := v[name]
	v[name] = variable{Variable: to, assumed: before.assumed || !before.Set, integer: before.integer}
	return nil
}

// resolved returns a variable, or the one that it names by declare -n.
func (v variables) resolved(name string) (of variable, has bool) {
	if v[name].Kind == expand.NameRef {
		name = v[name].Str
	}
	of, has = v[name]
	return of, has
}

// set keeps the value of an assignment, or forgets the variable if only a shell knows the value.
func (v variables) set(name, text string, known bool) {
	if v.forget(name); known && len(text) <= mostValue {
		known := v[name]
		known.Variable = expand.Variable{Set: true, Kind: expand.String, Str: text}
		v[name] = known
	}
}

// assume marks a variable as one that follows from a default.
func (v variables) assume(name string, assumed bool) {
	known := v[name]
	known.assumed = assumed
	v[name] = known
}

// setList keeps an array.
func (v variables) setList(name string, list []string) {
	v[name] = variable{Variable: expand.Variable{Set: true, Kind: expand.Indexed, List: list}}
}

// fields returns the words that a shell makes of a word; not ok if it has something else than known
// variables, defaults and commands that compute.
func (v variables) fields(w *syntax.Word) (words []string, ok bool) { return v.split(w, false) }

// split is fields; it may keep what the word assigns, as $((i++)).
func (v variables) split(w *syntax.Word, keep bool) (words []string, ok bool) {
	if w == nil {
		return nil, false
	}
	if all := v[wholeArray(w)].elements; all != nil && !slices.ContainsFunc(all, unexpanded) {
		return all, true
	}
	u := v.usesOf(w)
	if u.words(w); !u.known || v.splitsToEmpty(w) {
		return nil, false
	}
	words, err := expand.Fields(v.toExpand(u, keep), w)
	return words, err == nil && len(words) <= mostItems
}

var (
	filePattern = lazyregexp.New(`^(?:[^\\]|\\.)*?[*?]`)
	calculation = lazyregexp.New(`^[\d*+/%()-]*$`)
)

// namesFiles reports whether a shell puts the names of files in place of a word. Arithmetic names none.
func namesFiles(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(part syntax.WordPart) bool {
		l, ok := part.(*syntax.Lit)
		return ok && filePattern().MatchString(l.Value) && !calculation().MatchString(l.Value)
	})
}

// splitsToEmpty reports whether a shell makes empty words of a part of a word: package expand leaves them out.
func (v variables) splitsToEmpty(w *syntax.Word) bool {
	between := strings.Trim(v["IFS"].Str, blanks)
	if between == "" {
		return false
	}
	return slices.ContainsFunc(w.Parts, func(part syntax.WordPart) bool {
		switch part.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst:
			text, _ := v.value(&syntax.Word{Parts: []syntax.WordPart{part}})
			separates := func(r rune) bool { return strings.ContainsRune(between, r) }
			fields, separators := strings.FieldsFunc(text, separates), 0
			for _, r := range text {
				if separates(r) {
					separators++
				}
			}
			return len(fields) < separators || strings.IndexFunc(text, separates) == 0
		}
		return false
	})
}

// value returns the value that an assignment of a word gives.
func (v variables) value(w *syntax.Word) (text string, ok bool) { return v.text(w, false) }

// text is value; it may keep what the word assigns.
func (v variables) text(w *syntax.Word, keep bool) (text string, ok bool) {
	if w == nil {
		return "", true
	}
	u := v.usesOf(w)
	if !u.known {
		return "", false
	}
	text, err := expand.Literal(v.toExpand(u, keep), w)
	return text, err == nil
}

// toExpand is the configuration to expand words with known needs.
func (v variables) toExpand(u *uses, keep bool) *expand.Config {
	if len(u.counted) > 0 {
		v = v.counting(u)
	}
	if u.assigns && !keep {
		v = maps.Clone(v)
	}
	return v.config()
}

// counting returns variables with lists for the arrays with names that are counted, which package expand does not do.
func (v variables) counting(u *uses) variables {
	if len(u.counted) == 0 {
		return v
	}
	own := maps.Clone(v)
	for name := range u.counted {
		own.setList(name, slices.Collect(maps.Values(v[name].Map)))
	}
	return own
}

func (v variables) config() *expand.Config {
	return &expand.Config{Env: v, NoUnset: true, CmdSubst: func(to io.Writer, n *syntax.CmdSubst) error {
		printed, known := v.substituted(n)
		if !known {
			return errNotEvaluated
		}
		_, err := io.WriteString(to, printed)
		return err
	}}
}

// substituted returns what a command substitution prints.
func (v variables) substituted(n *syntax.CmdSubst) (text string, known bool) {
	if len(n.Stmts) == 1 {
		return v.output(n.Stmts[0], input{})
	}
	o, known := v.evaluate(n.Stmts, input{})
	return o.printed, known
}

// Ranges of brace expansion: any, and one of whole numbers.
var (
	braceRange   = lazyregexp.New(`\{[^{}]*\.\.[^{}]*\}`)
	rangeLetters = lazyregexp.New(`^\{(?:[a-z]\.\.[a-z]|[A-Z]\.\.[A-Z])\}$`)
	rangeNumbers = lazyregexp.New(`^\{(-?\d{1,5})\.\.(-?\d{1,5})(\.\.-?\d{1,5})?\}$`)
)

// shortRange reports whether a range of brace expansion has letters, or at most mostItems numbers.
func shortRange(text string) bool {
	m := rangeNumbers().FindStringSubmatch(text)
	if m == nil {
		return rangeLetters().MatchString(text)
	}
	from, _ := strconv.Atoi(m[1])
	to, _ := strconv.Atoi(m[2])
	by, _ := strconv.Atoi(strings.TrimLeft(m[3], ".-"))
	return max(from-to, to-from)/max(by, 1) < mostItems
}

// numbersFromTo matches {FROM..TO}.
var numbersFromTo = lazyregexp.New(`^\{(-?\d{1,9})\.\.(-?\d{1,9})\}$`)

// wordsIn returns the number of words that a shell makes of a word, if that is known.
func (v variables) wordsIn(w *syntax.Word) (count int, known bool) {
	if len(w.Parts) == 1 {
		if n, ok := w.Parts[0].(*syntax.CmdSubst); ok {
			if r, ok := v.seqOf(n); ok {
				return r.count, true
			}
		}
	}
	if m := numbersFromTo().FindStringSubmatch(w.Lit()); m != nil {
		from, _ := strconv.Atoi(m[1])
		to, _ := strconv.Atoi(m[2])
		return max(from-to, to-from) + 1, true
	}
	words, known := v.fields(w)
	return len(words), known
}

// seqOf returns the numbers of a command substitution that calls seq with known whole numbers, one a line.
func (v variables) seqOf(n *syntax.CmdSubst) (r numberRange, ok bool) {
	if len(n.Stmts) != 1 || len(n.Stmts[0].Redirs) > 0 || n.Stmts[0].Background || n.Stmts[0].Negated {
		return r, false
	}
	call, ok := n.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) < 2 || call.Args[0].Lit() != "seq" {
		return r, false
	}
	var args []string
	for _, w := range call.Args[1:] {
		words, known := v.fields(w)
		args, ok = append(args, words...), ok && known
	}
	if !ok || v[functionEntry("seq")].function != nil {
		return r, false
	}
	r, ok = rangeOf(args)
	return r, ok && r.separator == "\n"
}
