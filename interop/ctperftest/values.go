package ctperftest

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/yamlsyntax"
)

// scalar returns the text of a key; "" if it is missing, or not a text, which is an error.
func (r *reader) scalar(keys map[string]yamlsyntax.Pair, key string) (text string, at *yamlsyntax.Node) {
	p, ok := keys[key]
	switch {
	case !ok:
		return "", nil
	case p.Value.Kind != yamlsyntax.Scalar || p.Value.Null || p.Value.Text == "":
		where := p.Value.Range
		if p.Value.Null {
			where = p.KeyRange
		}
		r.error(where, "No value", "%s is a value on the same line.", key)
		return "", nil
	}
	return p.Value.Text, p.Value
}

// maxCount bounds iterations and shards.
const maxCount = 1 << 40

func (r *reader) count(keys map[string]yamlsyntax.Pair, key string, least, otherwise int) int {
	text, at := r.scalar(keys, key)
	if at == nil {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	octal := len(text) > 1 && text[0] == '0' // the programs read 010 as 8
	if err != nil || octal || n < least || n > maxCount {
		r.error(at.Range, "Invalid number", "%s is a whole number of at least %d, not %q.", key, least, text)
		return otherwise
	}
	return n
}

func (r *reader) seconds(keys map[string]yamlsyntax.Pair, key string) float64 {
	text, at := r.scalar(keys, key)
	if at == nil {
		return 0
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= matrix.MaxSleep) {
		r.error(at.Range, "Invalid time", "%s is a number of seconds from 0 to %d, not %q.", key, matrix.MaxSleep,
			text)
		return 0
	}
	return math.Abs(v) // -0 is 0
}

// word reads one of several words, ignoring case, and returns weir's word for it.
func (r *reader) word(keys map[string]yamlsyntax.Pair, key string, words map[string]string, otherwise string) string {
	text, at := r.scalar(keys, key)
	if at == nil {
		return words[otherwise]
	}
	if w, ok := words[strings.ToLower(text)]; ok {
		return w
	}
	var known []string
	for w := range words {
		known = append(known, w)
	}
	slices.Sort(known)
	r.error(at.Range, "Invalid value", "%s is %s, not %q.", key, strings.Join(known, " or "), text)
	return words[otherwise]
}

// metadata reads the fields with a plain value and ignores others, since the programs read none.
func (r *reader) metadata(keys map[string]yamlsyntax.Pair) []matrix.Field {
	p, ok := keys["metadata"]
	if !ok || p.Value.Kind == yamlsyntax.Scalar && p.Value.Null {
		return nil
	}
	if p.Value.Kind != yamlsyntax.Mapping {
		r.error(p.Value.Range, "Not a mapping", "metadata is a mapping of names to values.")
		return nil
	}
	var out []matrix.Field
	for _, f := range p.Value.Pairs {
		if f.Value.Kind != yamlsyntax.Scalar {
			r.warnOnce(f.KeyRange, "Metadata with parts", "%q is ignored: metadata has plain values.", f.Key)
			continue
		}
		out = append(out, matrix.Field{Key: f.Key, Value: f.Value.Text})
	}
	return out
}
