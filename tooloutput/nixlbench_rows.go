package tooloutput

import (
	"strconv"
	"strings"

	"weir/quantity"
)

// nixlbenchSweeps are the flags of the first and the last value of a key, with their defaults in
// commit 8770b655a (benchmark/nixlbench/src/utils/utils.cpp). Each value is twice the one before.
var nixlbenchSweeps = map[string]struct {
	first, last   string
	from, through int64
	text          func(int64) string
}{
	"block_size": {"start_block_size", "max_block_size", 4 << 10, 64 << 20,
		func(n int64) string { return quantity.Size(n).String() }},
	"batch": {"start_batch_size", "max_batch_size", 1, 1, func(n int64) string { return strconv.FormatInt(n, 10) }},
}

// nixlbenchRows are the values of a key that a command line asks for. None: another key has several
// as well, so that each value has several rows, or the command line does not say.
func nixlbenchRows(argv []string, key string) []string {
	var rows []string
	for name := range nixlbenchSweeps {
		values := nixlbenchValues(argv, name)
		if name == key {
			rows = values
		} else if len(values) != 1 {
			return nil
		}
	}
	return rows
}

func nixlbenchValues(argv []string, key string) (values []string) {
	s := nixlbenchSweeps[key]
	first, known := flagNumber(argv, s.first, s.from)
	last, alsoKnown := flagNumber(argv, s.last, s.through)
	if !known || !alsoKnown || first < 1 {
		return nil
	}
	for n := first; n <= last && n > 0; n *= 2 {
		values = append(values, s.text(n))
	}
	return values
}

// flagNumber is the last value of a flag as gflags reads it: - and _ are alike in names, which one
// or two dashes begin. false: it is no number yet.
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
