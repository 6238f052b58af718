package importer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// inWaves makes one call of calls of curl that run together and are requests of one load: they may differ in what each
// request alone has. Such loads one after another are one, if as many of their requests run together.
func inWaves(calls []*call) (merged []*call) {
	type key struct {
		of      *wave
		load    string
		pausing *pause
		point   string
	}
	waves, groups := map[key]*call{}, map[*call][]*call{}
	for _, c := range calls {
		if c.tool == curl {
			c.load = c.loadOf()
		}
		at := slices.IndexFunc(c.stages, func(of stage) bool { return of.job > 0 })
		if c.tool != curl || at < 0 {
			merged = append(merged, c)
			continue
		}
		k := key{of: c.stages[at].of, load: c.load, pausing: c.pause, point: c.point}
		first := waves[k]
		if first == nil {
			waves[k], first = c, c
			merged = append(merged, c)
		}
		groups[first] = append(groups[first], c)
	}
	for first, all := range groups {
		first.atOnce = atOnce(all, 0)
		for _, of := range first.stages {
			first.waves = first.waves || of.waves
		}
		for _, c := range all[1:] {
			first.take(c)
			first.various = first.various.or(first.variety(c))
		}
	}
	for first := range groups { // a wave of one request also has what differs in others of its loop
		for other := range groups {
			if first.point != "" && first.fate == other.fate && first.load == other.load {
				first.various = first.various.or(other.various)
			}
		}
	}
	return mergedWaves(merged)
}

// variety is in what the requests of a load differ.
type variety struct{ prompts, headers, fields bool }

func (v variety) or(o variety) variety {
	return variety{v.prompts || o.prompts, v.headers || o.headers, v.fields || o.fields}
}

// variety returns in what the request of another call differs.
func (c *call) variety(o *call) variety {
	a, b := readCurl(c.positional), readCurl(o.positional)
	return variety{
		partOf(a, true) != partOf(b, true), !slices.Equal(a.headers, b.headers), partOf(a, false) != partOf(b, false),
	}
}

// mergedWaves makes one call of loads of various requests that one command sends one after another.
func mergedWaves(calls []*call) (merged []*call) {
	for _, c := range calls {
		same := slices.IndexFunc(merged, func(o *call) bool {
			return c.various != variety{} && o.fate == c.fate && o.sameAmount(c) && o.load == c.load
		})
		if same < 0 {
			merged = append(merged, c)
			continue
		}
		merged[same].take(c)
		merged[same].waves = true
	}
	return merged
}

// take adds the requests of another call.
func (c *call) take(other *call) {
	c.times, c.open = c.times+other.times, c.open || other.open
	c.further = slices.Concat(c.further, []*call{other}, other.further)
	other.further = nil
}

// sameAmount reports whether calls differ at most in the number of their requests.
func (c *call) sameAmount(o *call) bool {
	return c.atOnce == o.atOnce && c.point == o.point && c.lasts == o.lasts && c.various == o.various &&
		(c.pause == nil) == (o.pause == nil)
}

// loadOf returns what requests of one load have in common: all but the prompt, headers and further fields.
func (c *call) loadOf() string {
	l := readCurl(c.positional)
	var body map[string]any
	if json.Unmarshal([]byte(l.data), &body) != nil {
		return strings.Join(c.whole, " ")
	}
	return fmt.Sprint(l.address, body["model"], body["stream"], body["max_tokens"], body["max_completion_tokens"],
		body["messages"] == nil)
}

// atOnce returns how many of calls run together, given the stages from a level; 0: only the shell knows.
func atOnce(calls []*call, level int) (most int) {
	waves := map[*wave][]*call{}
	for _, c := range calls {
		if level < len(c.stages) {
			waves[c.stages[level].of] = append(waves[c.stages[level].of], c)
		}
	}
	if len(waves) == 0 {
		return 1
	}
	for of, in := range waves {
		jobs := map[int][]*call{}
		for _, c := range in {
			jobs[c.stages[level].job] = append(jobs[c.stages[level].job], c)
		}
		n := 0
		for _, all := range jobs {
			at, each := all[0].stages[level], atOnce(all, level+1)
			if each == 0 || at.unknown {
				return 0
			}
			n += at.copies * each
		}
		switch {
		case of.unsure || of.most < 0:
			return 0
		case of.most > 0:
			n = min(n, of.most)
		case of.slides:
			n = min(n, of.highest)
		}
		most = max(most, n)
	}
	return most
}

