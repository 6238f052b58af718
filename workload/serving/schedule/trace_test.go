package schedule

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const conversation = `{"timestamp": 27482, "input_length": 1500, "output_length": 500, "hash_ids": [46, 47, 48]}
{"timestamp": 27482.5, "input_length": 513, "output_length": 1, "hash_ids": [46, 2353], "text_input": "x"}

{"timestamp": 30535, "input_length": 512, "output_length": 9, "hash_ids": [46]}
`

const azureCSV = "\uFEFFTIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:15:46.6805900,374,44\r\n" +
	"2023-11-16 18:15:50.9951690,396,109\r\n"

func TestReadTraces(t *testing.T) {
	for _, c := range []struct {
		content string
		want    []Row
	}{
		{conversation, []Row{
			{0, 1500, 500, []int64{46, 47, 48}},
			{500_000, 513, 1, []int64{46, 2353}},
			{3_053_000_000, 512, 9, []int64{46}},
		}},
		{azureCSV, []Row{{0, 374, 44, nil}, {4_314_579_000, 396, 109, nil}}},
		{"\"TIMESTAMP\",\"ContextTokens\", \"GeneratedTokens\"\n\"2023-11-16 18:15:46\",\"374\",44\n", []Row{
			{0, 374, 44, nil},
		}},
	} {
		got, err := ReadTrace([]byte(c.content))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestInvalidTraces(t *testing.T) {
	const two = `{"timestamp": 1, "input_length": 513, "output_length": 5, "hash_ids": [1, 2]}` + "\n"
	row := func(timestamp, input, output, ids string) string {
		return fmt.Sprintf(two+`{"timestamp": %s, "input_length": %s, "output_length": %s, "hash_ids": %s}`, timestamp,
			input, output, ids)
	}
	for content, want := range map[string]string{
		"":                              "there are no requests",
		"\n\n":                          "there are no requests",
		"a,b\n":                         "line 1: the trace is neither",
		two + "{":                       "line 2: unexpected end",
		two + "\n{}":                    "line 3: a request has",
		two + "[1,2]":                   "line 2: json",
		row("0", "9", "5", "[1]"):       "line 2: the request comes before",
		row("1e300", "9", "5", "[1]"):   "line 2: timestamp",
		row("2", "9", "5", "null"):      "line 2: either all",
		row("2", "512", "5", "[1, 2]"):  "line 2: 2 hash_ids stand for 513 to 1024 tokens (blocks of 512)",
		row("2", "1025", "5", "[1, 2]"): "line 2: 2 hash_ids",
		row("2", "1", "5", "[]"):        "line 2: 0 hash_ids",
		row("2", "0", "5", "[1]"):       "line 2: an input of 0",
		row("2", "2000000", "5", "[1]"): "line 2: an input of 2000000",
		row("2", "1", "-5", "[1]"):      "line 2: an output of -5",

		azureCSV + "2023-11-16 18:15:51,1":   "line 4: 2 columns",
		azureCSV + "yesterday,1,1":           "line 4: TIMESTAMP",
		azureCSV + "2023-11-16 18:15:51,x,1": "line 4: ContextTokens",
		azureCSV + "2023-11-16 18:15:51,1,":  "line 4: GeneratedTokens",
		azureCSV + "2025-11-16 18:15:51,1,1": "line 4: TIMESTAMP",
	} {
		if _, err := ReadTrace([]byte(content)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, not %q", content, err, want)
		}
	}
}

func TestTimesOfATraceAreScaled(t *testing.T) {
	rows, err := ReadTrace([]byte(conversation))
	if err != nil {
		t.Fatal(err)
	}
	list, err := Times(rows, 0.5)
	if want := []int64{0, 250_000, 1_526_500_000}; err != nil || !slices.Equal(list, want) {
		t.Errorf("%v, %v, not %v", list, err, want)
	}
	for _, scale := range []float64{0, -1, 1e300} {
		if _, err := Times(rows, scale); err == nil {
			t.Errorf("times are scaled by %v", scale)
		}
	}
}

var namesLine = regexp.MustCompile(`^line [1-9][0-9]*: |no requests in the trace$`)

func FuzzReadTrace(f *testing.F) {
	f.Add([]byte(conversation))
	f.Add([]byte(azureCSV))
	f.Add([]byte(`{"timestamp":1e400}`))
	f.Add([]byte("TIMESTAMP,ContextTokens,GeneratedTokens\n0000-01-01 00:00:00,1,1\n9999-01-01 00:00:00,1,1"))
	f.Fuzz(func(t *testing.T, content []byte) {
		rows, err := ReadTrace(content)
		if err != nil {
			if !namesLine.MatchString(err.Error()) {
				t.Errorf("no line in %q", err)
			}
			return
		}
		before := int64(0)
		for i, r := range rows {
			if r.At < before || r.At >= maxTime || i == 0 && r.At != 0 {
				t.Errorf("row %d is due at %d after %d", i, r.At, before)
			}
			if last := r.Input - (len(r.Blocks)-1)*BlockTokens; r.Blocks != nil && (last < 1 || last > BlockTokens) {
				t.Errorf("row %d: %d tokens in the last of %d blocks", i, last, len(r.Blocks))
			}
			before = r.At
		}
	})
}
