package expression

import (
	"fmt"
	"math"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
)

// insteadOfEqual says what to write instead of ==, which was read: for a count its bounds.
func (r *relation) insteadOfEqual() string {
	const usual = "write `<= 0` for a count or rate that must be 0, `within 1% of`, or >= and <="
	p, subject := r.parser, r.left
	if r.word == "!=" || subject.op != assertion.Metric || subject.dim != quantity.Number || p.relationEnded() {
		return usual
	}
	right, err := p.sum()
	if err != nil || right.op != assertion.Const || !right.bare || right.value != math.Trunc(right.value) {
		return usual
	}
	name := string(p.runes[subject.from:subject.to])
	if right.value == 0 {
		return fmt.Sprintf("write `%s <= 0`", name)
	}
	return fmt.Sprintf("write `%[1]s >= %[2]s`; if it may be more, `%[1]s <= %[2]s` as a second assertion", name,
		right.literal)
}
