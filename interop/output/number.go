package output

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// scale is the size of a tool's unit in units of a metric, as an exact fraction.
type scale struct{ num, den int64 }

// scales are the units that tools print, in the units of metrics (B, s, GB/s, 1/s).
var scales = map[string]scale{
	"": {1, 1}, "s": {1, 1}, "1/s": {1, 1}, "GB/s": {1, 1},
	"ms": {1, 1e3}, "us": {1, 1e6}, "ns": {1, 1e9},
	"%":     {1, 100},
	"M/s":   {1e6, 1},
	"B/s":   {1, 1e9},
	"b/s":   {1, 8e9},
	"Gb/s":  {1, 8},
	"MB/s":  {1, 1e3},
	"KiB/s": {1 << 10, 1e9},
	"MiB/s": {1 << 20, 1e9},
	"GiB/s": {1 << 30, 1e9},
	"1/min": {1, 60},
}

// spellings are units in headings that mean the same for all tools; MB may be of 10^6 or of 2^20 bytes.
var spellings = map[string]scale{
	"s": {1, 1}, "sec": {1, 1}, "ms": {1, 1e3}, "msec": {1, 1e3}, "us": {1, 1e6}, "usec": {1, 1e6}, "μs": {1, 1e6},
	"µs": {1, 1e6}, // the sign for micro, above it the Greek letter
	"ns": {1, 1e9}, "nsec": {1, 1e9}, "%": {1, 100}, "pps": {1, 1}, "kpps": {1e3, 1}, "mpps": {1e6, 1},
	"b/s": {1, 1e9}, "kib/s": {1 << 10, 1e9}, "mib/s": {1 << 20, 1e9}, "gib/s": {1 << 30, 1e9},
	"b/sec": {1, 1e9}, "kib/sec": {1 << 10, 1e9}, "mib/sec": {1 << 20, 1e9}, "gib/sec": {1 << 30, 1e9},
}

// spelledUnit returns the unit of a heading. A small b may be a bit.
func spelledUnit(unit string) (u scale, spelled bool) {
	u, spelled = spellings[strings.ToLower(unit)]
	return u, spelled && !strings.Contains(unit, "b/")
}

var same = scales[""]

// longestNumber bounds the length of a number; tools print fewer digits.
const longestNumber = 64

// of parses a number, converts it and rounds once. Counts and times are never negative.
func (s scale) of(text string) (float64, error) {
	v, err := s.signed(text)
	if err == nil && v < 0 {
		return 0, fmt.Errorf("%s is negative", text)
	}
	return v, err
}

// signed is of for numbers that may be negative.
func (s scale) signed(text string) (float64, error) {
	if !isDecimal(text) {
		if decimal().MatchString(strings.Replace(text, ",", ".", 1)) {
			const comma = "%s is not a number: run the tool with LC_ALL=C if this is a decimal comma"
			return 0, fmt.Errorf(comma, quote(text))
		}
		return 0, fmt.Errorf("%s is not a number", quote(text))
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return 0, fmt.Errorf("%s is not a number", quote(text))
	}
	v, _ := r.Mul(r, big.NewRat(s.num, s.den)).Float64()
	if math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s is too large", quote(text))
	}
	return v, nil
}

var (
	decimal = lazyregexp.New(`^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$`)
	whole   = lazyregexp.New(`^\d+$`)
)

// isDecimal reports whether a text is a decimal number: digits, optionally with a point and an
// exponent of at most three digits.
func isDecimal(text string) bool { return len(text) <= longestNumber && decimal().MatchString(text) }

// isCount reports whether a text is a whole number that is not negative.
func isCount(text string) bool { return len(text) <= longestNumber && whole().MatchString(text) }

// quote quotes a text, shortened for a message.
func quote(text string) string {
	const most = 160
	if len(text) > most {
		return strconv.Quote(text[:most]) + "..."
	}
	return strconv.Quote(text)
}
