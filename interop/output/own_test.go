package output

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// none are the further columns of a row without them.
var none = map[string]float64{}

var bw = []Metric{{Name: "bw", Unit: "GB/s", Better: Higher, Doc: "d"}}

func TestLines(t *testing.T) {
	f, err := Lines(`^size=(?<block_size>\d+) bw=(?<bw>\S+) GB/s$`, []string{"block_size"}, bw)
	if err != nil {
		t.Fatal(err)
	}
	found, err := f.Read([]byte("hello\nsize=4096 bw=1.5 GB/s\r\n# a comment\nsize=8192 bw=-2e-3 GB/s\n"))
	want := []Row{
		{At: map[string]string{"block_size": "4096"}, Values: map[string]float64{"bw": 1.5}, Line: 2, Others: none},
		{At: map[string]string{"block_size": "8192"}, Values: map[string]float64{"bw": -0.002}, Line: 4, Others: none},
	}
	if err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("got %v, %v, want %v", found, err, want)
	}
	for text, want := range map[string]string{
		"":                                     "no result found: the output is empty",
		"hello\n":                              "no result found: no line matches",
		"size=4096 bw=1.5 GB/s":                `line 1: the output ends in the middle of a line: "size=4096 bw=1.5 GB/s"`,
		"size=4096 bw=1.5 GB/s\nsize=8":        "line 2: the output ends in the middle of a line",
		"size=4096 bw=fast GB/s\n":             `line 1: bw: "fast" is not a number`,
		"size=4096 bw=0x10 GB/s\n":             `line 1: bw: "0x10" is not a number`,
		"size=4096 bw=1e999 GB/s\n":            `line 1: bw: "1e999" is too large`,
		"size=4096 bw=1e99999999999 GB/s\n":    "is not a number",
		"size=1 bw=1 GB/s\nsize=1 bw=2 GB/s\n": `line 2: a second result of block_size "1", after that of line 1`,
	} {
		if found, err := f.Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v, want %s", text, found, err, want)
		}
	}
	if _, err := f.Read([]byte("hello\n")); !errors.Is(err, ErrNothing) {
		t.Errorf("no line: %v", err)
	}
	lat := Metric{Name: "lat", Unit: "s", Better: Lower, Doc: "d"}
	either, err := Lines(`bw=(?<bw>\d+)|lat=(?<lat>\d+)|(none)`, nil, append(bw[:1:1], lat))
	if err != nil {
		t.Fatal(err)
	}
	found, err = either.Read([]byte("lat=3\n"))
	if want := map[string]float64{"lat": 3}; err != nil || !reflect.DeepEqual(found[0].Values, want) {
		t.Errorf("one of two groups: %v, %v", found, err)
	}
	wantError(t, either, "none\n", "line 1: the line has no number")
	found, err = either.Read([]byte("hello\nbw=7\nlat=3\n"))
	if want := map[string]float64{"bw": 7, "lat": 3}; err != nil || len(found) != 1 ||
		!reflect.DeepEqual(found[0].Values, want) {
		t.Errorf("two metrics on two lines: %v, %v", found, err)
	}
	wantError(t, either, "bw=7\nlat=3\nbw=8\n", "line 3: a second result, after that of line 1")
	wantError(t, either, "bw=7\nnone\n", "line 2: the line has no number")
}

func TestLinesDeclarations(t *testing.T) {
	for _, c := range []struct {
		re      string
		keys    []string
		metrics []Metric
		want    string
	}{
		{`(?<bw>`, nil, bw, "missing closing"},
		{`(?<bw>\d+)`, nil, nil, "there is no metric"},
		{`(?<bw>\d+) (?<x>\d+)`, nil, bw, `group "x" is neither a key nor a metric`},
		{`(?<size>\d+)`, []string{"size"}, bw, `the expression has no group "bw"`},
		{`(?<bw>\d+)`, []string{"bw"}, bw, "a key or a metric is given twice"},
	} {
		if _, err := Lines(c.re, c.keys, c.metrics); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.re, err, c.want)
		}
	}
}

const nested = `{
  "model": "m",
  "runs": {"all of them": [
    {"n": 1, "bw": [1.25, "2.5"]},
    {"n": 2, "bw": [3, 4]}
  ]},
  "none": null, "flag": true
}`

