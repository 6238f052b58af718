package results

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"
)

// scan reads the JSON of a case without the reflection of encoding/json, which
// takes seconds for ten thousand of them. It is strict: what it does not know to
// the letter makes it bad, and encoding/json then reads the text and says what is
// wrong with it.
type scan struct {
	text []byte
	at   int
	bad  bool
	kept *kept

	stated []byte // of the last assertion
}

// kept are values that many cases have in common, by their text: they are made
// once, which saves most of the time and of the memory.
type kept struct {
	texts     map[string]string
	anys      map[string]any
	lists     map[string][]string
	ways      map[string][]Transport
	seats     map[string][]Seat
	variables map[string][]Variable
	details   map[string]AssertionVerdict

	axes, options int          // how many the last one had
	intervals     [][2]float64 // to be used
	names         []string     // of the last metrics
	known         [][]string   // lists of names
}

func newKept() *kept {
	return &kept{
		texts: map[string]string{}, anys: map[string]any{}, lists: map[string][]string{},
		ways: map[string][]Transport{}, seats: map[string][]Seat{}, variables: map[string][]Variable{}, details: map[string]AssertionVerdict{},
	}
}

// mostKept bounds each of them where values do not come again after all.
const mostKept = 4096

// once gives the value of a text, which is made if it was not there before.
func once[T any](seen map[string]T, text []byte, made func([]byte) (T, bool)) (v T, ok bool) {
	if v, ok := seen[string(text)]; ok {
		return v, true
	}
	if v, ok = made(text); ok && len(seen) < mostKept {
		seen[string(text)] = v
	}
	return v, ok
}

func decoded[T any](text []byte) (v T, ok bool) {
	return v, json.Unmarshal(text, &v) == nil
}

