package yamlsyntax

import (
	"bytes"
	"regexp"

	"gopkg.in/yaml.v3"
)

// maskBase is the start of the private-use area for masked ASCII characters, which YAML treats as
// letters. Characters are replaced one by one, so columns stay the same.
const maskBase = 0xE000

// mask hides the characters of ${…} in unquoted text from YAML, which would otherwise end the
// scalar at the `: ` of a conditional, a comma or a brace. A source that already contains these
// private characters, also as escapes, stays unchanged; masked is then false.
func mask(src []byte) (out []byte, masked bool) {
	if !bytes.Contains(src, []byte("${")) || bytes.ContainsAny(src, privateUse) || privateEscape.Match(src) {
		return src, false
	}
	m := &masker{src: src}
	for m.at < len(src) {
		m.line()
	}
	return m.out, true
}

// privateEscape matches an escape sequence of a private character in quoted scalars.
var privateEscape = regexp.MustCompile(`\\(u|U0000)[eE]0[0-7]`)

var privateUse = func() string {
	var all []rune
	for r := rune(maskBase); r < maskBase+0x80; r++ {
		all = append(all, r)
	}
	return string(all)
}()

// unmask restores a text.
func unmask(s string) string {
	out := []rune(s)
	for i, r := range out {
		if r >= maskBase && r < maskBase+0x80 {
			out[i] = r - maskBase
		}
	}
	return string(out)
}

// unmaskAll restores the texts of a decoded document.
func unmaskAll(y *yaml.Node) {
	y.Value = unmask(y.Value)
	for _, c := range y.Content {
		unmaskAll(c)
	}
}

type masker struct {
	src, out []byte
	at       int
	comments []comment
}

// copyTo copies the source up to an offset.
func (m *masker) copyTo(end int) {
	m.out = append(m.out, m.src[m.at:end]...)
	m.at = end
}

// line copies a line, or more if a quoted scalar spans several. A quote opens a scalar only where a
// value may begin. A block scalar is indented more than its key, which in `- key: |` is not the
// beginning of the line.
func (m *masker) line() {
	start, indent, key := m.at, 0, 0
	valueMayBegin, onlyDashes := true, true
	for m.at < len(m.src) {
		c := m.src[m.at]
		next := byte('\n')
		if m.at+1 < len(m.src) {
			next = m.src[m.at+1]
		}
		switch {
		case c == '\n':
			m.copyTo(m.at + 1)
			return
		case c == '#' && (m.at == 0 || isSpace(m.src[m.at-1])):
			m.comment()
		case valueMayBegin && (c == '"' || c == '\''):
			s := source{src: m.src}
			m.copyTo(s.endOfQuoted(m.at))
			valueMayBegin = false
		case valueMayBegin && (c == '|' || c == '>') && m.blockHeader():
			m.copyBlock(indent)
			return
		case c == '$' && next == '{':
			m.template()
			valueMayBegin = false
		default:
			column := m.at - start
			switch {
			case bytes.IndexByte([]byte("[{,"), c) >= 0:
				valueMayBegin, onlyDashes = true, false
			case (c == '-' || c == '?') && isSpace(next):
				valueMayBegin = true
				if onlyDashes {
					indent, key = column, column+1
				}
			case c == ':' && isSpace(next):
				valueMayBegin, onlyDashes = true, false
				indent = key
			case !isSpace(c):
				valueMayBegin, onlyDashes = false, false
			case onlyDashes:
				key = column + 1
			}
			m.copyTo(m.at + 1)
		}
	}
}

func (m *masker) lineEnd() int {
	if n := bytes.IndexByte(m.src[m.at:], '\n'); n >= 0 {
		return m.at + n
	}
	return len(m.src)
}

// comment copies the comment that begins here.
func (m *masker) comment() {
	end := m.lineEnd()
	m.comments = append(m.comments, comment{m.at, string(bytes.TrimSpace(m.src[m.at:end]))})
	m.copyTo(end)
}

// blockHeader reports whether the rest of the line is the header of a block scalar.
func (m *masker) blockHeader() bool {
	rest := bytes.TrimLeft(m.src[m.at+1:m.lineEnd()], "+-0123456789")
	rest = bytes.TrimSpace(rest)
	return len(rest) == 0 || rest[0] == '#'
}

// copyBlock copies a block scalar: the header and every deeper or blank line.
func (m *masker) copyBlock(indent int) {
	if i := bytes.IndexByte(m.src[m.at:m.lineEnd()], '#'); i >= 0 {
		m.copyTo(m.at + i)
		m.comment()
	}
	for {
		end := m.lineEnd()
		if end < len(m.src) {
			end++
		}
		m.copyTo(end)
		line := m.src[m.at:m.lineEnd()]
		text := bytes.TrimLeft(line, " ")
		blank := len(bytes.TrimSpace(line)) == 0
		if m.at >= len(m.src) || !blank && len(line)-len(text) <= indent {
			return
		}
	}
}

// template masks ${…} if it closes on its line. Otherwise it leaves the rest of the line unchanged:
// trying each ${ again would take quadratic time.
func (m *masker) template() {
	end := endOfTemplate(m.src[:m.lineEnd()], m.at+2)
	if end < 0 {
		m.copyTo(m.lineEnd())
		return
	}
	for _, r := range string(m.src[m.at:end]) {
		if r < 0x80 {
			r += maskBase
		}
		m.out = append(m.out, string(r)...)
	}
	m.at = end
}

// endOfTemplate returns the offset after the brace that closes ${…}, -1 if none.
func endOfTemplate(src []byte, at int) int {
	depth := 1
	for at < len(src) {
		switch src[at] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return at + 1
			}
		case '"':
			if at = endOfString(src, at+1); at < 0 {
				return -1
			}
			continue
		}
		at++
	}
	return -1
}

// endOfString returns the offset after the quote that closes a string of the expression language,
// which may contain templates.
func endOfString(src []byte, at int) int {
	for at < len(src) {
		switch {
		case src[at] == '\\':
			at++
		case src[at] == '"':
			return at + 1
		case src[at] == '$' && at+1 < len(src) && src[at+1] == '{':
			if at = endOfTemplate(src, at+2); at < 0 {
				return -1
			}
			continue
		}
		at++
	}
	return -1
}
