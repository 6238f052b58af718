package expression

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/parser"

	"weir/assertion"
	"weir/quantity"
)

// sideParser makes terms from spans of an assertion.
type sideParser struct {
	names      *Names
	runes      []rune
	quantifier string // all or any, where the relation stands in one
}

// side is one span. expr-lang parses its arithmetic; what expr-lang has no words
// for, or words of its own, is masked before and found again by its place.
type side struct {
	parser   *sideParser
	from, to int
	tokens   map[int]token   // all, by place
	runs     map[int]*term   // run("x").metric
	overs    map[int][]token // axes after over, by the place of the aggregate
	ends     map[int]int     // of calls
	masks    []mask
}

const arithmeticOnly = "use + - * / and parentheses"

// side parses the tokens on one side of a word.
func (p *sideParser) side(tokens []token, of token, where string) (*term, *Error) {
	if len(tokens) == 0 {
		return nil, errorf(of.from, of.to, forms, "nothing stands %s %s", where, of.text)
	}
	s := &side{parser: p, from: tokens[0].from, to: tokens[len(tokens)-1].to, tokens: map[int]token{}}
	for _, t := range tokens {
		s.tokens[t.from] = t
	}
	if err := s.prepare(tokens); err != nil {
		return nil, err
	}
	tree, err := parser.Parse(masked(p.runes, s.from, s.to, s.masks))
	if err != nil {
		return nil, s.unparsed(err)
	}
	return s.term(tree.Node)
}

// unparsed explains an error of expr-lang in the author's words, not in those of
// the masks.
func (s *side) unparsed(err error) *Error {
	e := place(err, s.from, s.to)
	if t, ok := s.tokens[e.From]; ok && strings.HasPrefix(e.Message, "unexpected token") {
		return errorf(t.from, t.to, arithmeticOnly, "%q is not expected here", t.text)
	}
	return e
}

// bracket is an open parenthesis; call is the name before it, if there is one.
type bracket struct {
	call token
	name bool
}

// prepare masks every name, literal, mention of another run and list of axes,
// and refuses all that is no arithmetic.
func (s *side) prepare(tokens []token) *Error {
	var open []bracket
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case t.kind == quantityToken:
			if err := uncalled(tokens, i); err != nil {
				return err
			}
			s.mask(t.from, t.to, 'q')
		case t.kind == stringToken:
			return errorf(t.from, t.to, "to choose cases write `where OPTION == "+t.text+"`", "a text is not a number")
		case t.kind == nameToken && t.text == "over":
			end, err := s.over(tokens, i, open)
			if err != nil {
				return err
			}
			i = end - 1
		case t.kind == nameToken && t.text == "run" && followedBy(tokens, i, "("):
			end, err := s.otherRun(tokens, i)
			if err != nil {
				return err
			}
			i = end - 1
			if err := uncalled(tokens, i); err != nil {
				return err
			}
		case t.kind == nameToken:
			if err := s.word(tokens, i); err != nil {
				return err
			}
			s.mask(t.from, t.to, 'q')
		case t.text == "(":
			b := bracket{}
			if i > 0 && tokens[i-1].kind == nameToken {
				b = bracket{tokens[i-1], true}
			}
			open = append(open, b)
		case t.text == ")":
			if len(open) == 0 {
				return errorf(t.from, t.to, "remove it, or open it before", "this closes nothing")
			}
			if b := open[len(open)-1]; b.name {
				s.end(b.call.from, t.to)
			}
			open = open[:len(open)-1]
		case !strings.Contains("+-*/,", t.text):
			return stranger(t)
		}
	}
	return nil
}

func (s *side) mask(from, to int, letter rune) { s.masks = append(s.masks, mask{from, to, letter}) }

func (s *side) end(call, at int) {
	if s.ends == nil {
		s.ends = map[int]int{}
	}
	s.ends[call] = at
}

func followedBy(tokens []token, i int, symbol string) bool {
	return i+1 < len(tokens) && tokens[i+1].kind == symbolToken && tokens[i+1].text == symbol
}

// uncalled refuses a parenthesis after a value: behind its mask it would look like
// a call.
func uncalled(tokens []token, i int) *Error {
	if !followedBy(tokens, i, "(") {
		return nil
	}
	t := tokens[i+1]
	return errorf(t.from, t.to, arithmeticOnly, "%q is not expected here", t.text)
}

