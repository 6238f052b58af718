package importer

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// words returns the words that a shell makes of a word. What only a shell can evaluate stays as written, without
// quotes.
func (s *script) words(text string, w *syntax.Word) []string {
	if plain := word(text, w); !unexpanded(plain) {
		return []string{plain}
	}
	if words, ok := s.known.split(w, true); ok {
		return words
	}
	s.known.forgetIn(w)
	if of := wholeArray(w); s.known[of].elements != nil {
		return s.known[of].elements
	}
	return []string{s.partly(text, w)}
}

// wholeArray returns NAME if a word is "${NAME[@]}", all elements of an array; "": it is another word.
func wholeArray(w *syntax.Word) string {
	p, ok := onlyPart(w).(*syntax.ParamExp)
	if !ok || !isPlain(p) {
		return ""
	}
	if _, quoted := w.Parts[0].(*syntax.DblQuoted); !quoted {
		return ""
	}
	if index, ok := p.Index.(*syntax.Word); !ok || index.Lit() != "@" {
		return ""
	}
	return p.Param.Value
}

// isPlain reports whether an expansion gives the value of a variable, or of elements, as it is.
func isPlain(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Exp == nil && p.Slice == nil && p.Repl == nil && !p.Length && !p.Excl
}

// word is words for a place where a shell splits nothing.
func (s *script) word(text string, w *syntax.Word) string {
	plain := word(text, w)
	if v, ok := s.known.value(w); ok && unexpanded(plain) {
		return v
	}
	return s.partly(text, w)
}

// partly returns a word with the values of those of its variables that are known.
func (s *script) partly(text string, w *syntax.Word) string {
	return unquotedWord(w, func(part syntax.WordPart) string {
		if v, ok := s.known.value(&syntax.Word{Parts: []syntax.WordPart{part}}); ok {
			return v
		}
		if written := s.known.writtenPart(part); written != "" {
			return written
		}
		return text[part.Pos().Offset():part.End().Offset()]
	})
}

// word returns a word without its quotes. What a shell would expand stays as written.
func word(text string, w *syntax.Word) string {
	return unquotedWord(w, func(part syntax.WordPart) string {
		return text[part.Pos().Offset():part.End().Offset()]
	})
}

// unquotedWord returns a word without its quotes; other than returns the text of a part that is no plain text.
func unquotedWord(w *syntax.Word, other func(syntax.WordPart) string) string {
	var b strings.Builder
	if w != nil {
		for _, part := range w.Parts {
			unquoted(&b, part, other, false)
		}
	}
	return b.String()
}

// unquoted writes a part of a word.
func unquoted(b *strings.Builder, part syntax.WordPart, other func(syntax.WordPart) string, inQuotes bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		b.WriteString(unescaped(p.Value, inQuotes))
	case *syntax.SglQuoted:
		if p.Dollar {
			b.WriteString(other(part))
			return
		}
		b.WriteString(p.Value)
	case *syntax.DblQuoted:
		for _, inner := range p.Parts {
			unquoted(b, inner, other, true)
		}
	default:
		b.WriteString(other(part))
	}
}

// unescaped removes backslashes; in double quotes, only those with a meaning there.
func unescaped(s string, inQuotes bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) || inQuotes && !strings.ContainsRune("$`\"\\\n", rune(s[i+1])) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if s[i] != '\n' {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
