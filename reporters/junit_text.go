package reporters

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// textBudget is the size of all text: GitLab rejects reports above 30 MB.
const textBudget = 20 << 20

// result is the outcome element of a test case. Some consumers show the message, others the text, so the
// text repeats the message.
func (b *junit) result(kind, message string, lines ...string) *xmlResult {
	message = plain(message)
	text := clip(strings.Join(append([]string{message}, lines...), "\n"), "\n… cut; results.json has all")
	if b.budget -= len(text); b.budget < 0 {
		text = ""
	}
	return &xmlResult{Type: kind, Message: message, Text: text}
}

// details are what is needed to investigate a verdict: the compiled assertion, the value of each launch,
// and the command to repeat the case.
func (b *junit) details(c *results.Case, a *results.AssertionVerdict) []string {
	var lines []string
	if a != nil {
		lines = append(lines, "assertion: "+plain(a.Text), "understood as: "+plain(a.Inequality()))
	}
	if c == nil {
		f := finding{standing: a.Standing(), assertion: a, where: plain(over(b.doc, a))}
		lines = append(lines, b.context(f)...)
		if command := againText(b.doc, f); command != "" {
			lines = append(lines, "again: "+command)
		}
		return lines
	}
	for _, l := range c.Launches {
		lines = append(lines, plain(launchLine(l, a)))
		for _, s := range l.Samples {
			lines = append(lines, "  samples: "+plain(s))
		}
	}
	for _, l := range causeLines(c) {
		lines = append(lines, "  | "+l)
	}
	lines = append(lines, b.context(finding{assertion: a, of: c})...)
	f := finding{assertion: a, of: c}
	if a != nil {
		f.standing = a.Standing()
	}
	f.busy = causedByBusyHost(f)
	if text := againText(b.doc, f); text != "" {
		lines = append(lines, "again: "+text)
	}
	return lines
}

func (b *junit) context(f finding) []string {
	f.beside, f.likely = beside(b.doc, b.since, f), likelyCauses(b.doc, f)
	return f.context()
}

func launchLine(l *results.Launch, a *results.AssertionVerdict) string {
	s := fmt.Sprintf("%s on %s: ", results.LaunchName(l.Index), strings.Join(l.Nodes, ", "))
	if l.Retried {
		s += "retried: "
	}
	if l.Discarded != "" {
		s += "discarded (" + l.Discarded + "): "
	}
	switch {
	case l.Failure != nil:
		return s + sentenceOf(l.Failure.String())
	case l.Status != results.OK:
		return s + l.Status
	case a != nil && a.Transport != nil:
		return s + transportsText(l)
	case a != nil && a.Provider != nil:
		return s + providerText(l, a.Provider.Fact)
	case a == nil || a.Subject == nil:
		return s + "ok"
	case !alone(a.Subject):
		return s + ownMetrics(l, a.Subject)
	}
	v, err := a.Subject.Eval(l.Metrics.Get, a.Unit)
	if err != nil {
		return s + err.Error()
	}
	scale := results.ScaleFor(v, a.Unit)
	value, _, _ := scale.Estimate(v, nil)
	return s + scale.WithUnit(value)
}

// transportsText is what carried a launch's data.
func transportsText(l *results.Launch) string {
	if text := results.CarriedBy(l.Transports); text != "" {
		return text
	}
	return "unknown transports"
}

// providerText is the provider facts of a launch, or the setting that is asserted.
func providerText(l *results.Launch, asserted string) string {
	shown := slices.DeleteFunc(slices.Clone(l.Provider), func(f results.ProviderFact) bool {
		return f.Setting && f.Name != asserted
	})
	return cmp.Or(results.ProviderText(shown), "no provider facts")
}

// alone reports whether a subject uses its own case only and so has a value per launch.
func alone(e *assertion.Expr) bool {
	return !slices.ContainsFunc(e.Leaves(), func(l *assertion.Expr) bool { return l.Case != "" || l.Baseline })
}

// ownMetrics lists a launch's values for a subject over several cases.
func ownMetrics(l *results.Launch, e *assertion.Expr) string {
	var parts []string
	for _, leaf := range e.Leaves() {
		v, ok := l.Metrics.Get(leaf.Metric)
		if leaf.Case != "" || leaf.Baseline || !ok {
			continue
		}
		scale := results.ScaleFor(v, leaf.Unit)
		value, _, _ := scale.Estimate(v, nil)
		parts = ordered.Append(parts, leaf.Metric+" "+scale.WithUnit(value))
	}
	if len(parts) == 0 {
		return "ok"
	}
	return strings.Join(parts, ", ")
}

func (p *xmlProperties) add(name, value string) {
	p.List = append(p.List, xmlProperty{name, plain(value)})
}

// ofCase adds properties of a case that do not depend on assertions.
func (p *xmlProperties) ofCase(c *results.Case) {
	p.add("case", c.Key)
	for _, condition := range conditions {
		if text := condition.of(c); text != "" {
			p.add(condition.name, text)
		}
	}
	if c.Simulated() {
		p.add("simulated", "true")
	}
	if scale := timeScale(c); scale != "" {
		p.add("time_scale", scale)
	}
	if n := c.Retried(); n > 0 {
		p.add("launches_retried", strconv.Itoa(n))
	}
	if n := c.Discarded(); n > 0 {
		p.add("launches_void", strconv.Itoa(n))
		p.add("void", plain(c.LastDiscardReason()))
	}
}

// sessionProperties describe the origin of the results of a run's suite, if notable, and what documents say of
// the run.
func sessionProperties(doc *results.Document, run string) *xmlProperties {
	p := &xmlProperties{}
	if doc.Simulated() {
		p.add("simulated", simulatedBanner(doc))
	}
	if text := scaledBanner(doc); text != "" {
		p.add("time_scale", text)
	}
	if text := resumedLaunches(doc); text != "" {
		p.add("resumed", text)
	}
	for _, c := range claimsOf(doc) {
		if c.Run == run {
			found, _, _ := c.FoundText()
			p.add("claim "+ascii(c.Case)+" "+ascii(c.Metric), ascii(sentence("; ", "expected "+c.ExpectedText(),
				tagged("found ", found), c.Status, claimSource(c))))
		}
	}
	return p
}

// properties are the numbers of a verdict for machines.
func properties(a *results.AssertionVerdict, c *results.Case) *xmlProperties {
	p := &xmlProperties{}
	if c != nil {
		p.ofCase(c)
	}
	p.add("severity", string(a.Severity))
	p.add("verdict", string(a.Verdict))
	if o := a.Observed; o != nil {
		p.add("value", raw(o.Value))
		p.add("unit", o.Unit)
		p.add("n", strconv.Itoa(o.N))
		if o.CI != nil {
			p.add("ci_low", raw(o.CI[0]))
			p.add("ci_high", raw(o.CI[1]))
		}
		if o.Confidence != 0 {
			p.add("confidence", raw(o.Confidence))
		}
	}
	if v := a.Bounds.Lower; v != nil {
		p.add("lower", raw(*v))
	}
	if v := a.Bounds.Upper; v != nil {
		p.add("upper", raw(*v))
	}
	return p
}

// ascii escapes characters outside ASCII: consumers use these names as keys, and some lose other
// characters.
func ascii(s string) string {
	var b strings.Builder
	for _, r := range plain(s) {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// undotted is a name as one level of a class name, where dots separate levels.
func undotted(s string) string { return strings.ReplaceAll(ascii(s), ".", "_") }

// seconds are fixed-point: some consumers cannot read exponents.
func seconds(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }
