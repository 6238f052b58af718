package planner

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"weir/suggest"
)

// casePattern is a selector of the form RUN[AXIS=VALUE,…]: its axes stand in any order, * in a value is any text,
// and * for an axis is any axes that are not named.
type casePattern struct {
	run   *regexp.Regexp
	axes  map[string]*regexp.Regexp
	items []string // as they are written
	rest  bool     // there is a *
}

// readCasePattern is nil for a text of another form.
func readCasePattern(text string) *casePattern {
	run, inner, ok := strings.Cut(text, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if !ok || !closed || run == "" {
		return nil
	}
	p := &casePattern{run: globOf(run), axes: map[string]*regexp.Regexp{}, items: keyItems(inner)}
	for _, item := range p.items {
		axis, value, ok := strings.Cut(item, "=")
		switch {
		case item == "*":
			p.rest = true
		case !ok || axis == "":
			return nil
		case strings.HasPrefix(value, `"`):
			p.axes[axis] = regexp.MustCompile("^" + regexp.QuoteMeta(unquoted(value)) + "$")
		default:
			p.axes[axis] = globOf(value)
		}
	}
	return p
}

func globOf(text string) *regexp.Regexp {
	re, err := regexp.Compile("(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, ".*") + "$")
	if err != nil { // bytes that are not text
		return regexp.MustCompile("$.")
	}
	return re
}

// matches says whether a case is one of the pattern.
func (p *casePattern) matches(key string) bool {
	fits, all := p.fits(key)
	return fits == len(p.axes) && (p.rest || fits == all)
}

// fits is how many axes of the pattern a case has with such values, and how many it has in all; -1: it is of
// another run.
func (p *casePattern) fits(key string) (fits, all int) {
	run, inner, _ := strings.Cut(key, "[")
	if !p.run.MatchString(run) {
		return -1, 0
	}
	items := keyItems(strings.TrimSuffix(inner, "]"))
	for _, item := range items {
		axis, value, _ := strings.Cut(item, "=")
		if re := p.axes[axis]; re != nil && re.MatchString(unquoted(value)) {
			fits++
		}
	}
	return fits, len(items)
}

// keyItems are the parts of what stands in the brackets of a key, whose values may be quoted.
func keyItems(inner string) (items []string) {
	quoted, from := false, 0
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			items, from = append(items, inner[from:i]), i+1
		}
	}
	if inner == "" {
		return nil
	}
	return append(items, inner[from:])
}

// unquoted is a value as its axis has it.
func unquoted(value string) string {
	if text, err := strconv.Unquote(value); err == nil && strings.HasPrefix(value, `"`) {
		return text
	}
	return value
}

// nearestKey is the key that a selector which matches none most likely means: that of its run which has most of
// its axes, or the one that is written nearly so; "": none is near.
func (p *Plan) nearestKey(text string) string {
	var keys []string
	for _, c := range p.Cases {
		keys = append(keys, c.Key)
	}
	pattern := readCasePattern(text)
	if pattern == nil {
		return suggest.Nearest(text, keys)
	}
	fits := func(key string) int { n, _ := pattern.fits(key); return n }
	best := slices.MaxFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(fits(a), fits(b)), strings.Compare(b, a))
	})
	if fits(best) < 0 {
		return suggest.Nearest(text, keys)
	}
	return best
}
