package summary

import (
	"math"
	"testing"

	"github.com/weir-bench/weir/workload/serving/load"
)

// Pieces are the speed of answers in the order of requests, whatever order the records have; the first wave of a closed
// load and failed requests are left out.
func TestPiecesOfALoad(t *testing.T) {
	var list []load.Record
	for i := range 4 + 320 {
		took := 50.
		if i < 4 {
			took = 500 // all start together
		} else if i >= 4+160 {
			took = 100
		}
		list = append(list, request(i, float64(1000+i), float64(1000+i)+took))
	}
	list[0], list[200] = list[200], list[0]
	failed := request(400, 1100)
	list = append(list, failed)
	got := Pieces(list, 4)
	if len(got) != 16 {
		t.Fatalf("%v", got)
	}
	for i, v := range got {
		want := 20.
		if i >= 8 {
			want = 10
		}
		if math.Abs(v-want) > 1e-6 {
			t.Errorf("piece %d is %v, want %v", i, v, want)
		}
	}
	if got := Pieces(list[:80], 4); got != nil {
		t.Errorf("%v of too few requests", got)
	}
}
