package output

import (
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
)

// sweep has the flags of the first and the last value of a key, with their defaults. Each value is
// twice the previous one.
type sweep struct {
	First, Last   string
	From, Through int64
	Size          bool // the values are sizes
}

// asked returns the values of a key that a command line requests; none if unknown, or if another
// key also has several values, so that each value has several rows.
func (t *tool) asked(argv []string, key string) []string {
	var rows []string
	for name, s := range t.Sweeps {
		values := s.values(argv)
		if name == key {
			rows = values
		} else if len(values) != 1 {
			return nil
		}
	}
	return rows
}

func (s sweep) values(argv []string) (values []string) {
	first, known := flagNumber(argv, s.First, s.From)
	last, alsoKnown := flagNumber(argv, s.Last, s.Through)
	if !known || !alsoKnown || first < 1 {
		return nil
	}
	for _, n := range doublings(first, last) {
		text := strconv.FormatInt(n, 10)
		if s.Size {
			text = quantity.Size(n).String()
		}
		values = append(values, text)
	}
	return values
}

// doublings returns the values of a sweep.
func doublings(first, last int64) (all []int64) {
	for n := first; n <= last && n > 0; n *= 2 {
		all = append(all, n)
	}
	return all
}

// flagNumber returns the last value of a flag as gflags reads it: names begin with one or two
// dashes, and - and _ in them are equal. It returns false if the value is not a number yet.
func flagNumber(argv []string, name string, initial int64) (n int64, known bool) {
	n, known = initial, true
	for i, word := range argv {
		flag, value, joined := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
		if !strings.HasPrefix(word, "-") || strings.ReplaceAll(flag, "-", "_") != name {
			continue
		}
		if !joined && i+1 < len(argv) {
			value = argv[i+1]
		}
		var err error
		n, err = strconv.ParseInt(value, 10, 64)
		known = err == nil
	}
	return n, known
}
