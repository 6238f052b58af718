package expression

import (
	"slices"

	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/results/assertion"
)

// transportWord is the name of the transports in assertions.
const transportWord = "transport"

const transportForms = `about transports write transport == "rc_mlx5", transport in ["rc_mlx5", "dc_mlx5"], transport startsWith "rc", transport != "tcp" or "rc_mlx5" in transport`

// aboutTransport returns the index of the word in an assertion, -1 if there is none. An axis of
// that name takes precedence.
func (p *assertionParser) aboutTransport() int {
	if _, taken := p.names.axis(transportWord); taken {
		return -1
	}
	return slices.IndexFunc(p.tokens, func(t token) bool { return t.is(transportWord) })
}

// transport reads a statement about the transports; at is the index of the word. The statement is
// not a number, so it is a whole assertion.
func (p *assertionParser) transport(at int) (*assertion.Transport, *Error) {
	for _, t := range p.tokens {
		if isBoolean(t) && !t.is("not") && !t.is("!") {
			return nil, refuseCombination(t)
		}
	}
	s := &assertion.Transport{Of: assertion.All}
	switch {
	case at == 0:
		return s, p.fromTransport(s)
	case (at == 2 || at == 3) && p.tokens[at-1].is("in"):
		return s, p.inTransport(s)
	}
	t := p.tokens[at]
	return nil, t.errorf(transportForms, "a transport is a name, not a number; it must come first or after in")
}

// fromTransport reads the forms that begin with the word.
func (p *assertionParser) fromTransport(s *assertion.Transport) *Error {
	subject, op := p.next(), p.next()
	switch {
	case op.kind == endToken:
		return subject.errorf(transportForms, "a comparison is missing after transport")
	case op.is("in"):
		return p.transportList(s, op)
	case op.is("not"):
		s.Of = assertion.None
		in := p.next()
		if !in.is("in") {
			return op.errorf(transportForms, "`in` is missing after not")
		}
		return p.transportList(s, in)
	case op.is("=="):
	case op.is("!="):
		s.Of = assertion.None
	case op.is("startsWith"):
		s.Prefix = true
	default:
		return notOfTransports(op)
	}
	if p.ended() {
		return missingTransport(op)
	}
	if err := addTransport(s, p.next()); err != nil {
		return err
	}
	return p.statementEnds("after a name", "write two assertions, each with its own verdict")
}

// notOfTransports explains why an operator does not apply to transports.
func notOfTransports(op token) *Error {
	switch {
	case op.is("="):
		return op.errorf("write ==", "there is no operator =")
	case op.is("contains"):
		return op.errorf(`write "NAME" in transport`, "transport is a set of names")
	case op.kind != nameToken:
		return op.errorf(transportForms, "a transport is a name, not a number: %s cannot be used", op.text)
	}
	hint := transportForms
	if near := suggest.Nearest(op.text, []string{"in", "not", "startsWith"}); near != "" {
		hint = "did you mean " + near + "?"
	}
	return op.errorf(hint, "unexpected %q after transport", op.text)
}

// inTransport reads "NAME" in transport and "NAME" not in transport.
func (p *assertionParser) inTransport(s *assertion.Transport) *Error {
	name := p.next()
	s.Of = assertion.Some
	if p.take("not") {
		s.Of = assertion.None
	}
	if t := p.next(); !t.is("in") {
		return t.errorf(transportForms, "unexpected %q before in", t.text)
	}
	p.next()
	if err := p.statementEnds("after transport", "write two assertions, each with its own verdict"); err != nil {
		return err
	}
	return addTransport(s, name)
}

// transportList reads ["NAME", …].
func (p *assertionParser) transportList(s *assertion.Transport, in token) *Error {
	open := p.next()
	switch {
	case open.kind == stringToken:
		return open.errorf(
			"write transport in ["+open.text+"], or "+open.text+" in transport if there may be others beside it",
			"in needs a list of names")
	case !open.is("["):
		return in.errorf(`write transport in ["rc_mlx5", "dc_mlx5"]`, "a list of names is missing after in")
	}
	for !p.take("]") {
		if p.ended() {
			return errorf(open.from, p.last().to, "close it with ]", "the list is not closed")
		}
		if err := addTransport(s, p.next()); err != nil {
			return err
		}
		if t := p.peek(); !p.take(",") && !p.is("]") && !p.ended() {
			return t.errorf("put a comma between names", "unexpected %q in a list of names", t.text)
		}
	}
	if len(s.Names) == 0 {
		return missingTransport(open)
	}
	return p.statementEnds("after the list", transportForms)
}

// statementEnds refuses tokens after a complete statement.
func (p *assertionParser) statementEnds(place, hint string) *Error {
	if p.ended() {
		return nil
	}
	t := p.peek()
	return errorf(t.from, p.tokens[len(p.tokens)-1].to, hint, "unexpected %q %s", t.text, place)
}

func missingTransport(after token) *Error {
	return after.errorf(`write a name in quotes, as "rc_mlx5"`, "the name of a transport is missing")
}

func addTransport(s *assertion.Transport, t token) *Error {
	switch {
	case t.kind == nameToken:
		return t.errorf(`write a name in quotes: "`+t.text+`"`, "%q is not in quotes", t.text)
	case t.kind != stringToken:
		return t.errorf(`write a name in quotes, as "rc_mlx5"`, "%q is not the name of a transport", t.text)
	case len(t.text) == 2:
		return t.errorf(`write a name, as "rc_mlx5"`, "the name is empty")
	}
	s.Names = append(s.Names, t.text[1:len(t.text)-1])
	return nil
}
