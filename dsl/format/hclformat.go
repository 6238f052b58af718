package format

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

func formatHCL(path string, src []byte) ([]byte, hcl.Diagnostics) {
	out := layoutHCL(src)
	if !sameTokens(src, out) {
		return nil, fault(path, "its layout cannot be changed without changing what it says")
	}
	return out, nil
}

// layoutHCL indents and aligns, and drops empty lines that say nothing. Each of
// the two steps can make work for the other, so they are repeated until neither does.
func layoutHCL(src []byte) []byte {
	out := src
	for range 4 {
		next := hclwrite.Format(fewerEmptyLines(out))
		if bytes.Equal(next, out) {
			break
		}
		out = next
	}
	return out
}

// fewerEmptyLines leaves one empty line where there are several, and none at the
// ends of the file and of blocks. The text of heredocs stays as it is.
func fewerEmptyLines(src []byte) []byte {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	tokens, _ := hclsyntax.LexConfig(src, "", hcl.InitialPos)
	var b bytes.Buffer
	last, breaks := 0, 1 // offset after the last token; line breaks since the last text
	pending := false     // an empty line was left out and may be due
	opened := true       // nothing stands in the block, or the file, yet
	for _, t := range tokens {
		between := src[last:t.Range.Start.Byte]
		last = t.Range.End.Byte
		content := t.Bytes
		switch t.Type {
		case hclsyntax.TokenEOF:
			continue
		case hclsyntax.TokenNewline:
			if breaks > 0 {
				pending = !opened
				continue
			}
			b.WriteByte('\n')
			breaks++
			continue
		case hclsyntax.TokenComment:
			content = bytes.ReplaceAll(content, []byte("\r"), nil)
		}
		closes := t.Type == hclsyntax.TokenCBrace || t.Type == hclsyntax.TokenCBrack
		if pending && !closes {
			b.WriteByte('\n')
		}
		pending = false
		b.Write(between)
		b.Write(content)
		breaks = bytes.Count(content[max(len(content)-1, 0):], []byte("\n"))
		opened = t.Type == hclsyntax.TokenOBrace || t.Type == hclsyntax.TokenOBrack
	}
	return append(bytes.TrimRight(b.Bytes(), " \t\n"), '\n')
}

// sameTokens says whether two files say the same with the same comments.
func sameTokens(a, b []byte) bool {
	return bytes.Equal(significant(a), significant(b))
}

// significant is a file without its white space.
func significant(src []byte) []byte {
	tokens, _ := hclsyntax.LexConfig(bytes.TrimPrefix(src, []byte("\ufeff")), "", hcl.InitialPos)
	var b bytes.Buffer
	for i, t := range tokens {
		content := t.Bytes
		switch t.Type {
		case hclsyntax.TokenNewline:
			if i > 0 && tokens[i-1].Type == hclsyntax.TokenNewline {
				continue
			}
			content = []byte("\n")
		case hclsyntax.TokenComment:
			content = bytes.TrimRight(bytes.ReplaceAll(content, []byte("\r"), nil), " \t\n")
		}
		b.Write(content)
		b.WriteByte(0)
	}
	return bytes.Trim(b.Bytes(), "\n\x00")
}
