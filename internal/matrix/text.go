package matrix

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// parseCell reads one cell: a number and a suffix, like Python's float() and the table of B K M G
// (any case) in ct-perftest. Fractions of a byte are dropped, as there.
func parseCell(cell []byte) (int64, *problem) {
	if len(cell) == 1 && cell[0] == '0' {
		return 0, nil
	}
	number, factor := cell, int64(1)
	if f := suffix(cell[len(cell)-1]); f != 0 {
		number, factor = cell[:len(cell)-1], f
	}
	digits, form := scanNumber(number)
	switch {
	case form == notANumber && digits > 0:
		return 0, &problem{
			"Unknown suffix", fmt.Sprintf("%q ends with %q. The suffixes are K, M and G (powers of 1024) and B.%s",
				cell, cell[digits:], separated(cell)),
		}
	case form == notANumber:
		return 0, &problem{"Not a size", fmt.Sprintf("%q is not a number of bytes, as 4096, 1.5K, 64M or 2G.%s",
			cell, separated(cell))}
	case number[0] == '-':
		return 0, &problem{"Negative size", fmt.Sprintf("%q is negative.", cell)}
	case form == whole:
		n, err := strconv.ParseInt(string(number), 10, 64)
		if err != nil || n > math.MaxInt64/factor {
			return 0, tooLarge(cell)
		}
		return n * factor, nil
	}
	v, err := strconv.ParseFloat(string(number), 64)
	if v *= float64(factor); err != nil || v >= 1<<63 {
		return 0, tooLarge(cell)
	}
	return int64(v), nil
}

// separated explains separators if a cell contains a wrong one.
func separated(cell []byte) string {
	if bytes.ContainsAny(cell, ",;|") {
		return " Cells are separated by blanks."
	}
	return ""
}

// ParseSize reads one cell: "0", "4096", "1.5K", "64M". K M G and B are powers of 1024, in either
// case; fractions of a byte are dropped. It returns an error for other texts, negative sizes, and
// sizes of 2⁶³ bytes or more.
func ParseSize(text string) (int64, error) {
	if text == "" || len(text) > longestCell {
		return 0, fmt.Errorf("a cell of %d characters is not a number of bytes", len(text))
	}
	bytes, wrong := parseCell([]byte(text))
	if wrong != nil {
		return 0, errors.New(strings.TrimSuffix(wrong.detail, "."))
	}
	return bytes, nil
}

func tooLarge(cell []byte) *problem {
	return &problem{"Size too large", fmt.Sprintf("%q is 2^63 bytes or more.", cell)}
}

// suffix returns the factor of a letter after a number, 0 if there is none.
func suffix(c byte) int64 {
	switch c {
	case 'B', 'b':
		return 1
	case 'K', 'k':
		return 1 << 10
	case 'M', 'm':
		return 1 << 20
	case 'G', 'g':
		return 1 << 30
	}
	return 0
}

type numberForm int

const (
	notANumber numberForm = iota
	whole                 // digits alone
	decimal               // with a point or an exponent
)

// scanNumber returns the form of a number, and its length if the text continues.
func scanNumber(s []byte) (end int, form numberForm) {
	at := 0
	if at < len(s) && (s[at] == '+' || s[at] == '-') {
		at++
	}
	form = whole
	before := at
	at = skipDigits(s, at)
	count := at - before
	if at < len(s) && s[at] == '.' {
		form = decimal
		fraction := skipDigits(s, at+1)
		count += fraction - at - 1
		at = fraction
	}
	if count == 0 {
		return 0, notANumber
	}
	if at < len(s) && (s[at] == 'e' || s[at] == 'E') {
		exponent := at + 1
		if exponent < len(s) && (s[exponent] == '+' || s[exponent] == '-') {
			exponent++
		}
		if last := skipDigits(s, exponent); last > exponent {
			at, form = last, decimal
		}
	}
	if at < len(s) {
		return at, notANumber
	}
	return at, form
}

func skipDigits(s []byte, at int) int {
	for at < len(s) && s[at] >= '0' && s[at] <= '9' {
		at++
	}
	return at
}

// Rounded formats a size as the published generator does: in the largest of B K M G with a value of
// at least one, with two decimals. The error is up to 0.005 of the unit, 5 MiB for G.
func Rounded(bytes int64) string {
	if bytes == 0 {
		return "0"
	}
	v, unit := float64(bytes), 0
	for v/1024 >= 1 && unit < 3 {
		v /= 1024
		unit++
	}
	v, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 2, 64), 64)
	if err != nil {
		panic(err) // it was just formatted
	}
	return strconv.FormatFloat(v, 'g', 6, 64) + "BKMG"[unit:unit+1]
}

// Exact formats a size without loss: in the largest of K M G with a whole value, otherwise in
// bytes.
func Exact(bytes int64) string {
	for _, u := range []struct {
		suffix string
		f      int64
	}{{"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}} {
		if bytes != 0 && bytes%u.f == 0 {
			return strconv.FormatInt(bytes/u.f, 10) + u.suffix
		}
	}
	return strconv.FormatInt(bytes, 10)
}

// Write writes the matrix in the published form, with cells formatted by size (Rounded or Exact).
func (m *Matrix) Write(w io.Writer, size func(int64) string) error {
	out := bufio.NewWriterSize(w, 1<<16)
	zeros := make([]byte, 0, 2*m.ranks)
	for i := range m.ranks {
		if i > 0 {
			zeros = append(zeros, ' ')
		}
		zeros = append(zeros, '0')
	}
	next := 0
	for rank := range m.ranks {
		if next == len(m.senders) || int(m.senders[next]) != rank {
			out.Write(zeros) // bufio keeps the first error for Flush
		} else {
			m.writeRow(out, next, zeros, size)
			next++
		}
		out.WriteByte('\n')
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing a matrix: %w", err)
	}
	return nil
}

// writeRow writes the row of the i-th sender.
func (m *Matrix) writeRow(out *bufio.Writer, i int, zeros []byte, size func(int64) string) {
	column := 0
	between := func() {
		if column > 0 {
			out.WriteByte(' ')
		}
	}
	for k := m.starts[i]; k < m.starts[i+1]; k++ {
		to := int(m.to[k])
		if to > column {
			between()
			out.Write(zeros[:2*(to-column)-1])
			column = to
		}
		between()
		out.WriteString(size(m.bytes[k]))
		column++
	}
	if column < m.ranks {
		between()
		out.Write(zeros[:2*(m.ranks-column)-1])
	}
}
