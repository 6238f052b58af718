package gate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// What hosts add is told apart from what launches vary by, where launches ran on several sets of
// hosts: over many sessions both come out as they were put in.
func TestHostsHaveAVariance(t *testing.T) {
	const hostSD, launchSD, sessions = 0.03, 0.01, 400
	var hosts, launches float64
	r := rand.New(rand.NewPCG(5, 7))
	for range sessions {
		c := caseOf("c")
		for h := range 4 {
			level := hostSD * r.NormFloat64()
			for range 3 {
				l := caseOf("", math.Exp(level+launchSD*r.NormFloat64())).Launches[0]
				l.Index, l.Nodes = len(c.Launches), []string{"b", string(rune('c' + h))}
				c.Launches = append(c.Launches, l)
			}
		}
		doc := docOf(c)
		Judge(doc)
		for _, v := range c.Metrics.At("bandwidth").Components {
			switch v.Of {
			case "hosts":
				hosts += v.CV * v.CV / sessions
			case "launches":
				launches += v.CV * v.CV / sessions
				if v.DF != 8 {
					t.Fatalf("launches have %v degrees of freedom", v.DF)
				}
			}
		}
	}
	if got := math.Sqrt(launches); math.Abs(got-launchSD) > 0.05*launchSD {
		t.Errorf("launches vary by %v, want %v", got, launchSD)
	}
	if got := math.Sqrt(hosts); math.Abs(got-hostSD) > 0.1*hostSD {
		t.Errorf("hosts add %v, want %v", got, hostSD)
	}
}

// Hosts that had one launch each cannot be told from launches.
func TestHostsOfOneLaunchHaveNone(t *testing.T) {
	c := caseOf("c", 1, 1.1, 0.9)
	for i, l := range c.Launches {
		l.Nodes = []string{string(rune('a' + i))}
	}
	doc := docOf(c)
	if Judge(doc); c.Metrics.At("bandwidth").Components != nil {
		t.Errorf("%+v", c.Metrics.At("bandwidth").Components)
	}
}
