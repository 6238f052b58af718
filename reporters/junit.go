package reporters

import (
	"encoding/xml"
	"fmt"
	"io"
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// JUnit writes the common subset of what GitLab, Jenkins and the GitHub actions read: one level of suites,
// one per run; a test case per assertion on a case, and one for each case without a deciding assertion or
// with may_fail, so that nothing planned is missing. Names are stable over sessions, and counters add up.
// Failures are what counts in the session's exit code.
func JUnit(w io.Writer, doc *results.Document) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(newSuites(doc)); err != nil {
		return fmt.Errorf("encoding JUnit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

type xmlSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	xmlCounts
	Suites []*xmlSuite `xml:"testsuite"`
}

type xmlCounts struct {
	Tests     int    `xml:"tests,attr"`
	Failures  int    `xml:"failures,attr"`
	Errors    int    `xml:"errors,attr"`
	Skipped   int    `xml:"skipped,attr"`
	Time      string `xml:"time,attr"`
	Timestamp string `xml:"timestamp,attr"`

	seconds float64
}

type xmlSuite struct {
	ID       int    `xml:"id,attr"`
	Name     string `xml:"name,attr"`
	Hostname string `xml:"hostname,attr"`
	xmlCounts
	Properties *xmlProperties `xml:"properties"`
	Cases      []*xmlCase     `xml:"testcase"`
	SystemOut  string         `xml:"system-out"` // required by Ant's schema
	SystemErr  string         `xml:"system-err"`
}

type xmlCase struct {
	Classname  string         `xml:"classname,attr"`
	Name       string         `xml:"name,attr"`
	Time       string         `xml:"time,attr"`
	File       string         `xml:"file,attr,omitempty"`
	Line       int            `xml:"line,attr,omitempty"`
	Properties *xmlProperties `xml:"properties"`
	Skipped    *xmlResult     `xml:"skipped"`
	Error      *xmlResult     `xml:"error"`
	Failure    *xmlResult     `xml:"failure"`
	SystemOut  string         `xml:"system-out,omitempty"`

	seconds float64
}

type xmlProperties struct {
	List []xmlProperty `xml:"property"`
}

type xmlProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type xmlResult struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Text    string `xml:",cdata"`
}

func newSuites(doc *results.Document) *xmlSuites {
	b := &junit{
		doc: doc, since: sinces(doc), names: map[string]int{}, suites: map[string]*xmlSuite{}, budget: textBudget,
		busy: map[string]string{},
	}
	b.all.Name = ascii(doc.Scenario.Name)
	b.session()
	for _, c := range doc.Cases {
		b.planned(c)
	}
	for _, a := range doc.Assertions {
		b.several(a)
	}
	b.all.start(doc.Session.Started)
	for i, s := range b.all.Suites {
		s.ID = i
		s.SystemOut = b.busy[s.Name]
		s.start(doc.Session.Started)
		for _, c := range s.Cases {
			c.Time = seconds(c.seconds)
			s.count(c)
			b.all.count(c)
		}
		s.Time = seconds(s.seconds)
	}
	b.all.Time = seconds(b.all.seconds)
	return &b.all
}

// start sets the time in UTC: Ant's schema has no time zone.
func (n *xmlCounts) start(t time.Time) { n.Timestamp = t.UTC().Format("2006-01-02T15:04:05") }

func (n *xmlCounts) count(c *xmlCase) {
	n.Tests++
	n.seconds += c.seconds
	switch {
	case c.Error != nil:
		n.Errors++
	case c.Failure != nil:
		n.Failures++
	case c.Skipped != nil:
		n.Skipped++
	}
}

// junit builds the tree.
type junit struct {
	doc    *results.Document
	all    xmlSuites
	suites map[string]*xmlSuite
	names  map[string]int
	since  map[string][]*results.Since // by case
	budget int                         // bytes of text left for the file
	busy   map[string]string           // by suite: what was discarded, and the remedy
}

// add appends a test case to the suite of a run under a unique name.
func (b *junit) add(run, name string, c *xmlCase) {
	s := b.suites[run]
	if s == nil {
		s = &xmlSuite{Name: ascii(run), Hostname: "localhost"}
		if nodes := b.doc.Environment.Nodes; len(nodes) > 0 {
			s.Hostname = ascii(nodes[0].Name)
		}
		s.Properties = sessionProperties(b.doc, run)
		b.suites[run] = s
		b.all.Suites = append(b.all.Suites, s)
	}
	c.Classname = "weir." + undotted(b.doc.Scenario.Name) + "." + undotted(run)
	c.Name = ascii(name)
	b.names[c.Name]++
	for n := b.names[c.Name]; n > 1; n++ {
		next := fmt.Sprintf("%s #%d", c.Name, n)
		if b.names[next] == 0 {
			b.names[next]++
			c.Name = next
			break
		}
	}
	s.Cases = append(s.Cases, c)
}

// session is a suite for what ended the session and for failed checks.
func (b *junit) session() {
	for _, f := range sessionErrors(b.doc) {
		b.add("session", f.where, &xmlCase{Error: b.result("weir.error", f.message)})
	}
}

// planned writes the test cases of one case, its time with the first.
func (b *junit) planned(c *results.Case) {
	if openForBusyHost(c) {
		b.busy[ascii(c.Run)] = busyText(b.doc)
	}
	time := 0.0
	for _, l := range c.Launches {
		time += l.Duration
	}
	decided := false
	for _, a := range c.Assertions {
		x := b.judged(a, c)
		x.seconds, time = time, 0
		b.add(c.Run, c.Key+" "+title(a), x)
		decided = decided || a.Severity != assertion.Info
	}
	why := discardedReason(c)
	if decided && c.MayFail == nil && why == "" {
		return
	}
	x := &xmlCase{seconds: time, Properties: &xmlProperties{}}
	x.Properties.ofCase(c)
	switch s := standing(c); {
	case c.Excused():
		x.Skipped = &xmlResult{Message: plain(sentence(": ", s, c.MayFail.Message))}
	case c.Unexpected():
		x.Failure = b.result("weir.assertion", c.MayFail.Message)
	case reason(c) != "":
		x.Error = b.result("weir.error", sentenceOf(reason(c)), b.details(c, nil)...)
	case why != "":
		b.unmeasured(x, c)
	case s == results.Skipped, s == results.Excluded:
		x.Skipped = &xmlResult{Message: plain(sentence(": ", s, c.Reason))}
	case unneededOf(c):
		x.SystemOut = plain(sentence(": ", string(assertion.Info), c.MayFail.Message))
	}
	b.add(c.Run, c.Key+" runs", x)
}

// unmeasured is the outcome of a case without a usable launch, by the session's policy.
func (b *junit) unmeasured(x *xmlCase, c *results.Case) {
	text := b.details(c, nil)
	switch policy := b.doc.Session.Policy().As; policy {
	case "fail":
		x.Failure = b.result("weir.assertion", busyShort(c), text...)
	case "warn":
		x.Skipped = &xmlResult{Message: plain(policy + ": " + busyShort(c))}
	case "pass":
		x.SystemOut = plain(policy + ": " + busyShort(c))
	default:
		x.Error = b.result("weir.inconclusive", busyShort(c), text...)
	}
}

// several writes an assertion over several cases into the suite of the first one's run.
func (b *junit) several(a *results.AssertionVerdict) {
	run := "session"
	if len(a.Cases) > 0 {
		if c := b.doc.Case(a.Cases[0]); c != nil {
			run = c.Run
		}
	}
	b.add(run, over(b.doc, a)+" "+title(a), b.judged(a, nil))
}

// undecided reports whether a warning is of an inconclusive assertion.
func undecided(a *results.AssertionVerdict) bool {
	return a.Verdict == results.WarnVerdict &&
		(hasReason(a.Reasons, results.StandsIn) || hasReason(a.Reasons, results.WarnsOnly))
}

// judged is the test case of one assertion; c is nil for those over several cases.
func (b *junit) judged(a *results.AssertionVerdict, c *results.Case) *xmlCase {
	x := &xmlCase{File: plain(a.File), Line: a.Line, Properties: properties(a, c)}
	message := a.Message
	if message == "" {
		message = a.Inequality()
	}
	if c != nil && causedByBusyHost(finding{assertion: a, of: c}) {
		message = busyShort(c) // the suite has the details
	}
	message = sentence("; ", message, acceptedText(a))
	text := b.details(c, a)
	switch s := a.Standing(); s {
	case string(results.Pass):
		switch {
		case hasReason(a.Reasons, results.ExpectationUnneeded):
			x.SystemOut = plain(string(assertion.Info) + ": " + message)
		case hasReason(a.Reasons, results.StandsIn):
			x.SystemOut = plain(s + ": " + message)
		case ofOneLaunch(a):
			x.SystemOut = plain(onePass + " " + s + ": " + message)
		}
	case string(results.XFail):
		if unjudged(a) {
			x.Skipped = &xmlResult{Message: plain(s + ": " + message)}
			break
		}
		x.SystemOut = plain(s + ": " + message)
	case string(results.Fail), string(results.XPass):
		x.Failure = b.result("weir.assertion", message, text...)
	case string(results.InconclusiveVerdict):
		x.Error = b.result("weir.inconclusive", message, text...)
	case string(results.SkippedVerdict):
		x.Skipped = &xmlResult{Message: plain(message)}
	case string(results.WarnVerdict), string(assertion.Info):
		if undecided(a) {
			x.Skipped = &xmlResult{Message: plain(s + ": " + message)}
			break
		}
		x.SystemOut = plain(s + ": " + message)
	default:
		x.Error = b.result("weir.error", message, text...)
	}
	return x
}