// stranger refuses a symbol or word that expr-lang knows and assertions do not.
func stranger(t token) *Error {
	if isRelation(t) {
		return errorf(t.from, t.to, forms, "a comparison cannot stand inside of parentheses")
	}
	if isBoolean(t) {
		return combined(t)
	}
	return errorf(t.from, t.to, arithmeticOnly, "%q has no meaning in an assertion", t.text)
}

// foreign are words of expr-lang that no metric, option or axis may have anyway.
var foreign = []string{"in", "not", "and", "or", "let", "if", "else", "matches", "contains", "startsWith", "endsWith", "within", "between", "increases", "decreases"}

// word checks a name by what stands around it.
func (s *side) word(tokens []token, i int) *Error {
	t := tokens[i]
	if slices.Contains(foreign, t.text) {
		return stranger(t)
	}
	if !followedBy(tokens, i, "(") {
		return nil
	}
	switch {
	case t.text == "all" || t.text == "any":
		return errorf(t.from, t.to, "write "+t.text+"(RELATION, …) as the whole assertion, followed by at most `where CONDITION`", "the word %s stands by itself, not in a relation", t.text)
	case t.text == "ratio":
	case !assertion.Op(t.text).Aggregates():
		return unknownFunction(t)
	case s.parser.quantifier != "":
		return errorf(t.from, t.to, "write the relation as an assertion of its own", "each case is judged by itself in %s, without aggregates", s.parser.quantifier)
	}
	return nil
}

// over reads the axes at the end of an aggregate and blanks them. It gives the
// index of the token that closes the aggregate.
func (s *side) over(tokens []token, i int, open []bracket) (int, *Error) {
	t := tokens[i]
	if len(open) == 0 || !open[len(open)-1].name || !assertion.Op(open[len(open)-1].call.text).Aggregates() {
		return 0, errorf(t.from, t.to, "write max(bandwidth over AXIS)", "the word over stands only in min, max, mean, geomean and median")
	}
	call := open[len(open)-1].call
	if tokens[i-1].kind == symbolToken && tokens[i-1].text == "(" {
		return 0, errorf(t.from, t.to, "write "+call.text+"(METRIC over AXIS)", "nothing stands before over")
	}
	end := i + 1
	for ; end < len(tokens) && tokens[end].text != ")"; end++ {
		n := tokens[end]
		if wantAxis := (end-i)%2 == 1; wantAxis && n.kind != nameToken || !wantAxis && n.text != "," {
			return 0, errorf(n.from, n.to, "write "+call.text+"(TERM over A, B)", "%q is not expected in a list of axes", n.text)
		}
	}
	if end == len(tokens) {
		return 0, errorf(t.from, tokens[end-1].to, "close it with )", "the aggregate is not closed")
	}
	if (end-i)%2 == 1 {
		return 0, errorf(tokens[end-1].from, tokens[end-1].to, "name an axis", "an axis is missing after %s", tokens[end-1].text)
	}
	if s.overs == nil {
		s.overs = map[int][]token{}
	}
	for k := i + 1; k < end; k += 2 {
		s.overs[call.from] = append(s.overs[call.from], tokens[k])
	}
	s.mask(t.from, tokens[end-1].to, ' ')
	return end, nil
}

// percent parses the P of within.
func (p *sideParser) percent(tokens []token, of token) (float64, *Error) {
	t, err := p.side(tokens, of, "after")
	if err != nil {
		return 0, err
	}
	switch {
	case t.op != assertion.Const || t.dim != quantity.Number:
		return 0, errorf(t.from, t.to, "write a percentage, as 10%; for ends in units write `x between a and b`", "the tolerance is not a percentage")
	case t.value <= 0:
		return 0, errorf(t.from, t.to, "write a percentage above 0", "the tolerance is not positive")
	case t.value >= 1:
		hint := "for so wide a band write `x between a and b`"
		if t.bare {
			hint = "did you mean " + string(p.runes[t.from:t.to]) + "%?"
		}
		return 0, errorf(t.from, t.to, hint, "the tolerance is 100 %% or more")
	}
	return t.value, nil
}