func TestJSONPaths(t *testing.T) {
	f, err := JSON(map[string]string{"model": "model", "n": `runs["all of them"][*].n`,
		"bw": `["runs"]["all of them"][*].bw[1]`}, []string{"model", "n"}, bw)
	if err != nil {
		t.Fatal(err)
	}
	found, err := f.Read([]byte(nested))
	want := []Row{
		{At: map[string]string{"model": "m", "n": "1"}, Values: map[string]float64{"bw": 2.5}, Line: 4, Others: none},
		{At: map[string]string{"model": "m", "n": "2"}, Values: map[string]float64{"bw": 4}, Line: 5, Others: none},
	}
	if err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("got %v, %v, want %v", found, err, want)
	}
	for path, want := range map[string]string{
		"model":                        `bw of row 1: line 2: "m" is not a number`,
		"nosuch":                       `bw of row 1: line 1: the object has no member "nosuch"`,
		"none":                         "bw of row 1: line 7: null instead of a number",
		"flag":                         "bw of row 1: line 7: true or false instead of a number",
		"runs":                         "bw of row 1: line 3: an object instead of a number",
		"model.x":                      `line 2: a text instead of an object with member "x"`,
		"model[0]":                     "line 2: a text instead of a list",
		"model[*]":                     "line 2: a text instead of a list",
		`runs["all of them"][2].n`:     "line 3: the list has 2 items, but none with index 2",
		`runs["all of them"][*].bw[2]`: "bw of row 1: line 4: the list has 2 items",
	} {
		f, err := JSON(map[string]string{"bw": path}, nil, bw)
		if err != nil {
			t.Fatal(err)
		}
		if found, err := f.Read([]byte(nested)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v, want %s", path, found, err, want)
		}
	}
	// Without a key, two items of a list contradict each other.
	f, err = JSON(map[string]string{"bw": `runs["all of them"][*].n`}, nil, bw)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, f, nested, "line 5: a second result, after that of line 4")
}

func TestJSONDeclarations(t *testing.T) {
	for _, c := range []struct {
		paths map[string]string
		want  string
	}{
		{map[string]string{}, "has no path"},
		{map[string]string{"bw": "a", "n": "b", "x": "c"}, `path "x" is of neither a key nor a metric`},
		{map[string]string{"bw": "a[*].b[*]", "n": "b"}, "path of bw: a second [*]"},
		{map[string]string{"bw": "a[*].b", "n": "b[*].c"}, "the paths of bw and n have their [*] in different lists"},
		{map[string]string{"bw": "", "n": "b"}, `path of bw: "": a member without a name`},
		{map[string]string{"bw": "a..b", "n": "b"}, "a member without a name"},
		{map[string]string{"bw": "a.", "n": "b"}, "a member without a name"},
		{map[string]string{"bw": "a[0]b", "n": "b"}, `a . or [ is missing before "b"`},
		{map[string]string{"bw": "a[-1]", "n": "b"}, "[ ] must contain an index from 0"},
		{map[string]string{"bw": "a[x]", "n": "b"}, "[ ] must contain an index from 0"},
		{map[string]string{"bw": "a[0", "n": "b"}, "the ] is missing"},
		{map[string]string{"bw": `a["x`, "n": "b"}, "a name in quotes and ] are missing"},
	} {
		if _, err := JSON(c.paths, []string{"n"}, bw); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %s", c.paths, err, c.want)
		}
	}
}

// A path may begin as one of JSONPath or jq does.
func TestPathsOfOtherTools(t *testing.T) {
	for _, path := range []string{"a.b[0]", ".a.b[0]", "$.a.b[0]", `$["a"].b[0]`, "$b"} {
		f, err := JSON(map[string]string{"bw": path}, nil, bw)
		if err != nil {
			t.Error(err)
			continue
		}
		if found, err := f.Read([]byte(`{"a": {"b": [2.5]}, "$b": 2.5}`)); err != nil || found[0].Values["bw"] != 2.5 {
			t.Errorf("%s: %v, %v", path, found, err)
		}
	}
}

