// Package quantity has sizes, rates and times with units.
//
// A missing or wrong unit makes a measurement wrong without notice: GB read as GiB is off by 7.4 %,
// three quarters of a 10 % tolerance. Therefore every number that people write or read passes
// through this package. Values are in base units (bytes, seconds, bytes per second). KiB MiB GiB
// TiB are powers of 1024, kB (or KB) MB GB TB of 1000, Kb Mb Gb Tb are bits.
package quantity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Dimension is a product of powers of bytes and seconds.
type Dimension struct{ Bytes, Seconds int8 }

// The dimensions that have names.
var (
	Number    = Dimension{0, 0}
	SizeDim   = Dimension{1, 0}
	TimeDim   = Dimension{0, 1}
	RateDim   = Dimension{1, -1}
	Frequency = Dimension{0, -1}
	TimeEach  = Dimension{-1, 1} // time per byte
)

// Mul returns the dimension of a product.
func (d Dimension) Mul(o Dimension) Dimension {
	return Dimension{d.Bytes + o.Bytes, d.Seconds + o.Seconds}
}

// Div returns the dimension of a quotient.
func (d Dimension) Div(o Dimension) Dimension {
	return Dimension{d.Bytes - o.Bytes, d.Seconds - o.Seconds}
}

// String names the dimension.
func (d Dimension) String() string {
	switch d {
	case Number:
		return "plain number"
	case SizeDim:
		return "size"
	case TimeDim:
		return "time"
	case RateDim:
		return "rate"
	case Frequency:
		return "frequency"
	case TimeEach:
		return "time per size"
	}
	return fmt.Sprintf("bytes^%d·s^%d", d.Bytes, d.Seconds)
}

// Unit is a named multiple of the base unit of a dimension.
type Unit struct {
	Symbol string
	Dim    Dimension
	Factor float64 // base units (bytes, seconds) in one of this unit
}

var sizeUnits = []Unit{
	{"B", SizeDim, 1},
	{"KiB", SizeDim, 1 << 10}, {"MiB", SizeDim, 1 << 20}, {"GiB", SizeDim, 1 << 30}, {"TiB", SizeDim, 1 << 40},
	{"kB", SizeDim, 1e3}, {"KB", SizeDim, 1e3}, {"MB", SizeDim, 1e6}, {"GB", SizeDim, 1e9}, {"TB", SizeDim, 1e12},
	{"b", SizeDim, 1. / 8}, {"kb", SizeDim, 1e3 / 8}, {"Kb", SizeDim, 1e3 / 8}, {"Mb", SizeDim, 1e6 / 8},
	{"Gb", SizeDim, 1e9 / 8}, {"Tb", SizeDim, 1e12 / 8},
}

var units = func() map[string]Unit {
	m := map[string]Unit{
		"":    {"", Number, 1},
		"%":   {"%", Number, 0.01},
		"1/s": {"1/s", Frequency, 1},
		"/s":  {"1/s", Frequency, 1},
		"ns":  {"ns", TimeDim, 1e-9},
		"us":  {"us", TimeDim, 1e-6},
		"µs":  {"µs", TimeDim, 1e-6}, // U+00B5, from keyboards
		"μs":  {"µs", TimeDim, 1e-6}, // U+03BC, from typesetting
		"ms":  {"ms", TimeDim, 1e-3},
		"s":   {"s", TimeDim, 1},
		"m":   {"m", TimeDim, 60},
		"min": {"m", TimeDim, 60},
		"h":   {"h", TimeDim, 3600},

		"s/GB": {"s/GB", TimeEach, 1e-9}, "ms/GB": {"ms/GB", TimeEach, 1e-12},
	}
	for _, u := range sizeUnits {
		m[u.Symbol] = u
		m[u.Symbol+"/s"] = Unit{u.Symbol + "/s", RateDim, u.Factor}
	}
	delete(m, "kb") // people mean bytes: 64kb is refused as 64gb is
	for _, bits := range []struct {
		name string
		f    float64
	}{{"bps", 1}, {"kbps", 1e3}, {"Kbps", 1e3}, {"Mbps", 1e6}, {"Gbps", 1e9}, {"Tbps", 1e12}} {
		m[bits.name] = Unit{bits.name, RateDim, bits.f / 8}
	}
	return m
}()

// UnitOf finds a unit by its symbol; "" is the unit of a plain number.
func UnitOf(symbol string) (Unit, bool) {
	u, ok := units[symbol]
	return u, ok
}

// Quantity is a value in base units with its dimension.
type Quantity struct {
	Value float64
	Dim   Dimension
	Unit  string // the unit as written
}

