package redact

import (
	"bytes"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// at returns the length of the value at the beginning of a text, 0 if there is none. matched is how
// much of the beginning of a longer value the text has, 0 if none: the next bytes may complete it.
func (v Values) at(text []byte) (length, matched int) {
	for _, value := range v {
		for _, decode := range []bool{false, true} {
			n, m := match(text, value, decode)
			matched = max(matched, m)
			if n > 0 {
				return n, matched
			}
		}
	}
	return 0, matched
}

// match compares a text with a value. It skips noise and, with decode, resolves escape sequences.
func match(text []byte, value string, decode bool) (length, matched int) {
	i, j := 0, 0
	most := mostLength(value)
	for j < len(value) {
		if i >= len(text) {
			return 0, j
		}
		if i > most {
			return 0, 0
		}
		if text[i] == value[j] && (!decode || text[i] != '\\' && text[i] != '%' && text[i] != '&') {
			i, j = i+1, j+1
			continue
		}
		if decode {
			said, n, whole := escape(text[i:], value[j])
			switch {
			case !whole:
				return 0, max(j, 1) // this byte may begin the value
			case n > 0 && len(said) <= len(value)-j && said == value[j:j+len(said)]:
				i, j = i+n, j+len(said)
				continue
			case n > 0 && j > 0 && isNoise(said):
				i += n
				continue
			case text[i] == value[j]:
				i, j = i+1, j+1
				continue
			}
		}
		if j == 0 {
			return 0, 0
		}
		n, whole := noise(text[i:])
		switch {
		case !whole:
			return 0, j
		case n == 0:
			return 0, 0
		}
		i += n
	}
	return i, 0
}

// Room returns the maximum length of a value within a text.
func (v Values) Room() int {
	if len(v) == 0 {
		return 0
	}
	return mostLength(v[0])
}

// mostLength is the maximum length of a value with noise and escape sequences.
func mostLength(value string) int { return 8*len(value) + 256 }

// noise returns how many bytes at the beginning of a text may be removed by other programs: control
// characters, terminal sequences, characters without width, invalid bytes, and blanks of an
// indentation after a line break. whole is false if the text ends within one.
func noise(text []byte) (n int, whole bool) {
	if text[0] == '\x1b' {
		return sequence(text)
	}
	if !utf8.FullRune(text) {
		return 0, false
	}
	r, size := utf8.DecodeRune(text)
	if !isNoise(string(r)) {
		return 0, true
	}
	if r == '\n' || r == '\r' {
		size += len(text[size:]) - len(bytes.TrimLeft(text[size:], " \t"))
	}
	return size, true
}

func isNoise(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError || r == '\u2028' || r == '\u2029'
}

// sequence returns the length of the terminal sequence at the beginning of a text.
func sequence(text []byte) (n int, whole bool) {
	if len(text) < 2 {
		return 0, false
	}
	end := func(c byte) bool { return c >= '@' && c <= '~' }
	switch text[1] {
	case '[':
	case ']':
		end = func(c byte) bool { return c == '\a' || c == '\x1b' }
	default:
		return 1, true
	}
	for i := 2; i < len(text); i++ {
		if end(text[i]) {
			return i + 1, true
		}
	}
	return 0, false
}

// entities are those that HTML escapers write.
var entities = []struct{ text, is string }{
	{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", `"`}, {"&apos;", "'"},
	{"&#34;", `"`}, {"&#39;", "'"}, {"&#43;", "+"},
}

// escape returns the decoded escape sequence at the beginning of a text and its length; 0: there is
// none. Any number of backslashes may precede it, as in JSON within JSON. whole is false if the
// text ends within it.
func escape(text []byte, next byte) (said string, n int, whole bool) {
	switch text[0] {
	case '%':
		return number(text, 1, 2)
	case '+':
		return " ", 1, true
	case '&':
		for _, e := range entities {
			if bytes.HasPrefix(text, []byte(e.text)) {
				return e.is, len(e.text), true
			}
			if bytes.HasPrefix([]byte(e.text), text) {
				return "", 0, false
			}
		}
		return "", 0, true
	case '\\':
	default:
		return "", 0, true
	}
	slashes := len(text) - len(bytes.TrimLeft(text, `\`))
	if slashes == len(text) {
		return `\`, min(slashes, 2), next == '\\' && slashes > 1
	}
	c := text[slashes]
	if digits := map[byte]int{'u': 4, 'x': 2}[c]; digits > 0 {
		said, n, whole = number(text, slashes+1, digits)
		if next != '\\' || !whole || said == `\` || n > 0 && isNoise(said) {
			return said, n, whole
		}
	}
	if next == '\\' {
		return `\`, min(slashes, 2), true
	}
	switch c {
	case 'n', 'r', 't', 'a', 'b', 'f', 'v':
		if c != next {
			return "\n", slashes + 1, true
		}
		return string(c), slashes + 1, true
	default:
		return string(c), slashes + 1, true
	}
}

// number reads a number of hexadecimal digits of a character.
func number(text []byte, from, digits int) (said string, n int, whole bool) {
	if len(text) < from+digits {
		_, err := strconv.ParseUint("0"+string(text[from:]), 16, 32)
		return "", 0, err != nil
	}
	v, err := strconv.ParseUint(string(text[from:from+digits]), 16, 32)
	if err != nil {
		return "", 0, true
	}
	if digits == 2 {
		return string([]byte{byte(v)}), from + digits, true
	}
	return string(rune(v)), from + digits, true
}
