package reporters

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// hostileTexts are names, reasons and lines of output that a format, a terminal or a CI runner
// could take for something else.
var hostileTexts = map[string]string{
	"control": "a\x00\x07\x1b[2J\x1b]0;t\x07b\x7f\u009b\r\nc", "command": "::set-output name=a::b",
	"blanks": "  ::error file=x::y", "later line": "x\n ::stop-commands::t\n##[error]y",
	"azure": "##[error]x ##vso[task.setvariable]y", "cdata": "]]>", "script": "</script><script>alert(1)</script>",
	"comment": "<!-- --> &amp; <b>", "pipes": "a|b||c\\|d", "backticks": "`x` ``` ~~~",
	"newlines": "a\nb\r\nc\n\n# d", "bidi": "\u202eabc\u2066\u200f", "invalid": "\xff\xfe\xc3(\xed\xa0\x80",
	"long": strings.Repeat("very long ", 900), "formula": "=1+1", "separators": "\u2028\u2029\uFEFF\uFFFE",
	"braces": `{"a":[}]`, "quotes": `"'\"`, "percent": "100%0A%25", "empty": "", "blank": "   ",
	"link": "[x](javascript:alert(1)) ![y](http://z)", "metrics": "# EOF\nx{a=\"b\"} 1",
}

// oddNumbers are values that no format likes; JSON has neither NaN nor infinities.
var oddNumbers = map[string]float64{
	"unbounded": results.Unbounded, "mean of unbounded": results.Unbounded / 7, "less than nothing": -results.Unbounded,
	"zero": 0, "negative": -3.5, "largest": math.MaxFloat64, "smallest": math.SmallestNonzeroFloat64, "long": 1.0 / 3,
}

// filler fills a value of any type with the same text and number everywhere.
type filler struct {
	text   string
	number float64
	turn   int
}

func (f *filler) next(of []string) string {
	f.turn++
	return of[f.turn%len(of)]
}

// fill goes into everything that a document can have; tag is the field's.
func (f *filler) fill(v reflect.Value, tag reflect.StructTag, depth int) {
	switch at := v.Addr().Interface().(type) {
	case *time.Time:
		*at = time.Date(2026, 11, 27, 1, 2, 3, 0, time.UTC)
		return
	case *assertion.Expr:
		*at = assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s"}
		return
	}
	if set := v.Addr().MethodByName("Set"); set.IsValid() && v.Kind() == reflect.Struct {
		for _, name := range []string{"bandwidth", "latency.p99", f.text} {
			value := reflect.New(set.Type().In(1)).Elem()
			f.fill(value, "", depth+1)
			set.Call([]reflect.Value{reflect.ValueOf(name), value})
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.textFor(tag))
	case reflect.Float64:
		v.SetFloat(f.number)
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint64, reflect.Uint32, reflect.Uint8:
		v.SetUint(3)
	case reflect.Bool:
		v.SetBool(f.next([]string{"true", ""}) != "")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), tag, depth+1)
	case reflect.Interface:
		v.Set(reflect.ValueOf(f.text))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.elements(v, tag, depth)
	case reflect.Array:
		f.elements(v, tag, depth)
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		f.fill(value, tag, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(f.text).Convert(v.Type().Key()), value)
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				f.fill(v.Field(i), field.Tag, depth+1)
			}
		}
	}
}

func (f *filler) elements(v reflect.Value, tag reflect.StructTag, depth int) {
	for i := range v.Len() {
		f.fill(v.Index(i), tag, depth+1)
	}
}

// textFor is the text of a field: one of its words where it has a list of these.
func (f *filler) textFor(tag reflect.StructTag) string {
	if _, list, ok := strings.Cut(tag.Get("schema"), "enum="); ok {
		list, _, _ = strings.Cut(list, ",")
		return f.next(strings.Split(list, "|"))
	}
	if name, _, _ := strings.Cut(tag.Get("json"), ","); name == "unit" {
		return f.next([]string{"GB/s", "s", "B", "1/s", ""})
	}
	return f.text
}

// filled is a document that has everything, in cases of every status and of every workload.
func filled(text string, number float64) *results.Document {
	f := &filler{text: text, number: number}
	doc := new(results.Document)
	f.fill(reflect.ValueOf(doc).Elem(), "", 0)
	doc.Schema, doc.Metrics, doc.Cases = results.Schema, nil, nil
	for i, kind := range append([]string{"", text}, kinds()...) {
		c := new(results.Case)
		f.fill(reflect.ValueOf(c).Elem(), "", 0)
		c.Workload, c.Key = kind, fmt.Sprintf("%s[%s=%d]", text, text, i)
		c.Axes, c.AxisOrder = map[string]any{text: float64(i)}, []string{text}
		c.Status = []string{results.OK, results.OK, results.Error, results.Skipped, results.Excluded}[i%5]
		c.Invalid = []string{"", text}[i%2]
		for _, m := range metricsOfKind(kind) {
			c.Metrics.Set(m.Name, results.MetricEstimate{
				Unit: m.Unit, N: 2, Value: number, Median: number, Mean: number, CV: number,
				CI: &[2]float64{min(number, 1), max(number, 1)}, Better: string(m.Better),
			})
		}
		doc.Cases = append(doc.Cases, c)
	}
	doc.Summarize()
	return doc
}

