package model

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestLengthsHaveTheirDistribution(t *testing.T) {
	const n = 200_000
	for text, want := range map[string]struct{ mean, deviation float64 }{
		"fixed:16000": {16000, 0}, "16000": {16000, 0}, "uniform:1000,3000": {2000, 2001 / math.Sqrt(12)},
		"normal:16000,1000": {16000 - 0.5, 1000}, "lognormal: 8000, 6000": {8000 - 0.5, 6000}, // fractions are dropped
	} {
		l, err := ParseLengths(text, 1, MaxTokens)
		if err != nil {
			t.Error(err)
			continue
		}
		requests, err := Mix(n, l, nil, 5)
		if err != nil {
			t.Fatal(err)
		}
		sum, squares := 0.0, 0.0
		for _, r := range requests {
			sum += float64(r.ISL)
			squares += float64(r.ISL) * float64(r.ISL)
		}
		mean := sum / n
		deviation := math.Sqrt(max(squares/n-mean*mean, 0))
		if math.Abs(mean-want.mean) > 5*want.deviation/math.Sqrt(n) ||
			math.Abs(deviation-want.deviation) > 0.03*want.deviation {
			t.Errorf("%s: mean %v, deviation %v", text, mean, deviation)
		}
	}
}

func TestBoundsAndSeeds(t *testing.T) {
	l := Lengths{"normal", 16000, 10000, 1000, 20000}
	a, err := Mix(1000, l, nil, 7)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := Mix(1000, l, &Lengths{Kind: "uniform", A: 1, B: 9}, 7)
	c, _ := Mix(1000, l, nil, 8)
	least, most, answers := math.MaxInt, 0, map[int]bool{}
	for i, r := range a {
		least, most = min(least, r.ISL), max(most, r.ISL)
		answers[b[i].OSL] = true
		if b[i].ISL != r.ISL {
			t.Fatal("asking for answers changes the prompts")
		}
	}
	if least != 1000 || most != 20000 || len(answers) != 9 || answers[0] {
		t.Errorf("prompts from %d to %d, answers %v", least, most, answers)
	}
	if slices.Equal(a, c) {
		t.Error("two seeds give the same")
	}
}

func TestWrongLengthsAreRefused(t *testing.T) {
	for _, text := range []string{
		"", "x", "fixed", "fixed:0", "fixed:1.5", "fixed:1,2", "uniform:5", "uniform:5,4", "uniform:0,4", "normal:1,-1",
		"normal:nan,1", "normal:1,inf", "lognormal:0,1", "gauss:1,2", "fixed:1e30", "lognormal:1e-200,1",
		"lognormal:5e-324,1", "lognormal:1,1000001",
	} {
		if l, err := ParseLengths(text, 1, 10); err == nil {
			t.Errorf("%q is %+v", text, l)
		}
	}
	for _, bounds := range [][2]int{{0, 5}, {6, 5}, {1, MaxTokens + 1}} {
		if _, err := ParseLengths("normal:5,5", bounds[0], bounds[1]); err == nil {
			t.Errorf("bounds %v were accepted", bounds)
		}
	}
	good := Lengths{Kind: "fixed", A: 1}
	for _, l := range []Lengths{
		{}, {Kind: "gauss", A: 1}, {Kind: "lognormal", A: 1e-200, B: 1, Min: 1, Max: 10},
		{Kind: "normal", A: math.NaN(), Min: 1, Max: 10}, {Kind: "uniform", A: 1, B: math.Inf(1)},
	} {
		if _, err := Mix(1, l, nil, 1); err == nil || !strings.HasPrefix(err.Error(), "prompts: ") {
			t.Errorf("prompts of %+v: %v", l, err)
		}
		if _, err := Mix(1, good, &l, 1); err == nil || !strings.HasPrefix(err.Error(), "answers: ") {
			t.Errorf("answers of %+v: %v", l, err)
		}
	}
	for _, n := range []int{0, -1, MaxRequests + 1} {
		if _, err := Mix(n, good, nil, 1); err == nil {
			t.Errorf("%d requests were accepted", n)
		}
	}
}

