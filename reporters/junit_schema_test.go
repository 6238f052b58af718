package reporters

import (
	"encoding/xml"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	consumer "github.com/joshdk/go-junit"

	"github.com/weir-bench/weir/results"
)

// elementRule is what a schema says of one element: a pattern for each attribute, those
// with "!" required, and one for the names of its children, each with a space behind
// it. Text is allowed everywhere where there are no children.
type elementRule struct {
	attributes map[string]string
	children   string
}

const (
	anyText     = `(?s).*`
	wholeNumber = `[-+]?\d+`
	decimal     = `[-+]?(\d+(\.\d*)?|\.\d+)`
	moment      = `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`
	someText    = `(?s).+`
)

// jenkins are the rules of junit-10.xsd of Jenkins' xUnit plugin.
var jenkins = map[string]elementRule{
	"testsuites": {map[string]string{"name": anyText, "time": surefire, "tests": anyText, "failures": anyText,
		"errors": anyText}, `(testsuite )*`},
	"testsuite": {map[string]string{
		"!name": anyText, "!tests": anyText, "!failures": anyText, "!errors": anyText, "group": anyText,
		"time": surefire, "skipped": anyText,
		"timestamp": anyText, "hostname": anyText, "id": anyText, "package": anyText, "file": anyText, "log": anyText,
		"url": anyText,
	}, `((testsuite|properties|testcase|system-out|system-err) )*`},
	"testcase": {map[string]string{"!name": anyText, "time": anyText, "classname": anyText, "group": anyText},
		`((skipped|error|failure|rerunFailure|rerunError|flakyFailure|flakyError|system-out|system-err) )*`},
	"failure":    {map[string]string{"type": anyText, "message": anyText}, ``},
	"error":      {map[string]string{"type": anyText, "message": anyText}, ``},
	"skipped":    {map[string]string{"type": anyText, "message": anyText}, ``},
	"properties": {nil, `(property )*`},
	"property":   {map[string]string{"!name": anyText, "!value": anyText}, ``},
	"system-out": {nil, ``},
	"system-err": {nil, ``},
}

const surefire = `((\d{0,3},)*\d{3}|\d{0,3})*(\.\d*)?`

// ant are the rules of JUnit.xsd for the reports of Apache Ant's junit and junitreport
// tasks; skipped may be anything there.
var ant = map[string]elementRule{
	"testsuites": {nil, `(testsuite )*`},
	"testsuite": {map[string]string{
		"!package": anyText, "!id": wholeNumber, "!name": someText, "!timestamp": moment, "!hostname": someText,
		"!tests": wholeNumber, "!failures": wholeNumber, "!errors": wholeNumber, "skipped": wholeNumber,
		"!time": decimal,
	}, `properties (testcase )*system-out system-err `},
	"testcase": {map[string]string{"!name": anyText, "!classname": anyText, "!time": decimal},
		`((skipped|error|failure) )?`},
	"failure":    {map[string]string{"message": anyText, "!type": anyText}, ``},
	"error":      {map[string]string{"message": anyText, "!type": anyText}, ``},
	"skipped":    {map[string]string{"message": anyText, "type": anyText}, ``},
	"properties": {nil, `(property )*`},
	"property":   {map[string]string{"!name": someText, "!value": anyText}, ``},
	"system-out": {nil, ``},
	"system-err": {nil, ``},
}

// node is any element of a document.
type node struct {
	XMLName    xml.Name
	Attributes []xml.Attr `xml:",any,attr"`
	Children   []node     `xml:",any"`
}

// violations are what a tree has against the rules, each kind once: ELEMENT@ATTRIBUTE
// that is not allowed or has no such form, -ELEMENT@ATTRIBUTE that is missing,
// ELEMENT/CHILD that is not allowed there at all, ELEMENT: CHILDREN in a wrong order.
func violations(n node, rules map[string]elementRule, into map[string]bool) {
	name := n.XMLName.Local
	rule, ok := rules[name]
	if !ok {
		into[name] = true
		return
	}
	has := map[string]bool{}
	for _, a := range n.Attributes {
		has[a.Name.Local] = true
		pattern, ok := rule.attributes["!"+a.Name.Local]
		if !ok {
			pattern, ok = rule.attributes[a.Name.Local]
		}
		if !ok || !regexp.MustCompile(`^(?:`+pattern+`)$`).MatchString(a.Value) {
			into[name+"@"+a.Name.Local] = true
		}
	}
	for a := range rule.attributes {
		if required, ok := strings.CutPrefix(a, "!"); ok && !has[required] {
			into["-"+name+"@"+required] = true
		}
	}
	var children strings.Builder
	for _, c := range n.Children {
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(c.XMLName.Local) + `\b`).MatchString(rule.children) {
			into[name+"/"+c.XMLName.Local] = true
			continue
		}
		children.WriteString(c.XMLName.Local + " ")
		violations(c, rules, into)
	}
	if !regexp.MustCompile(`^(?:` + rule.children + `)$`).MatchString(children.String()) {
		into[name+": "+children.String()] = true
	}
}

