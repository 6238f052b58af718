package format

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"weir/dsl/yamlsyntax"
)

// text reads a quoted template or heredoc: as the text that it is, or as the
// template that says the same without quotes, in which a backslash is a
// backslash. It is false where the template is one whole expression.
func (r *hclReader) text(e *hclsyntax.TemplateExpr) (t string, template, ok bool) {
	plain, isPlain := plainText(e)
	if isPlain {
		if strings.Contains(plain, "${") || strings.Contains(plain, "%{") {
			return escapeTemplate(plain), true, true
		}
		return plain, false, true
	}
	src := e.SrcRange.SliceBytes(r.src)
	r.raw = append(r.raw, [2]int{e.SrcRange.Start.Byte, e.SrcRange.End.Byte})
	switch {
	case strings.HasPrefix(string(src), "<<-"):
		t, ok = r.indented(e)
		if !ok {
			r.error(e.SrcRange, "Cannot be converted",
				"An indented heredoc with %%{…} has no equal in YAML. Write it with << or in quotes.")
		}
		return t, true, true
	case strings.HasPrefix(string(src), "<<"):
		return heredocBody(src), true, true
	}
	return unquoteTemplate(src), true, true
}

// plainText is the text of a template without ${…} and %{…}.
func plainText(e *hclsyntax.TemplateExpr) (string, bool) {
	var b strings.Builder
	for _, p := range e.Parts {
		lit, ok := p.(*hclsyntax.LiteralValueExpr)
		if !ok || lit.Val.Type() != cty.String || lit.Val.IsNull() {
			return "", false
		}
		b.WriteString(lit.Val.AsString())
	}
	return b.String(), true
}

// escapeTemplate makes a template that gives the text as it is.
func escapeTemplate(t string) string {
	return strings.ReplaceAll(strings.ReplaceAll(t, "${", "$${"), "%{", "%%{")
}

// indented is the template of a heredoc whose indentation the parser has taken away.
func (r *hclReader) indented(e *hclsyntax.TemplateExpr) (string, bool) {
	var b strings.Builder
	for _, p := range e.Parts {
		if lit, ok := p.(*hclsyntax.LiteralValueExpr); ok && lit.Val.Type() == cty.String {
			b.WriteString(escapeTemplate(lit.Val.AsString()))
			continue
		}
		if !endsInterpolation(r.src[p.Range().End.Byte:]) {
			return "", false
		}
		b.WriteString("${" + string(p.Range().SliceBytes(r.src)) + "}")
	}
	return b.String(), true
}

// endsInterpolation says whether an expression is followed by its closing brace,
// as one in ${…} is and one in %{for …} is not.
func endsInterpolation(after []byte) bool {
	t := strings.TrimSpace(string(after[:min(len(after), 64)]))
	return strings.HasPrefix(t, "}")
}

// heredocBody is a heredoc between its marks.
func heredocBody(src []byte) string {
	body := string(src)
	body = body[strings.IndexByte(body, '\n')+1:]
	body = strings.TrimRight(body, "\r\n")
	return body[:strings.LastIndexByte(body, '\n')+1]
}

// pieces calls for each stretch of a template that is text, and each that is not.
// Only texts outside of ${…} and %{…} are texts of the template.
func pieces(tokens hclsyntax.Tokens, src []byte, each func(raw string, isText bool)) {
	depth := 0
	last := 0
	flush := func(to int) {
		if to > last {
			each(string(src[last:to]), false)
		}
		last = to
	}
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			depth++
		case hclsyntax.TokenTemplateSeqEnd:
			depth--
		case hclsyntax.TokenStringLit, hclsyntax.TokenQuotedLit:
			if depth == 0 {
				flush(t.Range.Start.Byte)
				each(string(t.Bytes), true)
				last = t.Range.End.Byte
			}
		}
	}
	flush(len(src))
}

// unquoteTemplate makes a template of a quoted one.
func unquoteTemplate(src []byte) string {
	tokens, _ := hclsyntax.LexExpression(src, "", hcl.Pos{Line: 1, Column: 1})
	var b strings.Builder
	pieces(tokens[1:], src, func(raw string, isText bool) {
		if !isText {
			b.WriteString(raw)
			return
		}
		b.WriteString(unescape(raw))
	})
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), `"`), `"`)
}

// unescape reads the backslashes of a quoted text and gives the template of it.
func unescape(raw string) string {
	expr, diags := hclsyntax.ParseExpression([]byte(`"`+raw+`"`), "", hcl.Pos{Line: 1, Column: 1})
	if diags.HasErrors() {
		return raw
	}
	v, diags := expr.Value(nil)
	if diags.HasErrors() || v.Type() != cty.String {
		return raw
	}
	return escapeTemplate(v.AsString())
}

// quoteTemplate makes a quoted template of one without quotes.
func quoteTemplate(t string) string {
	t = yamlsyntax.QuoteConditions(t)
	tokens, _ := hclsyntax.LexTemplate([]byte(t), "", hcl.Pos{Line: 1, Column: 1})
	var b strings.Builder
	b.WriteByte('"')
	pieces(tokens, []byte(t), func(raw string, isText bool) {
		if isText {
			raw = yamlsyntax.Escape(raw)
		}
		b.WriteString(raw)
	})
	b.WriteByte('"')
	return b.String()
}

// wholeExpression is the expression of a template that is nothing but ${…}.
func wholeExpression(t string) (string, bool) {
	if !strings.HasPrefix(t, "${") {
		return "", false
	}
	t = yamlsyntax.QuoteConditions(t)
	expr, diags := hclsyntax.ParseTemplate([]byte(t), "", hcl.Pos{Line: 1, Column: 1})
	if _, whole := expr.(*hclsyntax.TemplateWrapExpr); diags.HasErrors() || !whole {
		return "", false
	}
	return trimInterpolation(t), true
}
