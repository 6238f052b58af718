package prompt

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestDistributionsHaveTheirMeanAndDeviation(t *testing.T) {
	for _, c := range []struct {
		text, canonical string
		mean, deviation float64
	}{
		{"50", "fixed:50", 50, 0},
		{"fixed:50", "fixed:50", 50, 0},
		{"normal:512,64", "normal:512,64", 512, 64},
		{"uniform:1, 512", "uniform:1,512", 256.5, math.Sqrt((512*512 - 1) / 12.)},
		// of mean m and sigma s the deviation is m sqrt(exp(s²) - 1)
		{"lognormal:1000,0.5", "lognormal:1000,0.5", 1000, 1000 * math.Sqrt(math.Exp(0.25)-1)},
	} {
		d, err := ParseTokens(c.text)
		if err != nil || d.String() != c.canonical {
			t.Errorf("%q is %v, %v", c.text, d, err)
			continue
		}
		const n = 200_000
		rng := rand.New(rand.NewPCG(1, 2))
		sum, squares := 0., 0.
		for range n {
			v := float64(d.draw(rng))
			sum, squares = sum+v, squares+v*v
		}
		mean := sum / n
		if math.Abs(mean-c.mean) > 5*c.deviation/math.Sqrt(n) {
			t.Errorf("%s: mean %v, not %v", c.text, mean, c.mean)
		}
		if got := math.Sqrt(squares/n - mean*mean); math.Abs(got-c.deviation) > 0.02*c.deviation {
			t.Errorf("%s: deviation %v, not %v", c.text, got, c.deviation)
		}
	}
}

func TestNumbersOfTokensAreFromOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, text := range []string{"normal:1,1000", "lognormal:1,4", "lognormal:1048576,4"} {
		d, err := ParseTokens(text)
		if err != nil {
			t.Fatal(err)
		}
		for range 10_000 {
			if v := d.draw(rng); v < 1 || v > MaxTokens {
				t.Fatalf("%s: %d tokens", text, v)
			}
		}
	}
}

func TestInvalidDistributions(t *testing.T) {
	for _, text := range []string{
		"", "0", "-1", "1.5", "fixed:", "fixed:1,2", "normal:512", "normal:0,1", "normal:5,-1", "normal:NaN,1",
		"normal:5,NaN",
		"uniform:5,4", "uniform:0,4", "uniform:1,2,3", "lognormal:5,5", "zipf:1,2", "1048577", "uniform:1,1e7", "inf",
	} {
		if d, err := ParseTokens(text); err == nil || !strings.Contains(err.Error(), "write 512") {
			t.Errorf("%q is %v, %v", text, d, err)
		}
	}
}

func TestTextsOfPrefixesAndCancellations(t *testing.T) {
	for _, text := range []string{"cold", "as traced", "shared:4,256"} {
		if p, err := ParsePrefix(text); err != nil || p.String() != text {
			t.Errorf("%q is %v, %v", text, p, err)
		}
	}
	for _, text := range []string{
		"", "warm", "shared", "shared:4", "shared:0,5", "shared:5,0", "4,256", "shared:1,2,3",
	} {
		if p, err := ParsePrefix(text); err == nil {
			t.Errorf("%q is %v", text, p)
		}
	}
	for text, want := range map[string]Cancel{
		"":                    {},
		"10% after 500ms":     {Share: 0.1, After: 5e8},
		"2.5% after 1s":       {Share: 0.025, After: 1e9},
		"100% after 7 tokens": {Share: 1, Events: 7},
	} {
		if c, err := ParseCancel(text); err != nil || c != want || c.String() != text {
			t.Errorf("%q is %+v (%v), %v", text, c, c, err)
		}
	}
	for _, text := range []string{
		"10%", "0.1 after 1s", "10% after 5", "101% after 1s", "10% after 0 tokens", "10% after 0s",
		"10% after x tokens",
	} {
		if c, err := ParseCancel(text); err == nil {
			t.Errorf("%q is %+v", text, c)
		}
	}
}

func TestCalibrationFollowsTheServer(t *testing.T) {
	// a tokenizer that makes 1.25 tokens of a word and 20 of the rest
	count := func(words int) Probe { return Probe{words, 20 + words*5/4} }
	c, err := Calibrate([]Probe{count(400), count(40), count(80)})
	if err != nil || math.Abs(c.PerWord-1.25) > 1e-9 || math.Abs(c.Base-20) > 1e-6 {
		t.Errorf("%+v, %v", c, err)
	}
	if w := c.words(512); 20+w*5/4 != 511 && 20+w*5/4 != 512 {
		t.Errorf("512 tokens are %d words, which are %d tokens", w, 20+w*5/4)
	}
	// (112 - 12) / 50: probes of one length
	if c, err := Calibrate([]Probe{{50, 112}, {50, 112}}); err != nil || c != (Calibration{2, 12}) {
		t.Errorf("%+v, %v", c, err)
	}
	for _, probes := range [][]Probe{nil, {{0, 5}}, {{5, 0}}, {{100, -1}}, {{10_000, 13}}, {{1, 1000}}} {
		if c, err := Calibrate(probes); err == nil {
			t.Errorf("%v calibrate %+v", probes, c)
		}
	}
	if c := Uncalibrated; c.words(1) != 1 || c.words(112) != 100 {
		t.Errorf("%d and %d words", c.words(1), c.words(112))
	}
}

func TestThereAre256DifferentWords(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range words {
		seen[w] = true
	}
	if len(words) != 256 || len(seen) != 256 {
		t.Errorf("%d words, %d different", len(words), len(seen))
	}
}
