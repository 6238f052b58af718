package transfer

import (
	"github.com/weir-bench/weir/internal/option"
)

// Ends returns the ranks that send and those that receive, if data flows one way.
func (behaviour) Ends(value func(option string) any, ranks int) (from, to []int) {
	if option.Text(value("bidirectional")) == "true" {
		return nil, nil
	}
	first := 0 // of the second end
	switch option.Text(value("pattern")) {
	case "pairwise":
		first = ranks / 2
	case "one_to_many", "many_to_one":
		first = 1
	default: // each rank of a ring, and of all to all, does both
		return nil, nil
	}
	for rank := range ranks {
		if rank < first {
			from = append(from, rank)
		} else {
			to = append(to, rank)
		}
	}
	if option.Text(value("pattern")) == "many_to_one" != (option.Text(value("op")) == "read") {
		from, to = to, from
	}
	return from, to
}
