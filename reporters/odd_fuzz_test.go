package reporters

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/weir-bench/weir/history"
	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/results"
)

// FuzzReports writes all reports of documents that are valid and little like those of a session.
func FuzzReports(f *testing.F) {
	for _, name := range documents {
		b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, doc := range []*results.Document{withGains(), filled("plain", results.Unbounded)} {
		b, err := json.Marshal(doc)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	path := filepath.Join(f.TempDir(), "results.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, format := range Formats() {
			doc, err := results.Read(path)
			if err != nil {
				return
			}
			checkReport(t, format, "a document of the fuzzer", doc)
		}
	})
}

// oddFormats are the reports of comparisons, of trends and of lists of sessions.
var oddFormats = map[string]struct {
	read    func(string) error
	through func(io.Writer) io.Writer // as its command does
	write   func(io.Writer, *filler) error
}{
	"comparison": {readText, people, func(w io.Writer, f *filler) error {
		return ComparisonText(w, oddly[results.Comparison](f), false, 0)
	}},
	"comparison, Markdown": {readText, people, func(w io.Writer, f *filler) error {
		return ComparisonMarkdown(w, oddly[results.Comparison](f))
	}},
	"comparison, HTML": {readHTML, browsers, func(w io.Writer, f *filler) error {
		return ComparisonHTML(w, "", oddly[results.Comparison](f))
	}},
	"trend": {readText, people, func(w io.Writer, f *filler) error { return Trend(w, oddTrend(f), 80) }},
	"trend, HTML": {readHTML, browsers, func(w io.Writer, f *filler) error {
		return TrendHTML(w, oddTrend(f), "", Addresses{})
	}},
	"sessions": {readText, people, func(w io.Writer, f *filler) error {
		return Sessions(w, []history.Entry{*oddly[history.Entry](f), *oddly[history.Entry](f)})
	}},
	"calibration": {readText, people, func(w io.Writer, f *filler) error {
		return CalibrationText(w, oddly[results.Calibration](f))
	}},
}

func people(w io.Writer) io.Writer { return &printable.Writer{To: w} }

func browsers(w io.Writer) io.Writer { return w }

func oddly[T any](f *filler) *T {
	v := new(T)
	f.fill(reflect.ValueOf(v).Elem(), "", 0)
	return v
}

// oddTrend is a trend with places of its own points.
func oddTrend(f *filler) *history.Trend {
	t := oddly[history.Trend](f)
	t.Levels = append(t.Levels[:1], t.Levels[0])
	t.Levels[0].From, t.Levels[0].To, t.Levels[1].From, t.Levels[1].To = 0, 1, 1, 2
	t.Changes = t.Changes[:1]
	t.Changes[0].At = 1
	t.Drifts = t.Drifts[:1]
	t.Drifts[0].From, t.Drifts[0].To = 0, 2
	return t
}

// Comparisons, trends and lists of sessions are written and read whatever is in them.
func TestOtherReportsWriteWhateverIsOdd(t *testing.T) {
	fillers := map[string]filler{}
	for name, text := range hostileTexts {
		fillers["text "+name] = filler{text: text, number: 1.5}
	}
	for name, v := range oddNumbers {
		fillers["number "+name] = filler{text: "plain", number: v}
	}
	for name, f := range fillers {
		for format, r := range oddFormats {
			var b bytes.Buffer
			if err := Guarded(&b, func(w io.Writer) error { return r.write(r.through(w), &f) }); err != nil {
				t.Errorf("%s of %s: %v", format, name, err)
			} else if err := r.read(b.String()); err != nil {
				t.Errorf("%s of %s cannot be read: %v", format, name, err)
			}
		}
	}
}
