package reporters

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"golang.org/x/net/html"

	"github.com/weir-bench/weir/results"
)

// readable reads each format as its readers do; nil: it is for people.
var readable = map[string]func(text string) error{
	"aiperf": readJSON, "gitlab": readJSON, "llm-d": readJSONs, "json": readJSON,
	"csv": readCSV, "csv-launches": readCSV, "github": readCommands,
	"html": readHTML, "junit": readXML, "openmetrics": readMetrics,
	"markdown": readText, "comment": readText, "nixl-ep": readText, "nixlbench": readText,
	"ct-perftest": readText, "table": readText,
}

// readJSONs reads documents behind each other.
func readJSONs(text string) error {
	d := json.NewDecoder(strings.NewReader(text))
	for {
		var one any
		if err := d.Decode(&one); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func readJSON(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("not UTF-8")
	}
	var v any
	return json.Unmarshal([]byte(text), &v)
}

func readCSV(text string) error {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll() // refuses rows of another length
	if err == nil && len(rows) == 0 {
		return errors.New("no head")
	}
	return err
}

func readCommands(text string) error {
	for line := range strings.Lines(text) {
		level, properties, _, ok := workflowCommand(strings.TrimSuffix(line, "\n"))
		if !ok || !slices.Contains([]string{"error", "warning", "notice"}, level) {
			return fmt.Errorf("line %q", line)
		}
		for name := range properties {
			if !slices.Contains([]string{"file", "line", "title"}, name) {
				return fmt.Errorf("property %q of %q", name, line)
			}
		}
	}
	return nil
}

// readHTML reads a page to its end. Its scripts are its own: what draws, and data that is JSON.
func readHTML(text string) error {
	own := 0
	z := html.NewTokenizer(strings.NewReader(text))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if own > pageScripts {
				return fmt.Errorf("%d scripts", own)
			}
			if !strings.HasSuffix(strings.TrimSpace(text), "</html>") {
				return errors.New("the page has no end")
			}
			return nilUnless(z.Err())
		case html.StartTagToken:
			name, _ := z.TagName()
			if string(name) != "script" {
				continue
			}
			if _, kind, _ := z.TagAttr(); string(kind) != "application/json" {
				own++
				continue
			}
			if z.Next() != html.TextToken || !json.Valid(z.Raw()) {
				return fmt.Errorf("data that is no JSON: %q", z.Raw())
			}
		}
	}
}

// pageScripts are the library and what draws with it.
const pageScripts = 3

func nilUnless(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

func readXML(text string) error {
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); err != nil {
			return nilUnless(err)
		}
	}
}

func readMetrics(text string) error {
	if why := wellFormed(text); why != "" {
		return errors.New(why)
	}
	p := expfmt.NewTextParser(model.LegacyValidation)
	_, err := p.TextToMetricFamilies(bufio.NewReader(strings.NewReader(text)))
	return err
}

// runnerCommand is a line that a CI runner would obey.
var runnerCommand = regexp.MustCompile(`(?m)^\s*::|##\[|##vso\[`)

func readText(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("not UTF-8")
	}
	if at := runnerCommand.FindString(text); at != "" {
		return fmt.Errorf("a CI runner obeys %q", at)
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); plain(line) != line {
			return fmt.Errorf("line %q", line)
		}
	}
	return nil
}

// Each format of each odd document is made without an error, and is read by its readers.
func TestEveryReporterWritesEveryOddDocument(t *testing.T) {
	for name, make := range oddDocuments(t) {
		for _, format := range Formats() {
			checkReport(t, format, name, make())
		}
	}
}

// checkReport makes a report and reads it.
func checkReport(t *testing.T, format, name string, doc *results.Document) {
	t.Helper()
	r, _ := Lookup(format)
	read, ok := readable[format]
	if !ok {
		t.Fatalf("nothing reads format %s", format)
	}
	var b bytes.Buffer
	if err := Guarded(&b, func(w io.Writer) error { return r.Write(w, doc) }); err != nil {
		t.Errorf("%s of %s: %v", format, name, err)
		return
	}
	if err := read(b.String()); err != nil {
		t.Errorf("%s of %s cannot be read: %v", format, name, err)
	}
}
