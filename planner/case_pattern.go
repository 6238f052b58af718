// Selectors of the form RUN[AXIS=VALUE,…].

package planner

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/suggest"
)

// casePattern is a selector of the form RUN[AXIS=VALUE,…]. Axes may have any order. * in a value
// matches any text, and * as an axis matches all axes not named.
type casePattern struct {
	run   *regexp.Regexp
	axes  map[string]*regexp.Regexp
	items []string // as written
	rest  bool     // whether there is a *
	twice string   // an axis that is named twice; "" if there is none
}

// readCasePattern returns nil for a text of another form.
func readCasePattern(text string) *casePattern {
	run, inner, ok := strings.Cut(text, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if !ok || !closed || run == "" {
		return nil
	}
	p := &casePattern{run: globOf(run), axes: map[string]*regexp.Regexp{}, items: keyItems(inner)}
	for _, item := range p.items {
		axis, value, ok := strings.Cut(item, "=")
		if p.axes[axis] != nil {
			p.twice = axis
		}
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
	if err != nil { // bytes that are not UTF-8
		return regexp.MustCompile("$.")
	}
	return re
}

// matches reports whether the pattern matches the key of a case.
func (p *casePattern) matches(key string) bool {
	fits, all := p.fits(key)
	return fits == len(p.axes) && (p.rest || fits == all)
}

// fits returns how many axes of the pattern match the case, and how many axes the case has; -1 if
// it is of another run.
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

// whyNoMatch names the axis or the value of a selector that no case of its runs has, or says that further axes are
// missing; "" if the selector is no pattern of a run here.
func (p *Plan) whyNoMatch(text string) string {
	pattern := readCasePattern(text)
	if pattern == nil {
		return ""
	}
	values, axes, ofRun := map[string][]string{}, []string(nil), false
	seen := map[string]bool{} // items
	for _, c := range p.Cases {
		run, inner, _ := strings.Cut(c.Key, "[")
		if !pattern.run.MatchString(run) {
			continue
		}
		ofRun = true
		for _, item := range keyItems(strings.TrimSuffix(inner, "]")) {
			if seen[item] {
				continue
			}
			seen[item] = true
			axis, value, _ := strings.Cut(item, "=")
			if values[axis] == nil {
				axes = append(axes, axis)
			}
			values[axis] = append(values[axis], unquoted(value))
		}
	}
	if !ofRun {
		return ""
	}
	for _, item := range pattern.items {
		axis, _, _ := strings.Cut(item, "=")
		switch re := pattern.axes[axis]; {
		case re == nil: // the star
		case values[axis] == nil:
			return fmt.Sprintf(": there is no axis %s, the axes are %s", axis, strings.Join(axes, ", "))
		case !slices.ContainsFunc(values[axis], re.MatchString):
			return fmt.Sprintf(": the values of %s are %s", axis, suggest.Few("", values[axis], ""))
		}
	}
	if !pattern.rest && len(pattern.axes) < len(axes) {
		return ": with the other axes left out it ends with ,*]"
	}
	return ""
}

// keyItems splits the axes in the brackets of a key, with quoted values.
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

// unquoted returns a value as its axis has it.
func unquoted(value string) string {
	if text, err := strconv.Unquote(value); err == nil && strings.HasPrefix(value, `"`) {
		return text
	}
	return value
}

// nearestKey returns the key closest to a selector without match: the one of its run with most of
// its axes, or one with a similar spelling; "" if none is close.
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
	most := slices.MaxFunc(keys, func(a, b string) int { return cmp.Compare(fits(a), fits(b)) })
	if fits(most) < 0 {
		return suggest.Nearest(text, keys)
	}
	return suggest.Closest(text, slices.DeleteFunc(keys, func(key string) bool { return fits(key) < fits(most) }))
}
