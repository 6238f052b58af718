package output

import (
	"regexp"
	"strings"
	"testing"

	"github.com/weir-bench/weir/test/phase"
)

var (
	betweenWords = regexp.MustCompile(`(\S)[ \t]+(\S)`)
	withPoint    = regexp.MustCompile(`\d+\.\d+`)
)

// mutations returns variants of a line: two words grown together, and a number in another or no form.
func mutations(line string) (all []string) {
	for _, m := range betweenWords.FindAllStringSubmatchIndex(line, -1) {
		all = append(all, line[:m[3]]+line[m[4]:])
	}
	for _, m := range withPoint.FindAllStringIndex(line, -1) {
		number := line[m[0]:m[1]]
		for _, other := range []string{
			strings.Replace(number, ".", ",", 1), strings.Replace(number, ".", " ", 1), "nan", "-", "",
		} {
			all = append(all, line[:m[0]]+other+line[m[1]:])
		}
	}
	return all
}

// A line that is damaged costs a number or the output, and never makes another number of it.
func TestDamagedLines(t *testing.T) {
	for _, f := range Formats() {
		for name, text := range outputs(t, f.Name) {
			before, err := f.Read(text)
			if err != nil || !strings.HasSuffix(name, ".txt") {
				continue
			}
			type key struct {
				line int
				at   string
			}
			values := map[key]map[string]float64{}
			for _, row := range before {
				values[key{row.Line, place(row.At)}] = row.Values
			}
			t.Run(f.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				lines := strings.Split(string(text), "\n")
				for i, line := range lines {
					for n, other := range mutations(line) {
						if !phase.Whole() && (i+n)%5 > 0 {
							continue
						}
						lines[i] = other
						after, _ := f.Read([]byte(strings.Join(lines, "\n")))
						for _, row := range after {
							of, known := values[key{row.Line, place(row.At)}]
							for metric, v := range row.Values {
								was, ok := of[metric]
								// without the sum nothing tells that B/W is of one rank
								renamed := strings.Contains(other, "AggregateB/W")
								if known && (!ok || v != was) && !renamed {
									t.Fatalf("%q: %s is %v, and was %v", other, metric, v, was)
								}
							}
						}
					}
					lines[i] = line
				}
			})
		}
	}
}
