package expression

import (
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/results/assertion"
)

// providerRoot is the prefix of a provider's facts.
const providerRoot = "provider"

const providerForms = `about providers write provider.NAME == "VALUE", provider.NAME != "VALUE", provider.NAME in ["VALUE", …] or provider.NAME not in ["VALUE", …]`

// providerFact returns the fact that a token names, "" if it names none.
func providerFact(t token) string {
	if root, name, ok := strings.Cut(t.text, "."); ok && t.kind == nameToken && root == providerRoot {
		return name
	}
	return ""
}

// aboutProvider returns the index of such a token in an assertion, -1 if there is none. An axis of
// that name takes precedence.
func (p *assertionParser) aboutProvider() int {
	return slices.IndexFunc(p.tokens, func(t token) bool {
		_, taken := p.names.axis(t.text)
		return providerFact(t) != "" && !taken
	})
}

// provider reads a statement about the provider fact at an index. The statement is not a number, so
// it is a whole assertion.
func (p *assertionParser) provider(at int) (*assertion.Provider, *Error) {
	for _, t := range p.tokens {
		if isBoolean(t) && !t.is("not") && !t.is("!") {
			return nil, refuseCombination(t)
		}
	}
	if at > 0 {
		return nil, p.tokens[at].errorf(providerForms, "a fact of a provider is a text, not a number; the assertion must begin with it")
	}
	subject, op := p.next(), p.next()
	s := &assertion.Provider{Fact: providerFact(subject)}
	switch {
	case op.kind == endToken:
		return nil, subject.errorf(providerForms, "a comparison is missing after %s", subject.text)
	case op.is("not"):
		s.Not = true
		in := p.next()
		if !in.is("in") {
			return nil, op.errorf(providerForms, "`in` is missing after not")
		}
		return s, p.factValues(s, in)
	case op.is("in"):
		return s, p.factValues(s, op)
	case op.is("=="), op.is("!="):
		s.Not = op.is("!=")
	case op.is("="):
		return nil, op.errorf("write ==", "there is no operator =")
	default:
		hint := providerForms
		if near := suggest.Nearest(op.text, []string{"in", "not"}); op.kind == nameToken && near != "" {
			hint = "did you mean " + near + "?"
		}
		return nil, op.errorf(hint, "a fact of a provider is a text, not a number: %s cannot be used", op.text)
	}
	if p.ended() {
		return nil, op.errorf(providerForms, "the value is missing")
	}
	if err := addValue(s, p.next()); err != nil {
		return nil, err
	}
	return s, p.statementEnds("after the value", "write two assertions, each with its own verdict")
}

// factValues reads ["VALUE", …].
func (p *assertionParser) factValues(s *assertion.Provider, in token) *Error {
	open := p.next()
	if !open.is("[") {
		return in.errorf(providerForms, "a list of values is missing after in")
	}
	for !p.take("]") {
		if p.ended() {
			return errorf(open.from, p.last().to, "close it with ]", "the list is not closed")
		}
		if err := addValue(s, p.next()); err != nil {
			return err
		}
		if t := p.peek(); !p.take(",") && !p.is("]") && !p.ended() {
			return t.errorf("put a comma between values", "unexpected %q in a list of values", t.text)
		}
	}
	if len(s.Values) == 0 {
		return open.errorf(providerForms, "the value is missing")
	}
	return p.statementEnds("after the list", providerForms)
}

func addValue(s *assertion.Provider, t token) *Error {
	switch {
	case t.kind != stringToken:
		return t.errorf(`write a value in quotes: "`+t.text+`"`, "%q is not in quotes", t.text)
	case len(t.text) == 2:
		return t.errorf("write a value, as \"enabled\"", "the value is empty")
	}
	s.Values = append(s.Values, t.text[1:len(t.text)-1])
	return nil
}