// The widest possible distributions stay within their bounds.
func TestExtremeLengthsStayInBounds(t *testing.T) {
	for _, text := range []string{
		"lognormal:1,1000000", "lognormal:5e-324,0", "lognormal:16777216,16777216", "normal:-16777216,16777216",
		"normal:16777216,16777216",
	} {
		l, err := ParseLengths(text, 1, 100)
		if err != nil {
			t.Error(err)
			continue
		}
		requests, err := Mix(1000, l, &l, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range requests {
			if r.ISL < 1 || r.ISL > 100 || r.OSL < 1 || r.OSL > 100 {
				t.Fatalf("%s gives %+v", text, r)
			}
		}
	}
}

func TestTraces(t *testing.T) {
	want := []Request{{1000, 50, 0, true}, {2000, 60, 0.25, true}, {3000, 0, 0.25, true}}
	mooncake := `{"timestamp": 27000, "input_length": 1000, "output_length": 50, "hash_ids": [46, 47]}
{"timestamp": 27250, "input_length": 2000, "output_length": 60}

{"timestamp": 27250, "input_length": 3000}
`
	azure := "\uFEFFTIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:15:46.6805900,1000,50\r\n2023-11-16 18:15:46.9305900,2000,60\r\n2023-11-16 18:15:46.9305900,3000,0"
	for name, src := range map[string]string{
		"mooncake": mooncake, "azure": azure,
		"azure 2024": "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00+00:00,1000,50\n2024-05-10 00:00:00.25+00:00,2000,60\n2024-05-10 00:00:00.25+00:00,3000,0",
	} {
		got, err := ReadTrace(strings.NewReader(src), name, 0)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		got, err = ReadTrace(strings.NewReader(src), name, 2)
		if err != nil || !slices.Equal(got, want[:2]) {
			t.Errorf("two of %s: %v, %v", name, got, err)
		}
	}
}

func TestWrongTracesAreRefusedAtTheirLine(t *testing.T) {
	const header = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
	for src, want := range map[string]string{
		"":                                      "t: there are no requests",
		header:                                  "t: there are no requests",
		"time,tokens\n1,2\n":                    "t:1: the trace is neither",
		header + "2023-11-16 18:15:46,5\n":      "t:2: 2 columns",
		header + "yesterday,5,5\n":              "t:2: TIMESTAMP",
		header + "2023-11-16 18:15:46,five,5\n": "t:2: ContextTokens",
		header + "2023-11-16 18:15:46,5,\n":     "t:2: GeneratedTokens",
		header + "2023-11-16 18:15:46,0,5\n":    "t:2: a prompt of 0 tokens",
		header + "2023-11-16 18:15:46,5,5\n2023-11-16 18:15:45,5,5\n":            "t:3: the request comes before",
		"{\"timestamp\": 1, \"input_length\": 5}\n{\"timestamp\": 1}\n":          "t:2: a request has",
		"{\"timestamp\": 1, \"input_length\": -5}\n":                             "t:1: a prompt of -5",
		"{\"timestamp\": 1, \"input_length\": 5}\nnothing\n":                     "t:2: ",
		"{\"timestamp\": 1, \"input_length\": 5, \"output_length\": \"many\"}\n": "t:1: ",
	} {
		if _, err := ReadTrace(strings.NewReader(src), "t", 0); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", src, err, want)
		}
	}
}

func FuzzReadTrace(f *testing.F) {
	f.Add("{\"timestamp\": 1, \"input_length\": 5}\n")
	f.Add("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,1000,50\n")
	f.Fuzz(func(t *testing.T, src string) {
		requests, err := ReadTrace(strings.NewReader(src), "t", 0)
		if err != nil {
			return
		}
		before := 0.0
		for _, r := range requests {
			if r.ISL < 1 || r.OSL < 0 || !(r.Arrival >= before) {
				t.Fatalf("%q: %+v", src, r)
			}
			before = r.Arrival
		}
	})
}
