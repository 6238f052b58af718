package quantity

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Size is a whole number of bytes.
type Size int64

// ParseSize reads a size exactly: "64MiB", "1.5 GiB", "4096". A size must be a whole, non-negative
// number of bytes below 2⁶³.
func ParseSize(text string) (Size, error) {
	number, symbol := split(text)
	if n, ok := wholeBytes(number, symbol); ok {
		return n, nil
	}
	q, err := Parse(text)
	if err != nil {
		return 0, err
	}
	if q.Dim != SizeDim && symbol != "" || symbol == "%" {
		return 0, fmt.Errorf("%q is a %s, not a size", text, q.Dim)
	}
	// 8.2 GB is 8199999999.999999 as a binary fraction: a value within the last bit of a whole
	// number is that number.
	if whole := math.Round(q.Value); whole < 1<<53 && math.Abs(q.Value-whole) <= whole*0x1p-52 {
		q.Value = whole
	}
	switch {
	case q.Value < 0:
		return 0, fmt.Errorf("%q is negative", text)
	case q.Value >= math.MaxInt64:
		return 0, fmt.Errorf("%q is too large: a size is below 2^63 bytes", text)
	case q.Value != math.Trunc(q.Value):
		return 0, fmt.Errorf("%q is not a whole number of bytes", text)
	}
	return Size(q.Value), nil
}

// wholeBytes multiplies integers, since floating point has only 53 bits for the 63 of a size.
func wholeBytes(number, symbol string) (Size, bool) {
	n, err := strconv.ParseInt(number, 10, 64)
	factor := int64(1)
	if symbol != "" {
		u := units[symbol]
		if u.Dim != SizeDim || u.Factor != math.Trunc(u.Factor) {
			return 0, false
		}
		factor = int64(u.Factor)
	}
	if err != nil || n < 0 || n > math.MaxInt64/factor {
		return 0, false
	}
	return Size(n * factor), true
}

// String returns the canonical spelling: the largest unit in which the size is a whole number,
// powers of 1024 first. Equal sizes have equal spellings, as case keys require.
func (s Size) String() string {
	n := int64(s)
	if n == 0 {
		return "0B"
	}
	for _, u := range []struct {
		symbol string
		f      int64
	}{
		{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6},
		{"kB", 1e3},
	} {
		if n%u.f == 0 {
			return strconv.FormatInt(n/u.f, 10) + u.symbol
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

// MarshalJSON writes the canonical spelling.
func (s Size) MarshalJSON() ([]byte, error) { return quoted(s.String()), nil }

// quoted returns a spelling as JSON; spellings need no escapes.
func quoted(spelling string) []byte { return append(append([]byte{'"'}, spelling...), '"') }

// UnmarshalJSON reads a spelling or a plain number of bytes.
func (s *Size) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		var n int64
		if err := json.Unmarshal(b, &n); err != nil {
			return fmt.Errorf("%s is neither a size nor a number of bytes", b)
		}
		*s = Size(n)
		return nil
	}
	v, err := ParseSize(text)
	*s = v
	return err
}

// ParseTime reads a duration: "5m", "520us", "1.5 s". It refuses a plain number, since seconds and
// milliseconds are equally plausible.
func ParseTime(text string) (time.Duration, error) {
	q, err := Parse(text)
	if err != nil {
		return 0, err
	}
	if q.Dim != TimeDim {
		if q.Unit == "" {
			return 0, fmt.Errorf("%q has no unit: write %ss or %sms", text, text, text)
		}
		return 0, fmt.Errorf("%q is a %s, not a time", text, q.Dim)
	}
	ns := q.Value * 1e9
	if math.Abs(ns) >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is too long: times are below 292 years", text)
	}
	return time.Duration(math.Round(ns)), nil
}
