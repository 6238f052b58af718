package format

import (
	"bytes"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/weir-bench/weir/internal/yamlsyntax"
)

// isTemplate reports whether a text contains ${…} or %{…}.
func isTemplate(text string) bool {
	return strings.Contains(text, "${") || strings.Contains(text, "%{")
}

// text reads a quoted template or heredoc: as a plain text, or as the equivalent template without
// quotes, in which backslashes are literal.
func (r *hclReader) text(n *node, e *hclsyntax.TemplateExpr) *node {
	src := e.SrcRange.SliceBytes(r.src)
	plain, isPlain := plainText(e)
	switch {
	case isPlain:
		n.Text = escapeTemplate(plain)
	case bytes.HasPrefix(src, []byte("<<-")): // the parser has removed the indentation
		return r.template(n, e)
	case bytes.HasPrefix(src, []byte("<<")):
		n.Text = heredocBody(src)
	default:
		n.Text = unquoteTemplate(src)
	}
	return n
}

// plainText returns the text of a template without ${…} and %{…}.
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

// escapeTemplate returns the template that evaluates to the text.
func escapeTemplate(t string) string {
	return strings.ReplaceAll(strings.ReplaceAll(t, "${", "$${"), "%{", "%%{")
}

// heredocBody returns a heredoc without its delimiters.
func heredocBody(src []byte) string {
	body := string(src)
	body = body[strings.IndexByte(body, '\n')+1:]
	body = strings.TrimRight(body, "\r\n")
	return body[:strings.LastIndexByte(body, '\n')+1]
}

// mapTexts applies change to the texts of a template outside of ${…} and %{…}.
func mapTexts(tokens hclsyntax.Tokens, src []byte, change func(raw string) string) string {
	var b strings.Builder
	depth, last := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			depth++
		case hclsyntax.TokenTemplateSeqEnd:
			depth--
		case hclsyntax.TokenStringLit, hclsyntax.TokenQuotedLit:
			if depth == 0 {
				b.Write(src[last:t.Range.Start.Byte])
				b.WriteString(change(string(t.Bytes)))
				last = t.Range.End.Byte
			}
		}
	}
	b.Write(src[last:])
	return b.String()
}

// unquoteTemplate converts a quoted template to one without quotes.
func unquoteTemplate(src []byte) string {
	tokens, _ := hclsyntax.LexExpression(src, "", hcl.InitialPos)
	return strings.TrimSuffix(strings.TrimPrefix(mapTexts(tokens, src, unescape), `"`), `"`)
}

// unescape resolves the backslashes of a quoted text and returns its template.
func unescape(raw string) string {
	expr, diags := hclsyntax.ParseExpression([]byte(`"`+raw+`"`), "", hcl.InitialPos)
	if v, wrong := expr.Value(nil); !diags.HasErrors() && !wrong.HasErrors() && v.Type() == cty.String {
		return escapeTemplate(v.AsString())
	}
	return raw
}

// quoteTemplate converts a template without quotes to a quoted one.
func quoteTemplate(t string) string {
	src := []byte(yamlsyntax.QuoteConditions(t))
	tokens, _ := hclsyntax.LexTemplate(src, "", hcl.InitialPos)
	return `"` + mapTexts(tokens, src, yamlsyntax.Escape) + `"`
}

// wholeExpression returns the expression of a template that is nothing but ${…}.
func wholeExpression(t string) (string, bool) {
	if !strings.HasPrefix(t, "${") {
		return "", false
	}
	t = yamlsyntax.QuoteConditions(t)
	expr, diags := hclsyntax.ParseTemplate([]byte(t), "", hcl.InitialPos)
	if _, whole := expr.(*hclsyntax.TemplateWrapExpr); diags.HasErrors() || !whole {
		return "", false
	}
	return trimInterpolation(t), true
}