// The reports keep to both schemas but where other consumers need more than either
// knows: the line of an assertion, properties and output of a test case, and counters
// of the whole file. Ant's package is left out because Jenkins puts it before the name.
func TestJUnitFollowsTheSchemas(t *testing.T) {
	for name, c := range map[string]struct {
		rules map[string]elementRule
		more  []string
	}{
		"Jenkins": {jenkins, []string{
			"testcase/properties", "testcase@file", "testcase@line", "testsuites@skipped", "testsuites@timestamp",
		}},
		"Ant": {ant, []string{"-testsuite@package", "testcase/properties", "testcase/system-out", "testcase@file",
			"testcase@line",
			"testsuites@errors", "testsuites@failures", "testsuites@name", "testsuites@skipped", "testsuites@tests",
			"testsuites@time", "testsuites@timestamp"}},
	} {
		found := map[string]bool{}
		for _, d := range documents {
			var root node
			if err := xml.Unmarshal([]byte(written(t, "junit", read(t, d))), &root); err != nil {
				t.Fatal(err)
			}
			violations(root, c.rules, found)
		}
		if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, c.more) {
			t.Errorf("%s: against the schema are\n%q, want\n%q", name, got, c.more)
		}
	}
}

// The rules find what they are there for.
func TestSchemaRulesFindViolations(t *testing.T) {
	for text, want := range map[string]string{
		`<testsuite name="n" tests="1" failures="0" errors="0"/>`:                         "",
		`<testsuite tests="1" failures="0" errors="0"/>`:                                  "-testsuite@name",
		`<testsuite name="n" tests="1" failures="0" errors="0" time="1e-3"/>`:             "testsuite@time",
		`<testsuite name="n" tests="1" failures="0" errors="0"><testsuites/></testsuite>`: "testsuite/testsuites",
		`<testcase name="n"><property name="a" value="b"/></testcase>`:                    "testcase/property",
		`<properties><property name="a"/></properties>`:                                   "-property@value",

		`<testsuite name="n" tests="1" failures="0" errors="0"><testcase classname="c"/></testsuite>`: "-testcase@name",

		`<testsuites><testsuite name="n" tests="1" failures="0" errors="0" flaky="1"/></testsuites>`: "testsuite@flaky",

		`<testsuites name="x" time="1,000.5"><testsuite name="n" tests="" failures="" errors=""/></testsuites>`: "",
	} {
		var root node
		if err := xml.Unmarshal([]byte(text), &root); err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		violations(root, jenkins, found)
		if got := strings.Join(slices.Sorted(maps.Keys(found)), " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	var root node
	if err := xml.Unmarshal([]byte(`<testsuite><testcase name="a" classname="b" time="0"/><properties/></testsuite>`),
		&root); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	violations(root, ant, found)
	if !found["testsuite: testcase properties "] {
		t.Errorf("a wrong order is not found: %v", found)
	}
}

// A parser that others read such files with finds every test with its outcome,
// message, time and properties.
func TestJUnitIsReadByAConsumer(t *testing.T) {
	for _, name := range documents {
		doc := read(t, name)
		suites, err := consumer.Ingest([]byte(written(t, "junit", doc)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := parse(t, doc)
		if len(suites) != len(want.Suites) {
			t.Fatalf("%s: %d suites, want %d", name, len(suites), len(want.Suites))
		}
		verdicts := map[string]string{}
		for _, c := range doc.Cases {
			for _, a := range c.Assertions {
				called := ascii(c.Key + " " + title(a))
				if verdicts[called] != "" {
					called += " #2"
				}
				verdicts[called] = a.Standing()
			}
		}
		for i, s := range suites {
			w := want.Suites[i]
			if s.Name != w.Name || s.Totals.Tests != w.Tests || s.Totals.Failed != w.Failures ||
				s.Totals.Error != w.Errors || s.Totals.Skipped != w.Skipped {
				t.Errorf("%s: suite %s is read as %+v", name, w.Name, s.Totals)
			}
			if d := s.Totals.Duration - time.Duration(w.Time*float64(time.Second)); d.Abs() > 10*time.Millisecond {
				t.Errorf("%s: suite %s takes %v, want %v s", name, w.Name, s.Totals.Duration, w.Time)
			}
			for j, c := range s.Tests {
				if c.Name != w.Cases[j].Name || c.Classname != w.Cases[j].Classname {
					t.Errorf("%s: test %q of %q", name, c.Name, c.Classname)
				}
				outcome, known := verdicts[c.Name]
				if !known {
					continue
				}
				status := map[string]consumer.Status{
					string(results.Fail): consumer.StatusFailed, string(results.XPass): consumer.StatusFailed,
					string(results.SkippedVerdict):      consumer.StatusSkipped,
					string(results.ErrorVerdict):        consumer.StatusError,
					string(results.InconclusiveVerdict): consumer.StatusError,
				}[outcome]
				if status == "" {
					status = consumer.StatusPassed
				}
				if c.Status != status {
					t.Errorf("%s: %s is %s and is read as %s", name, c.Name, outcome, c.Status)
				}
				if bad := status == consumer.StatusFailed ||
					status == consumer.StatusError; bad && (c.Error == nil || c.Message == "") {
					t.Errorf("%s: %s has no message", name, c.Name)
				}
				if c.Properties["line"] == "" || c.Properties["file"] == "" {
					t.Errorf("%s: %s has no place: %v", name, c.Name, c.Properties)
				}
			}
		}
	}
}