// next is the next byte that is no space; 0 at the end.
func (s *scan) next() byte {
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

func (s *scan) eat(c byte) bool {
	if s.next() != c || s.bad {
		return false
	}
	s.at++
	return true
}

func (s *scan) must(c byte) {
	if !s.eat(c) {
		s.bad = true
	}
}

// null eats a null, if there is one.
func (s *scan) null() bool { return s.next() == 'n' && s.word("null") }

func (s *scan) word(w string) bool {
	if end := s.at + len(w); end <= len(s.text) && string(s.text[s.at:end]) == w {
		s.at = end
		return true
	}
	return false
}

// items walks the members of an object or the elements of a list.
func (s *scan) items(open, end byte, each func()) {
	s.must(open)
	if s.bad || s.eat(end) {
		return
	}
	for each(); !s.bad && !s.eat(end); each() {
		s.must(',')
	}
}

// object walks an object and eats the names of its members.
func (s *scan) object(each func(name []byte)) {
	s.items('{', '}', func() {
		name, plain := s.quoted()
		s.must(':')
		if s.bad = s.bad || !plain; !s.bad {
			each(name)
		}
	})
}

// members reads an object all of whose members are listed, each at most once. Where
// they come in the order of the list, none is searched for.
func members[T any](s *scan, list []member[T], into *T) {
	var seen uint64
	guess := 0
	s.object(func(name []byte) {
		for guess < len(list) && string(name) != list[guess].name {
			guess++
		}
		if guess == len(list) {
			guess = slices.IndexFunc(list, func(m member[T]) bool { return string(name) == m.name })
		}
		if guess < 0 || seen&(1<<guess) != 0 {
			s.bad = true
			return
		}
		i := guess
		seen |= 1 << i
		guess++
		list[i].read(s, into)
	})
}

// quoted is what stands between two quotes, and whether it is that to the letter:
// it may hold escapes, and what is not UTF-8.
func (s *scan) quoted() (text []byte, plain bool) {
	s.must('"')
	plain = true
	for i := s.at; i < len(s.text) && !s.bad; i++ {
		switch c := s.text[i]; {
		case c == '"':
			text, s.at = s.text[s.at:i], i+1
			return text, plain
		case c == '\\':
			plain = false
			i++
		case c < 0x20 || c >= 0x80:
			plain = false
		}
	}
	s.bad = true
	return nil, false
}

// string reads a text; null is none.
func (s *scan) string() string {
	if s.null() {
		return ""
	}
	text, plain := s.quoted()
	if plain || s.bad {
		return string(text)
	}
	v, ok := decoded[string](s.text[s.at-len(text)-2 : s.at])
	s.bad = !ok
	return v
}

// common reads a text of which there are few; null is none.
func (s *scan) common() string {
	if s.null() {
		return ""
	}
	return s.name()
}

// literal eats a text, if it is this one to the letter.
func (s *scan) literal(text string) bool {
	if s.next() != '"' {
		return false
	}
	end := s.at + 1 + len(text)
	if end >= len(s.text) || s.text[end] != '"' || string(s.text[s.at+1:end]) != text {
		return false
	}
	s.at = end + 1
	return true
}

// name reads the name of a member, of which there are few.
func (s *scan) name() string {
	s.next()
	from := s.at
	text, plain := s.quoted()
	if !plain {
		s.at = from
		return s.string()
	}
	v, _ := once(s.kept.texts, text, func(b []byte) (string, bool) { return string(b), true })
	return v
}

// digits is a number as it is written, whose digits without point and sign are those of
// an integer times a power of ten; one with more digits than fit is just large.
func (s *scan) digits() (text []byte, integer uint64, exponent int) {
	s.next()
	from, i := s.at, s.at
	peek := func() byte {
		if i < len(s.text) {
			return s.text[i]
		}
		return 0
	}
	run := func(n uint64) (uint64, int) {
		start := i
		for c := peek(); c >= '0' && c <= '9'; c = peek() {
			if n < 1<<59 {
				n = 10*n + uint64(c-'0')
			}
			i++
		}
		return n, i - start
	}
	if peek() == '-' {
		i++
	}
	zero := peek() == '0'
	integer, length := run(0)
	ok := length > 0 && !(zero && length > 1)
	if peek() == '.' {
		i++
		integer, length = run(integer)
		exponent = -length
		ok = ok && length > 0
	}
	if c := peek(); c == 'e' || c == 'E' {
		i++
		sign := 1
		switch peek() {
		case '-':
			sign = -1
			fallthrough
		case '+':
			i++
		}
		power, length := run(0)
		exponent += sign * int(min(power, 1<<20)) // far beyond what any number has
		ok = ok && length > 0
	}
	s.bad = s.bad || !ok
	s.at = i
	return s.text[from:i], integer, exponent
}

// tens are the powers of ten that a float64 has exactly.
var tens = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// float reads a number. Where integer and power of ten are exact, so is what they make,
// rounded once (Clinger, How to read floating point numbers accurately, PLDI 1990).
func (s *scan) float() float64 {
	if s.null() {
		return 0
	}
	text, integer, exponent := s.digits()
	if size := max(exponent, -exponent); !s.bad && integer <= 1<<53 && size < len(tens) {
		v := float64(integer)
		if exponent < 0 {
			v /= tens[size]
		} else {
			v *= tens[size]
		}
		if text[0] == '-' {
			v = -v
		}
		return v
	}
	v, err := strconv.ParseFloat(string(text), 64)
	s.bad = s.bad || err != nil
	return v
}

func (s *scan) int() int {
	if s.null() {
		return 0
	}
	text, _, _ := s.digits()
	v, err := strconv.Atoi(string(text))
	s.bad = s.bad || err != nil
	return v
}

func (s *scan) bool() bool {
	s.next()
	switch {
	case s.word("true"):
		return true
	case s.word("false"), s.word("null"):
	default:
		s.bad = true
	}
	return false
}

// measured reads a value of MetricValues.
func (s *scan) measured() float64 {
	if s.next() != '"' {
		if s.next() == 'n' { // null is no measured 0
			s.bad = true
		}
		return s.float()
	}
	switch s.name() {
	case "NaN":
		return math.NaN()
	case "Infinity":
		return math.Inf(1)
	case "-Infinity":
		return math.Inf(-1)
	}
	s.bad = true
	return 0
}

// value is the text of whatever comes next. It is not checked: who decodes it does.
func (s *scan) value() []byte {
	s.next()
	from, depth := s.at, 0
	for s.at < len(s.text) && !s.bad {
		switch c := s.text[s.at]; c {
		case '"':
			s.quoted()
			if depth == 0 {
				return s.text[from:s.at]
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				s.at++
				return s.text[from:s.at]
			}
			if depth < 0 {
				return s.text[from:s.at]
			}
		case ',', ' ', '\n', '\r', '\t':
			if depth == 0 {
				return s.text[from:s.at]
			}
		}
		s.at++
	}
	s.bad = true
	return nil
}

// decode has encoding/json read the value that comes next.
func (s *scan) decode(into any) {
	s.bad = json.Unmarshal(s.value(), into) != nil || s.bad
}

// time reads an instant.
func (s *scan) time(into *time.Time) {
	if s.null() {
		return
	}
	from := s.at
	_, plain := s.quoted()
	s.bad = s.bad || !plain || into.UnmarshalJSON(s.text[from:s.at]) != nil
}
