package planner

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"weir/quantity"
	"weir/workload"
)

// playing is what a launch of a sequence plays, for a person who waits for it.
type playing struct {
	patterns   int
	bytes      float64        // of all of them
	sum, least quantity.Time  // of the sleeps of an iteration, added up and on the longest way, with the scale
	iterations int64          // of the sequence
	scale      workload.Scale // of the sleeps
}

// playingOf adds up what the cases of a launch play, nil if they play nothing together.
func playingOf(kind *workload.Kind, cases []workload.Values) *playing {
	if kind == nil || kind.Sequence == "" || len(cases) == 0 {
		return nil
	}
	p := &playing{patterns: len(cases), scale: 1}
	p.scale, _ = cases[0]["time_scale"].(workload.Scale)
	var steps []*workload.TransferOptions
	for _, v := range cases {
		o, err := kind.Decode(v)
		if err != nil {
			return nil // a plan that nobody checked yet
		}
		p.sum += o.Step.Before + o.Step.After
		p.iterations = o.Step.Iterations
		p.bytes += float64(o.Matrix.Total())
		steps = append(steps, &o)
	}
	p.least = workload.Schedule(steps)
	return p
}

func (p *playing) String() string {
	s := fmt.Sprintf("%s, %s in all; ", plural(p.patterns, "pattern"), bytesText(p.bytes))
	if p.sum == 0 {
		return s + "nobody sleeps" + p.scaled()
	}
	sum, least := sleepText(p.sum), sleepText(p.least)
	s += sum + " of sleep"
	if least != sum {
		s += fmt.Sprintf(" in sum and %s on the longest way", least)
	}
	return s + fmt.Sprintf(" in each of %s, so %s for a launch at least%s", plural(int(p.iterations), "iteration"), sleepText(p.least*quantity.Time(p.iterations)), p.scaled())
}

func (p *playing) scaled() string {
	if p.scale == 1 {
		return ""
	}
	return fmt.Sprintf(" (sleeps scaled by %v)", p.scale)
}

// bytesText is a size to four digits.
func bytesText(v float64) string {
	unit := "B"
	for _, next := range []string{"kB", "MB", "GB", "TB", "PB"} {
		if v < 1000 {
			break
		}
		v, unit = v/1000, next
	}
	return strconv.FormatFloat(v, 'g', 4, 64) + " " + unit
}

// sleepText is a time to the second, or to four digits below a minute.
func sleepText(t quantity.Time) string {
	d := time.Duration(t)
	if d >= time.Minute {
		return shortTime(d.Round(time.Second).Seconds())
	}
	for unit := time.Second; unit > 1; unit /= 10 {
		if d >= unit {
			return d.Round(unit / 1000).String()
		}
	}
	return d.String()
}

// textPlaying says what a run's launches play, once where they play alike.
func (p *Plan) textPlaying(t io.Writer, run string, cases []*Case) {
	byKey := map[string]*Case{}
	for _, c := range cases {
		byKey[c.Key] = c
	}
	var order []string
	launches := map[string][]string{}
	for _, g := range p.Groups {
		if g.Run != run {
			continue
		}
		said := g.playing
		if said == nil {
			kind, _ := workload.Lookup(cases[0].Workload)
			var all []workload.Values
			for _, key := range g.Cases {
				if c := byKey[key]; c != nil {
					all = append(all, c.Options)
				}
			}
			said = playingOf(kind, all)
		}
		if said == nil {
			continue
		}
		text := said.String()
		if launches[text] == nil {
			order = append(order, text)
		}
		launches[text] = append(launches[text], g.ID)
	}
	for _, text := range order {
		which := ""
		if len(order) > 1 {
			which = " (" + textSpan(launches[text], "launch group") + ")"
		}
		row(t, "  plays", text+which)
	}
}

// said says of an option of a sequence that a person has it already, or nothing of it:
// its digest, and metadata whose fields are axes.
func said(kind *workload.Kind, name string, cases []*Case) bool {
	o, _ := kind.Option(name)
	return o.Type == workload.Patterns || kind.Sequence != "" && name == "metadata" && inColumns(cases)
}

// columnsOf are the columns of a run's cases. What is alike in all patterns of a sequence
// is given apart, as name=value.
func columnsOf(cases []*Case, names []string) (columns, alike []string) {
	if k, ok := workload.Lookup(cases[0].Workload); !ok || k.Sequence == "" {
		return names, nil
	}
	for _, n := range names {
		value, isAxis := cases[0].Axes[n]
		_, isOption := cases[0].Options[n]
		if isAxis && !isOption && len(cases) > 1 && constant(cases, n) {
			alike = append(alike, n+"="+textWord(workload.Text(value)))
		} else {
			columns = append(columns, n)
		}
	}
	return columns, alike
}

func constant(cases []*Case, axis string) bool {
	first := workload.Text(cases[0].Axes[axis])
	for _, c := range cases {
		if workload.Text(c.Axes[axis]) != first {
			return false
		}
	}
	return true
}

// inColumns says whether axes have every field of all metadata.
func inColumns(cases []*Case) bool {
	for _, c := range cases {
		said, _ := c.Options["metadata"].(string) // an excluded case has none
		left := " " + said + " "
		for name, v := range c.Axes {
			left = strings.Replace(left, " "+name+"="+workload.Text(v)+" ", " ", 1)
		}
		if strings.TrimSpace(left) != "" {
			return false
		}
	}
	return true
}
