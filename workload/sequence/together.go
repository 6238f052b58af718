package sequence

import (
	"fmt"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload/move"
)

// playing describes the work of a launch of a sequence.
type playing struct {
	patterns   int
	bytes      float64       // of all patterns
	sumAlone   quantity.Time // of the sleeps of an iteration of each isolated pattern
	sum, least quantity.Time // of the sleeps of an iteration, in sum and on the critical path, with the scale
	iterations int64         // of the sequence
	alone      int64         // iterations of each isolated pattern
	scale      option.Scale  // of the sleeps
}

// Together describes the cases of a launch.
func (behaviour) Together(cases []option.Values) string {
	p := &playing{patterns: len(cases), scale: 1}
	p.scale, _ = cases[0]["time_scale"].(option.Scale)
	var steps []*move.Spec
	for _, v := range cases {
		o, err := Decode(v)
		if err != nil {
			return "" // the plan has not been checked yet
		}
		p.sum += o.Step.Before + o.Step.After
		p.sumAlone += move.SleepAlone(o.Step.Before) + move.SleepAlone(o.Step.After)
		p.iterations, p.alone = o.Step.Iterations, int64(o.Iterations)
		p.bytes += float64(o.Matrix.Total())
		steps = append(steps, &o)
	}
	p.least = Schedule(steps)
	return p.String()
}

func (p *playing) String() string {
	s := fmt.Sprintf("%s, %s in all; ", plural(p.patterns, "pattern"), quantity.ShortSize(p.bytes))
	if p.sum == 0 {
		return s + "no sleeps" + p.scaled()
	}
	sum, least := quantity.ShortTime(p.sum), quantity.ShortTime(p.least)
	s += sum + " of sleep"
	if least != sum {
		s += fmt.Sprintf(" in sum and %s on the critical path", least)
	}
	return s + fmt.Sprintf(" in each of %s, and %s in each of %d isolated iterations, so at least %s for a launch%s",
		plural(int(p.iterations), "iteration"), quantity.ShortTime(p.sumAlone), p.alone,
		quantity.ShortTime(p.least*quantity.Time(p.iterations)+p.sumAlone*quantity.Time(p.alone)), p.scaled())
}

func (p *playing) scaled() string {
	if p.scale == 1 {
		return ""
	}
	return fmt.Sprintf(" (sleeps scaled by %v)", p.scale)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
