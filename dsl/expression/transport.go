package expression

import (
	"slices"

	"weir/assertion"
	"weir/dsl/suggest"
)

// transportWord is what assertions call that which carried the data.
const transportWord = "transport"

const transportForms = `about transports write transport == "rc_mlx5", transport in ["rc_mlx5", "dc_mlx5"], transport startsWith "rc", transport != "tcp" or "rc_mlx5" in transport`

// aboutTransport is the place of the word in a body, -1 where it is about numbers.
// An axis of that name keeps it.
func (n *Names) aboutTransport(body []token) int {
	if _, taken := n.axis(transportWord); taken {
		return -1
	}
	return slices.IndexFunc(body, word(transportWord))
}

// transportStatement reads a statement about what carried the data. It has no
// number, so it stands by itself.
func transportStatement(body []token, at int) (*assertion.Transport, *Error) {
	t := body[at]
	if b := find(body, 0, func(t token) bool { return isBoolean(t) && t.text != "not" && t.text != "!" }); b >= 0 {
		return nil, combined(body[b])
	}
	switch {
	case at == 0:
		return fromTransport(body)
	case (at == 2 || at == 3) && word("in")(body[at-1]):
		return inTransport(body, at)
	}
	return nil, errorf(t.from, t.to, transportForms, "a transport has a name and is no number, and stands first or after in")
}

// fromTransport reads the forms that begin with the word.
func fromTransport(body []token) (*assertion.Transport, *Error) {
	if len(body) == 1 {
		return nil, errorf(body[0].from, body[0].to, transportForms, "nothing is said of the transport")
	}
	op, rest := body[1], body[2:]
	s := &assertion.Transport{Of: assertion.All}
	switch {
	case isSymbol("==")(op):
	case isSymbol("!=")(op):
		s.Of = assertion.None
	case word("startsWith")(op):
		s.Prefix = true
	case word("in")(op):
		return transportList(s, op, rest)
	case word("not")(op):
		s.Of = assertion.None
		if len(rest) == 0 || !word("in")(rest[0]) {
			return nil, errorf(op.from, op.to, transportForms, "`in` is missing after not")
		}
		return transportList(s, rest[0], rest[1:])
	case isSymbol("=")(op):
		return nil, errorf(op.from, op.to, "write ==", "there is no operator =")
	case word("contains")(op):
		return nil, errorf(op.from, op.to, `write "NAME" in transport`, "a transport is a set of names, of which a name is in it or not")
	case op.kind == nameToken:
		words := []string{"in", "not", "startsWith"}
		if near := suggest.Nearest(op.text, words); near != "" {
			return nil, errorf(op.from, op.to, "did you mean "+near+"?", "%q is not expected after transport", op.text)
		}
		return nil, errorf(op.from, op.to, transportForms, "%q is not expected after transport", op.text)
	default:
		return nil, errorf(op.from, op.to, transportForms, "a transport has a name and is no number: %s does not fit", op.text)
	}
	return transportNames(s, op, rest, false)
}

// inTransport reads "NAME" in transport and "NAME" not in transport.
func inTransport(body []token, at int) (*assertion.Transport, *Error) {
	s := &assertion.Transport{Of: assertion.Some}
	in := body[at-1]
	switch {
	case at == 3 && !word("not")(body[1]):
		return nil, errorf(body[1].from, body[1].to, transportForms, "%q is not expected before in", body[1].text)
	case at == 3:
		s.Of = assertion.None
	}
	if len(body) > at+1 {
		extra := body[at+1]
		return nil, errorf(extra.from, body[len(body)-1].to, "write two assertions, each with its own verdict", "%q is not expected after transport", extra.text)
	}
	return transportNames(s, in, body[:1], false)
}

// transportList reads ["NAME", …].
func transportList(s *assertion.Transport, in token, rest []token) (*assertion.Transport, *Error) {
	if len(rest) > 0 && rest[0].kind == stringToken {
		return nil, errorf(rest[0].from, rest[0].to, "write transport in ["+rest[0].text+"], or "+rest[0].text+" in transport if there may be others beside it", "a list of names follows in")
	}
	if len(rest) < 2 || !isSymbol("[")(rest[0]) {
		return nil, errorf(in.from, in.to, `write transport in ["rc_mlx5", "dc_mlx5"]`, "a list of names is missing after in")
	}
	closing := find(rest, 1, isSymbol("]"))
	if closing < 0 {
		return nil, errorf(rest[0].from, rest[len(rest)-1].to, "close it with ]", "the list is not closed")
	}
	if closing < len(rest)-1 {
		return nil, errorf(rest[closing+1].from, rest[len(rest)-1].to, transportForms, "%q is not expected after the list", rest[closing+1].text)
	}
	return transportNames(s, rest[0], rest[1:closing], true)
}

// transportNames reads names in quotes: one, or some with commas between.
func transportNames(s *assertion.Transport, of token, tokens []token, list bool) (*assertion.Transport, *Error) {
	if len(tokens) == 0 {
		return nil, errorf(of.from, of.to, `write a name in quotes, as "rc_mlx5"`, "the name of a transport is missing")
	}
	for i, t := range tokens {
		if list && i%2 == 1 {
			if !isSymbol(",")(t) {
				return nil, errorf(t.from, t.to, "put a comma between names", "%q is not expected in a list of names", t.text)
			}
			continue
		}
		if !list && i > 0 {
			return nil, errorf(t.from, tokens[len(tokens)-1].to, "write two assertions, each with its own verdict", "%q is not expected after a name", t.text)
		}
		name, err := transportName(t)
		if err != nil {
			return nil, err
		}
		s.Names = append(s.Names, name)
	}
	return s, nil
}

func transportName(t token) (string, *Error) {
	switch {
	case t.kind == nameToken:
		return "", errorf(t.from, t.to, `a name stands in quotes: "`+t.text+`"`, "%q is not in quotes", t.text)
	case t.kind != stringToken:
		return "", errorf(t.from, t.to, `write a name in quotes, as "rc_mlx5"`, "%q is not the name of a transport", t.text)
	case len(t.text) == 2:
		return "", errorf(t.from, t.to, `write a name, as "rc_mlx5"`, "the name is empty")
	}
	return t.text[1 : len(t.text)-1], nil
}
