package tooloutput

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// scale is how many units of a metric one unit of a tool is, as an exact fraction.
type scale struct{ num, den int64 }

// The units that tools print, in the units of metrics (B, s, GB/s, 1/s).
var (
	same         = scale{1, 1}
	milliseconds = scale{1, 1e3}
	microseconds = scale{1, 1e6}
	nanoseconds  = scale{1, 1e9}
	percent      = scale{1, 100}
	megaPerSec   = scale{1e6, 1}
	bytesPerSec  = scale{1, 1e9}       // in GB/s
	bitsPerSec   = scale{1, 8e9}       // in GB/s
	mbPerSec     = scale{1, 1e3}       // 10^6 bytes/s, in GB/s
	mibPerSec    = scale{1 << 20, 1e9} // 2^20 bytes/s, in GB/s
	gbitPerSec   = scale{1, 8}         // 10^9 bits/s, in GB/s
)

// longestNumber bounds the work of reading one; no tool prints as many digits.
const longestNumber = 64

// of is the number that the text says, converted and then rounded once. Whatever tools
// count and time is not negative.
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
		return 0, fmt.Errorf("%s is no number", quote(text))
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return 0, fmt.Errorf("%s is no number", quote(text))
	}
	v, _ := r.Mul(r, big.NewRat(s.num, s.den)).Float64()
	if math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s is too large", quote(text))
	}
	return v, nil
}

// isDecimal says whether a text is a decimal number: digits, with a point and an
// exponent of at most three digits at will.
func isDecimal(text string) bool {
	if len(text) > longestNumber {
		return false
	}
	s := strings.TrimPrefix(text, "-")
	whole := leadingDigits(s)
	s = s[whole:]
	fraction := 0
	if strings.HasPrefix(s, ".") {
		fraction = leadingDigits(s[1:])
		s = s[1+fraction:]
	}
	if whole+fraction == 0 {
		return false
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return len(s) >= 1 && len(s) <= 3 && leadingDigits(s) == len(s)
}

func leadingDigits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// isCount says whether a text is a whole number that is not negative.
func isCount(text string) bool {
	return text != "" && len(text) <= longestNumber && leadingDigits(text) == len(text)
}

// quote shows what was found, but no more of it than fits into a message.
func quote(text string) string {
	const most = 80
	if len(text) > most {
		return strconv.Quote(text[:most]) + "..."
	}
	return strconv.Quote(text)
}
