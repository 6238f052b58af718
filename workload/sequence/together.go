package sequence

import (
	"fmt"
	"weir/quantity"
	"weir/workload"
	"weir/workload/move"
)

// playing is what a launch of a sequence plays, for a person who waits for it.
type playing struct {
	patterns   int
	bytes      float64        // of all of them
	sumAlone   quantity.Time  // of the sleeps of an iteration of each pattern alone
	sum, least quantity.Time  // of the sleeps of an iteration, added up and on the longest way, with the scale
	iterations int64          // of the sequence
	alone      int64          // of each pattern alone
	scale      workload.Scale // of the sleeps
}

// together says what the cases of a launch play.
func together(cases []workload.Values) string {
	p := &playing{patterns: len(cases), scale: 1}
	p.scale, _ = cases[0]["time_scale"].(workload.Scale)
	var steps []*move.Spec
	for _, v := range cases {
		o, err := Decode(v)
		if err != nil {
			return "" // a plan that nobody checked yet
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
		return s + "nobody sleeps" + p.scaled()
	}
	sum, least := quantity.ShortTime(p.sum), quantity.ShortTime(p.least)
	s += sum + " of sleep"
	if least != sum {
		s += fmt.Sprintf(" in sum and %s on the longest way", least)
	}
	return s + fmt.Sprintf(" in each of %s, and %s in each of %d of the patterns alone, so %s for a launch at least%s",
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
