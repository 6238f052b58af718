package format

import (
	"bytes"
	"strings"

	"github.com/weir-bench/weir/internal/yamlsyntax"
)

// quotedNotes quotes the notes of variants that have commas in YAML braces, where what follows a comma is a key.
func quotedNotes(path string, src []byte) []byte {
	root, diags := yamlsyntax.ParseTree(src, path)
	if diags.HasErrors() || root.Kind != yamlsyntax.Mapping {
		return src
	}
	var out []byte
	done := 0
	for _, top := range root.Pairs {
		if top.Key != "variants" {
			continue
		}
		for _, row := range top.Value.Pairs {
			from, to := noteOf(row.Value.Pairs)
			if from < done || to <= from || bytes.ContainsAny(src[from:to], "\n#") {
				continue
			}
			text := strings.Join(strings.Fields(string(src[from:to])), " ")
			out = append(append(out, src[done:from]...), "'"+strings.ReplaceAll(text, "'", "''")+"'"...)
			done = to
		}
	}
	return append(out, src[done:]...)
}

// noteOf returns the bytes of a note with the keys that its commas make; nothing for a note without commas.
func noteOf(pairs []yamlsyntax.Pair) (from, to int) {
	for i, p := range pairs {
		if p.Key != "note" || !p.Value.Plain {
			continue
		}
		for _, rest := range pairs[i+1:] {
			if !rest.Value.Null || rest.Value.Range.Start.Byte != rest.Value.Range.End.Byte {
				break
			}
			from, to = p.Value.Range.Start.Byte, rest.KeyRange.End.Byte
		}
	}
	return from, to
}