func kinds() (names []string) {
	for _, k := range workload.Kinds() {
		names = append(names, k.Name)
	}
	return names
}

func metricsOfKind(kind string) []workload.Metric {
	if k, ok := workload.Lookup(kind); ok {
		return k.Metrics
	}
	return nil
}

// changes of a document make odd ones of those that stand in testdata.
var documentChanges = map[string]func(*results.Document){
	"as it is": func(*results.Document) {},
	"no cases": func(d *results.Document) { d.Cases, d.Assertions = nil, nil },
	"no members": func(d *results.Document) {
		*d = results.Document{Schema: results.Schema, Cases: []*results.Case{{Key: "a"}}}
	},
	"no launches":  eachCase(func(c *results.Case) { c.Launches = nil }),
	"no metrics":   eachCase(func(c *results.Case) { c.Metrics = results.Named[results.MetricEstimate]{} }),
	"no estimates": eachVerdict(func(a *results.AssertionVerdict) { a.Observed = nil }),
	"no subjects":  eachVerdict(func(a *results.AssertionVerdict) { a.Subject = nil }),
	"all void":     eachLaunch(func(l *results.Launch) { l.Discarded = "its processors were busy" }),
	"all failed": eachLaunch(func(l *results.Launch) {
		l.Status, l.Metrics = results.Error, results.MetricValues{}
		l.Failure = &results.Failure{Rank: -1, Cause: hostileTexts["later line"], Log: []string{"##[error]x", "::y::"}}
	}),
	"all in error": eachCase(func(c *results.Case) { c.Status, c.Reason = results.Error, hostileTexts["later line"] }),
	"all skipped": eachCase(func(c *results.Case) {
		c.Status, c.Reason, c.Launches = results.Skipped, "condition: "+hostileTexts["command"], nil
	}),
	"verdicts in error": eachVerdict(func(a *results.AssertionVerdict) {
		a.Verdict, a.Observed, a.Message = results.ErrorVerdict, nil, hostileTexts["later line"]
	}),
	"services that failed": func(d *results.Document) {
		d.Services = []results.Service{
			{Name: "s", Status: "failed", Failure: &results.Failure{Cause: "exit code 3\n::error::x"}},
			{Name: "none", Status: "failed"},
		}
	},
}

func eachCase(f func(*results.Case)) func(*results.Document) {
	return func(d *results.Document) {
		for _, c := range d.Cases {
			f(c)
		}
	}
}

func eachLaunch(f func(*results.Launch)) func(*results.Document) {
	return eachCase(func(c *results.Case) {
		for _, l := range c.Launches {
			f(l)
		}
	})
}

func eachVerdict(f func(*results.AssertionVerdict)) func(*results.Document) {
	return func(d *results.Document) {
		for _, a := range d.AllAssertions() {
			f(a)
		}
	}
}

// estimated puts a number into all estimates and observations, with intervals on both sides of it.
func estimated(v float64) func(*results.Document) {
	return func(d *results.Document) {
		turn := 0
		interval := func(old float64) *[2]float64 {
			turn++
			return []*[2]float64{nil, {v, v}, {min(v, old), max(v, old)}}[turn%3]
		}
		eachCase(func(c *results.Case) {
			for name, e := range c.Metrics.All() {
				e.CI, e.Value, e.Median, e.Mean, e.CV = interval(e.Value), v, v, v, v
				c.Metrics.Set(name, e)
			}
		})(d)
		eachVerdict(func(a *results.AssertionVerdict) {
			if a.Observed != nil {
				a.Observed.CI, a.Observed.Value = interval(a.Observed.Value), v
			}
		})(d)
	}
}

// oddDocuments makes each odd document anew, by name.
func oddDocuments(t testing.TB) map[string]func() *results.Document {
	t.Helper()
	out := map[string]func() *results.Document{"gains": withGains}
	add := func(stored, name string, change func(*results.Document)) {
		out[stored+", "+name] = func() *results.Document {
			doc, err := results.Read(filepath.Join("testdata", stored+".json"))
			if err != nil {
				t.Fatal(err)
			}
			change(doc)
			return doc
		}
	}
	for _, stored := range documents {
		for name, change := range documentChanges {
			add(stored, name, change)
		}
	}
	for name, v := range oddNumbers {
		add("passed", "number "+name, estimated(v))
		add("several", "number "+name, estimated(v))
	}
	for name, text := range hostileTexts {
		out["filled, text "+name] = func() *results.Document { return filled(text, 1.5) }
	}
	for name, v := range oddNumbers {
		out["filled, number "+name] = func() *results.Document { return filled("plain", v) }
	}
	return out
}
