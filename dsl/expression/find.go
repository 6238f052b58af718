package expression

// find gives the first token outside parentheses, from a start, that satisfies.
func find(tokens []token, start int, is func(token) bool) int {
	depth := 0
	for i, t := range tokens {
		if t.kind == symbolToken {
			switch t.text {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				depth--
			}
		}
		if i >= start && depth == 0 && is(t) {
			return i
		}
	}
	return -1
}

func isRelation(t token) bool {
	switch t.text {
	case "within", "between", "increases", "decreases":
		return t.kind == nameToken
	case ">=", "<=", ">", "<", "==", "!=", "=", "≥", "≤":
		return t.kind == symbolToken
	}
	return false
}

func isBoolean(t token) bool {
	switch t.text {
	case "and", "or", "not":
		return t.kind == nameToken
	case "&&", "||", "!":
		return t.kind == symbolToken
	}
	return false
}

func word(w string) func(token) bool {
	return func(t token) bool { return t.kind == nameToken && t.text == w }
}