// Parse reads a number with an optional unit, as "46.48 GB/s", "64MiB", "10%" or "1e-3".
func Parse(text string) (Quantity, error) {
	number, symbol := split(text)
	if number == "" {
		return Quantity{}, fmt.Errorf("%q is not a number with a unit", text)
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(number, "_", ""), 64)
	if err != nil {
		return Quantity{}, fmt.Errorf("%q is not a finite number", number)
	}
	u, ok := units[symbol]
	if !ok {
		return Quantity{}, unknownUnit(symbol)
	}
	v *= u.Factor // this may overflow
	if math.IsInf(v, 0) {
		return Quantity{}, fmt.Errorf("%q is not a finite number", text)
	}
	return Quantity{v, u.Dim, u.Symbol}, nil
}

// In converts the value to a unit of the same dimension.
func (q Quantity) In(symbol string) (float64, error) {
	u, ok := units[symbol]
	if !ok {
		return 0, unknownUnit(symbol)
	}
	if u.Dim != q.Dim {
		return 0, fmt.Errorf("a %s cannot be converted to %s, a unit of a %s", q.Dim, symbol, u.Dim)
	}
	return Round(q.Value / u.Factor), nil
}

// Round removes the digits that binary fractions add, and keeps 12 significant digits, so that
// 46.48 GB/s less 10 % is 41.832 GB/s on every machine and in all output.
func Round(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	var digits [32]byte
	r, err := strconv.ParseFloat(string(strconv.AppendFloat(digits[:0], v, 'g', 12, 64)), 64)
	if err != nil {
		return v
	}
	return r
}

// split splits a text into its number and its unit symbol.
func split(text string) (number, symbol string) {
	s := strings.TrimSpace(text)
	i := 0
	for i < len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9', c == '.', c == '_':
		case (c == '+' || c == '-') && (i == 0 || s[i-1] == 'e' || s[i-1] == 'E'):
		case (c == 'e' || c == 'E') && i > 0 && i+1 < len(s) && exponentFollows(s[i+1:]):
		default:
			return s[:i], strings.TrimSpace(s[i:])
		}
		i++
	}
	return s, ""
}

func exponentFollows(s string) bool {
	if s[0] == '+' || s[0] == '-' {
		s = s[1:]
	}
	return s != "" && s[0] >= '0' && s[0] <= '9'
}

const perSecond = "a count per second as 100/s"

// nearUnits maps common misspellings to suggestions.
var nearUnits = map[string]string{
	"K": "KiB or kB", "M": "MiB or MB", "G": "GiB or GB", "T": "TiB or TB", "k": "KiB or kB", "g": "GiB or GB",
	"Kbit": "Kb, or Kb/s for a rate", "Mbit": "Mb, or Mb/s for a rate", "Gbit": "Gb, or Gb/s for a rate",
	"Kbits": "Kb, or Kb/s for a rate", "Mbits": "Mb, or Mb/s for a rate", "Gbits": "Gb, or Gb/s for a rate",
	"Mbit/s": "Mb/s",
	"Gbit/s": "Gb/s", "Mbits/s": "Mb/s", "Gbits/s": "Gb/s", "Mbits/sec": "Mb/s", "Gbits/sec": "Gb/s", "gbps": "Gbps",
	"mbps": "Mbps", "GBytes/s": "GB/s", "MBytes/s": "MB/s", "GBytes/sec": "GB/s", "MBytes/sec": "MB/s",
	"GBps": "GB/s", "MBps": "MB/s", "kBps": "kB/s", "GiBps": "GiB/s", "MiBps": "MiB/s",
	"kb": "KiB or kB (bytes), or Kb (bits)",
	"gb": "GB (bytes) or Gb (bits)", "mb": "MB (bytes) or Mb (bits)", "sec": "s", "secs": "s", "second": "s",
	"seconds": "s",
	"usec":    "us", "msec": "ms", "nsec": "ns", "mins": "m", "hr": "h", "hours": "h", "byte": "B", "bytes": "B",
	"Kib": "KiB", "Mib": "MiB", "Gib": "GiB", "Tib": "TiB",
	"kib": "KiB", "mib": "MiB", "gib": "GiB", "tok": perSecond, "token": perSecond, "tokens": perSecond,
	"req": perSecond, "requests": perSecond, "ops": perSecond, "KIB": "KiB", "MIB": "MiB", "GIB": "GiB",
	"percent": "%",
}

// NearUnit is what to write instead of an unknown unit that people use; "": nobody knows.
func NearUnit(symbol string) string { return nearUnits[symbol] }

func unknownUnit(symbol string) error {
	if near := NearUnit(symbol); near != "" {
		return fmt.Errorf("unknown unit %q: write %s", symbol, near)
	}
	return fmt.Errorf("unknown unit %q: sizes are B KiB MiB GiB (1024) or kB MB GB (1000) or Kb Mb Gb (bits), rates <size>/s, frequencies /s, times ns us ms s m h, times per size s/GB ms/GB",
		symbol)
}