// setLoad sets how many requests are in flight, and how many or how long they are.
func (c *call) setLoad() {
	switch {
	case c.lasts != "":
		c.set("duration", literal(c.lasts))
	case c.open:
		c.warn("only the shell knows how many requests its loop sends: variable requests says it")
		c.variable("requests")
		c.set("requests", expression("${var.requests}"))
	default:
		c.set("requests", count(int64(c.times)))
	}
	switch p := c.pause; {
	case p != nil && p.starts > 0 && !p.waves && p.sure:
		c.setPace(p)
		return
	case p != nil && p.starts > 0 && !p.sure:
		c.atOnce = 0
	case p != nil && p.waves:
		c.warn("%s between requests that run together is not taken over: the load sends the next when one ends", p.text)
	case p != nil:
		c.warn("%s between requests is not taken over: each is sent when the one before it ends", p.text)
	case c.waves:
		c.warn("the script waits until all requests that run together have ended; the load sends the next when one ends")
	}
	if c.atOnce == 0 {
		c.warn("only the shell knows how many requests run together: variable concurrency says it")
		c.variable("concurrency")
		c.set("concurrency", expression("${var.concurrency}"))
		return
	}
	c.set("concurrency", count(int64(c.atOnce)))
}

// setPace sets the rate of requests that a loop starts in the background.
func (c *call) setPace(p *pause) {
	if p.each == 0 {
		c.fail("curl: only the shell knows the rate of requests with %s; say rate and arrivals in a scenario", p.text)
		return
	}
	rate, arrivals := strconv.FormatFloat(float64(p.starts)/p.each, 'g', 6, 64)+"/s", "constant"
	if p.starts > 1 {
		arrivals = fmt.Sprintf("burst:%d", p.starts)
	}
	c.set("rate", literal(rate))
	c.set("arrivals", literal(arrivals))
	c.note("%s between requests in the background: their rate", p.text)
}

// setVarious tells what of each request is not in a load of requests that differ.
func (c *call) setVarious() {
	const all = "%s differ between the requests that run together: all have those of the first"
	if in, ok := c.run.options["input"].(inline); ok && c.various.prompts {
		c.set("input", in[:1])
		c.warn("prompts differ between the requests that run together: all have that of the first, " +
			"behind a beginning of their own (prefix: cold)")
	}
	if c.various.headers {
		c.warn(all, "headers")
	}
	if c.various.fields {
		c.warn(all, "further fields of -d")
	}
}

// partOf returns the prompt in the body of a request, or its further fields.
func partOf(l curlLine, prompt bool) string {
	var body map[string]any
	if json.Unmarshal([]byte(l.data), &body) != nil {
		return l.data
	}
	for name := range body {
		if (name == "prompt" || name == "messages") != prompt {
			delete(body, name)
		}
	}
	text, _ := json.Marshal(body) // it was JSON
	return string(text)
}

// tellTogether warns of calls that the script runs together. Other calls than loads of curl are one measurement each.
func tellTogether(calls []*call) {
	of := map[*wave][]*call{}
	for _, c := range slices.SortedStableFunc(slices.Values(calls), func(a, b *call) int { return a.order - b.order }) {
		if len(c.stages) > 0 {
			of[c.stages[0].of] = append(of[c.stages[0].of], c)
		}
	}
	for _, all := range of {
		by := map[*call]string{}
		for i, c := range all {
			repeats := slices.ContainsFunc(c.stages, func(at stage) bool { return at.copies > 1 || at.unknown })
			if c.tool != curl && repeats {
				by[c] = background
			}
			for _, other := range all[i+1:] {
				if w := together(c.stages, other.stages); w != nil {
					by[c], by[other] = w.by, w.by
				}
			}
		}
		for _, c := range all {
			if by[c] != "" {
				c.warn("%s runs commands together; the scenario runs them one after another", by[c])
			}
		}
	}
}

// together returns the wave in which commands run together, the first one before the second; nil: they do not.
func together(first, second []stage) *wave {
	for i := range min(len(first), len(second)) {
		a, b := first[i], second[i]
		switch {
		case a.of != b.of:
			return nil
		case a.job == b.job:
		case a.job == 0 || a.of.most == 1:
			return nil
		default:
			return a.of
		}
	}
	return nil
}
