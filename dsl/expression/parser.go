package expression

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/suggest"
)

// assertionParser reads an assertion by recursive descent.
type assertionParser struct {
	names      *Names
	runes      []rune
	tokens     []token // of the assertion without its where
	at         int     // index of the next token
	depth      int     // of recursion
	open       int     // parentheses
	quantifier string  // all or any, while their relations are read
	gains      bool    // a gain over the baseline of the variants was read
}

// maxNesting bounds the depth of recursion and of terms. Documents may contain expressions of depth
// 200.
const maxNesting = 150

const arithmeticOnly = "use + - * / and parentheses"

func (p *assertionParser) ended() bool { return p.at == len(p.tokens) }

// peek returns the next token; at the end it is empty, after the last.
func (p *assertionParser) peek() token {
	if p.ended() {
		end := p.last().to
		return token{kind: endToken, from: end, to: end}
	}
	return p.tokens[p.at]
}

func (p *assertionParser) next() token {
	t := p.peek()
	p.at = min(p.at+1, len(p.tokens))
	return t
}

// last returns the token before the next one; at the start, the first.
func (p *assertionParser) last() token { return p.tokens[max(p.at-1, 0)] }

// is reports whether a word or symbol comes next.
func (p *assertionParser) is(text string) bool { return p.peek().is(text) }

func (p *assertionParser) take(text string) bool {
	if !p.is(text) {
		return false
	}
	p.at++
	return true
}

// closing returns the index of the parenthesis that closes the one at open, -1 if there is none.
func (p *assertionParser) closing(open int) int {
	depth := 0
	for i := open; i < len(p.tokens); i++ {
		switch t := p.tokens[i]; {
		case t.is("("):
			depth++
		case t.is(")"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// sum reads terms with + and - between them.
func (p *assertionParser) sum() (*term, *Error) { return p.operations(p.product, "+", "-") }

func (p *assertionParser) product() (*term, *Error) { return p.operations(p.signed, "*", "/") }

// operations reads operands with operators of one precedence between them.
func (p *assertionParser) operations(operand func() (*term, *Error), operators ...string) (*term, *Error) {
	from := p.peek().from
	left, err := operand()
	for err == nil && slices.ContainsFunc(operators, p.is) {
		op := p.next()
		var right *term
		if right, err = operand(); err != nil {
			break
		}
		left, err = binary(op, left, right, from, p.last().to)
	}
	return left, err
}

// signed reads an operand and the signs before it. All recursion passes through it.
func (p *assertionParser) signed() (*term, *Error) {
	if p.depth++; p.depth > maxNesting {
		t := p.peek()
		return nil, tooDeep(t.from, t.to)
	}
	defer func() { p.depth-- }()
	sign := p.peek()
	switch {
	case p.take("+"):
		return p.signed()
	case p.take("-"):
		t, err := p.signed()
		if err != nil {
			return nil, err
		}
		return negative(t, sign, p.last().to)
	}
	return p.operand()
}

func tooDeep(from, to int) *Error {
	return errorf(from, to, "write it shorter, or as several assertions",
		"operations are nested more than %d deep", maxNesting)
}

func (p *assertionParser) operand() (*term, *Error) {
	before := p.last()
	t := p.next()
	if before.from < t.from && p.endsTerm(t) {
		return nil, before.errorf("write a metric, an option, an axis or a quantity", "an operand is missing after %s",
			before.text)
	}
	switch t.kind {
	case quantityToken:
		return literal(t), nil
	case stringToken:
		return nil, t.errorf("to select cases write `where OPTION == "+t.text+"`", "a text is not a number")
	case nameToken:
		return p.word(t)
	}
	if !t.is("(") {
		return nil, p.unexpected(t)
	}
	p.open++
	inner, err := p.sum()
	if err != nil {
		return nil, err
	}
	return inner, p.close(t, "the parenthesis is not closed")
}

// endsTerm reports whether a token ends the term before it.
func (p *assertionParser) endsTerm(t token) bool {
	return t.kind == endToken || isRelation(t) || t.is("of") || t.is("and") || t.is("or") || t.is(")") && p.open > 0
}

// close reads the parenthesis that closes the one at begin.
func (p *assertionParser) close(begin token, unclosed string) *Error {
	if p.ended() {
		return errorf(begin.from, p.last().to, "close it with )", "%s", unclosed)
	}
	if !p.is(")") {
		return p.unexpected(p.peek())
	}
	p.next()
	p.open--
	return nil
}

// word reads a term that begins with a name.
func (p *assertionParser) word(t token) (*term, *Error) {
	switch {
	case t.text == "over" || slices.Contains(reservedWords, t.text):
		return nil, p.unexpected(t)
	case !p.is("("):
		return p.name(t)
	case t.text == "run":
		return p.otherRun(t)
	case t.text == "at":
		return p.sibling(t)
	case t.text == "gain":
		return p.gain(t)
	}
	return p.call(t)
}

// reservedWords are words with a meaning of their own: they are not metrics, options or axes.
var reservedWords = []string{
	"in", "not", "and", "or", "let", "if", "else", "matches", "contains", "startsWith", "endsWith",
	"within", "between", "increases", "decreases",
}

// unexpected explains why a token is not allowed here.
func (p *assertionParser) unexpected(t token) *Error {
	switch {
	case isBoolean(t):
		return refuseCombination(t)
	case isRelation(t) && p.open > 0:
		return t.errorf(forms, "a comparison cannot be in parentheses")
	case isRelation(t):
		return t.errorf("for two ends write `x between a and b`", "an assertion has only one comparison")
	case t.is("over"):
		return t.errorf("write max(bandwidth over AXIS)", "over can be used only in aggregates: %s",
			strings.Join(aggregateNames(), ", "))
	case t.is(")") && p.open == 0:
		return t.errorf("remove it, or add the opening parenthesis", "this parenthesis closes nothing")
	case t.is("%"):
		return t.errorf("write a percentage without a blank: 5%", "%q has no meaning in an assertion", t.text)
	case t.is("["):
		return t.errorf(`the metric of other cases is at(fabric == "tcp").bandwidth`,
			"%q has no meaning in an assertion", t.text)
	case t.is("if") && p.at > 1:
		return t.errorf("to select cases write where", "%q has no meaning in an assertion", t.text)
	case t.kind == nameToken && slices.Contains(reservedWords, t.text),
		t.kind == symbolToken && !strings.Contains("+-*/,()", t.text):
		return t.errorf(arithmeticOnly, "%q has no meaning in an assertion", t.text)
	}
	hint := arithmeticOnly
	if t.kind == nameToken {
		hint = forms
		near := cmp.Or(otherWords[t.text],
			suggest.Nearest(t.text, []string{"where", "over", "within", "between", "increases", "decreases"}))
		if near != "" {
			hint = "did you mean " + near + "?"
		}
	}
	return t.errorf(hint, "unexpected %q", t.text)
}

// otherWords are the relations of words that people write for them.
var otherWords = map[string]string{
	"rises": "increases", "grows": "increases", "scales": "increases", "improves": "increases",
	"falls": "decreases", "drops": "decreases", "shrinks": "decreases", "declines": "decreases",
	"is": "`within 1% of`, >= or <=", "equals": "`within 1% of`", "above": ">=", "exceeds": ">=", "below": "<=",
	"under": "<=", "least": ">=", "most": "<=", "at": "`>=` for at least, `<=` for at most", "less": "<=", "more": ">=",
}
