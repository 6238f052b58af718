package html

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// palette are the colours of the sheet by name, of light or of dark pages.
func palette(t *testing.T, css string) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for _, m := range regexp.MustCompile(`--([a-z0-9-]+): (#[0-9a-f]+)`).FindAllStringSubmatch(css, -1) {
		out[m[1]] = luminance(t, m[2])
	}
	return out
}

// luminance is the relative luminance of WCAG 2.1.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	digits := strings.TrimPrefix(hex, "#")
	if len(digits) == 3 {
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	sum := 0.
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(digits[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }

// Text has a contrast of 4.5 to 1 at least on what it stands on (WCAG 2.1 AA), and what is drawn one of 3
// to 1, by day and by night.
func TestContrast(t *testing.T) {
	day, rest, ok := strings.Cut(sheet, "@media screen and (prefers-color-scheme: dark)")
	if !ok {
		t.Fatal("the sheet has no dark page")
	}
	night, _, _ := strings.Cut(rest, "\n}\n")
	for name, colors := range map[string]map[string]float64{"light": palette(t, day), "dark": palette(t, night)} {
		for _, pair := range [][2]string{
			{"text", "page"}, {"dim", "page"}, {"link", "page"}, {"good", "page"}, {"bad", "page"}, {"doubt", "page"},
			{"text", "soft"},
			{"text", "bad-soft"}, {"bad", "bad-soft"}, {"text", "doubt-soft"}, {"doubt", "doubt-soft"},
			{"c0", "page"}, {"c1", "page"}, {"c2", "page"}, {"c3", "page"}, {"c4", "page"}, {"c5", "page"},
			{"c6", "page"}, {"c7", "page"},
		} {
			a, found := colors[pair[0]]
			b, other := colors[pair[1]]
			if !found || !other {
				t.Fatalf("%s: no colour %v", name, pair)
			}
			if c := contrast(a, b); c < 4.5 {
				t.Errorf("%s: %s on %s has %.2f to 1", name, pair[0], pair[1], c)
			}
		}
	}
}
