package deadline

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/hcl/v2"
)

func TestDeadlineNamesThePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := After(30 * time.Second)
		first, second := hcl.Range{Filename: "a.yaml"}, hcl.Range{Filename: "b.yaml"}
		for range checked {
			if d.At(first) {
				t.Fatal("over at once")
			}
		}
		time.Sleep(31 * time.Second)
		over := false
		for range checked {
			over = d.At(second) || over
		}
		if !over || d.Where().Filename != "b.yaml" {
			t.Errorf("over %v at %v", over, d.Where())
		}
		if e := d.Error(); e.Detail != "Planning this part exceeded the limit of 30s." ||
			e.Subject.Filename != "b.yaml" {
			t.Errorf("%+v", e)
		}
	})
	var none *Deadline
	if none.At(hcl.Range{}) || none.Where() != nil {
		t.Error("no deadline is over")
	}
}