func TestDocuments(t *testing.T) {
	f, err := JSON(map[string]string{"bw": "a"}, nil, bw)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                          "no result found: the output is empty",
		"{\"a\": 1":                 "line 1: the JSON document is truncated",
		"{\"a\":\n1,\n":             "line 3: the JSON document is truncated",
		"{'a': nan}":                "start of value: \"{'a': NaN}\"",
		"{\"a\":\n 1x}":             "line 2: no JSON: invalid character 'x'",
		"{\"a\":\n NaN}":            "line 2: NaN or Infinity instead of a number",
		"hello\n":                   "line 1: no JSON: invalid character 'h'",
		"{\"a\": 1}\n{\"a\": 2}":    "line 2: a second JSON document, after that of line 1",
		"x\n{\"a\": 1}\n{\"a\": 2}": "line 3: a second JSON document, after that of line 2",
		"x\n\"b\": {\n{\"a\": 1}":   "line 1: no JSON: invalid character 'x'",
		"{\"a\": 1}\n}\nx\n":        "line 2: no JSON: invalid character '}'",
		"x\n{\"a\": 1":              "line 1: no JSON: invalid character 'x'",
		"\x1f\x8b\x08\x00":          "this is a file of gzip: unpack it with gunzip",
		"\xff\xfe{\x00\"\x00":       "this is a text in UTF-16: iconv",
		"{\x00\"\x00a\x00":          "this is a text in UTF-16: iconv",
		"\x00 \x00#\x00b\x00y":      "this is a text in UTF-16: iconv",
		"{\"a\": 1,\n\"a\": 2}":     `line 2: a duplicate member instead of a number`,
		"{\"a\": 1e400}":            `line 1: "1e400" is too large`,
		"{\"a\": 1" + strings.Repeat("0", 100) + "}":                           "is not a number",
		"{\"a\": " + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}": "is nested too deeply",
	} {
		if found, err := f.Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v, want %s", text, found, err, want)
		}
	}
	if found, err := f.Read([]byte("{\"a\": 1}")); err != nil || found[0].Values["bw"] != 1 {
		t.Errorf("without a newline: %v, %v", found, err)
	}
	for _, text := range []string{ // text around one document
		"INFO start\n{\"a\": 1}", "{\"a\":\n 1}\n\nhello \"\n", "[INFO] x\n[1] \"y\n{\"a\":1,\"b\":\"}\\\"\"}\n[z]x\n",
	} {
		if found, err := f.Read([]byte(text)); err != nil || found[0].Values["bw"] != 1 {
			t.Errorf("%q: %v, %v", text, found, err)
		}
	}
}

// TestScales checks that units are converted as exact fractions and rounded once.
func TestScales(t *testing.T) {
	for _, c := range []struct {
		unit string
		text string
		want float64
	}{
		{"us", "5.5", 5.5e-6},
		{"us", "0.1", 1e-7},
		{"ms", "2.9", 0.0029},
		{"ns", "138959.471278", 0.000138959471278},
		{"MiB/s", "3439.31", 3.60637792256},
		{"MiB/s", "83827.07", 87.89905375232},
		{"Gb/s", "98.45", 12.30625},
		{"b/s", "16103856716.203016", 2.012982089525377},
		{"B/s", "23019842", 0.023019842},
		{"MB/s", "490.54", 0.49054},
		{"M/s", "0.176487", 176487},
		{"%", "0.7", 0.007},
		{"", "1.29813e+06", 1298130},
		{"", ".5", 0.5},
		{"", "5.", 5},
	} {
		if got, err := scales[c.unit].of(c.text); err != nil || got != c.want {
			t.Errorf("%q of %s = %v, %v, want %v", c.unit, c.text, got, err, c.want)
		}
	}
	for _, text := range []string{
		"", "-", ".", "e5", "1e", "1e+", "1e1000", "+1", "1_000", "1,5", "0x1", "inf", "NaN", "1 ", "١",
		strings.Repeat("1", 65),
	} {
		if got, err := same.of(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

// wantError reads an invalid output and compares the error.
func wantError(t *testing.T, f Format, output, want string) {
	t.Helper()
	if found, err := f.Read([]byte(output)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s of %.60q: got %d rows, error %v, want an error with %s", f.Name, output, len(found), err, want)
	}
}

// A path of a user into a list finds one row, and what a progress bar overwrites is in one line of an expression.
func TestListsAndProgressOfUsers(t *testing.T) {
	f, err := JSON(map[string]string{"bw": "[1].bw"}, nil, bw)
	if err != nil {
		t.Fatal(err)
	}
	found, err := f.Read([]byte(`[{"bw": 1}, {"bw": 2}]`))
	if err != nil || len(found) != 1 || found[0].Values["bw"] != 2 {
		t.Errorf("%v, %v", found, err)
	}
	if f, err = Lines(`bw=(?<bw>\d+)$`, nil, bw); err != nil {
		t.Fatal(err)
	}
	found, err = f.Read([]byte("bw=1\rbw=2\rbw=3\n"))
	if err != nil || len(found) != 1 || found[0].Values["bw"] != 3 {
		t.Errorf("%v, %v", found, err)
	}
}
