package serving

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A search finds the highest load that meets a condition which higher loads violate, in few steps.
func TestSearchFindsTheEdge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &Search{Axis: ByConcurrency, From: float64(rapid.IntRange(1, 100).Draw(t, "from"))}
		s.To = s.From + float64(rapid.IntRange(1, 5000).Draw(t, "width"))
		edge := math.Floor(rapid.Float64Range(0, 1.2*s.To).Draw(t, "edge"))
		kept, broken := 0., 0.
		for steps := 0; ; steps++ {
			at, more := s.Next(kept, broken)
			if !more {
				break
			}
			if steps > 40 || at < s.From || at > s.To || at != math.Trunc(at) {
				t.Fatalf("step %d is %v of %v to %v", steps, at, s.From, s.To)
			}
			if at <= edge {
				kept = at
			} else {
				broken = at
			}
		}
		want := min(edge, s.To)
		if edge < s.From {
			want = 0
		}
		if kept != want {
			t.Errorf("found %v, and the edge is at %v", kept, edge)
		}
	})
}

func TestSearchByRateComesWithinTwoPercent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &Search{Axis: ByRate, From: rapid.Float64Range(0.1, 10).Draw(t, "from"), To: 1000}
		edge := rapid.Float64Range(s.From, s.To).Draw(t, "edge")
		kept, broken := 0., 0.
		for steps := 0; ; steps++ {
			at, more := s.Next(kept, broken)
			if !more {
				break
			}
			if steps > 40 {
				t.Fatal("it does not end")
			}
			if at <= edge {
				kept = at
			} else {
				broken = at
			}
		}
		if kept > edge || kept*finest < edge {
			t.Errorf("found %v, and the edge is at %v", kept, edge)
		}
	})
}

func TestPromise(t *testing.T) {
	p, err := ParsePromise("ttft.p90 <= 500ms && goodput > 2/s && error_rate < 1%")
	if err != nil {
		t.Fatal(err)
	}
	good := map[string]float64{"ttft.p90": 0.5, "goodput": 2.1, "error_rate": 0}
	if p.Missed(good) != "" {
		t.Error("it is not kept where all bounds hold")
	}
	for name, v := range map[string]float64{"ttft.p90": 0.51, "goodput": 2, "error_rate": 0.01} {
		bad := map[string]float64{}
		for k, w := range good {
			bad[k] = w
		}
		if bad[name] = v; p.Missed(bad) == "" {
			t.Errorf("it is kept with %s %v", name, v)
		}
		if delete(bad, name); p.Missed(bad) == "" {
			t.Errorf("it is kept without %s", name)
		}
	}
	const want = "ttft.p90 is 519 ms, promised <= 500ms"
	if got := p.Missed(map[string]float64{"ttft.p90": 0.519}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if n := p.Enough(); n != 100 {
		t.Errorf("%d requests tell it", n)
	}
}
