package child

import (
	"os"
	"slices"
	"testing"
)

func TestStats(t *testing.T) {
	if s, ok := ParseStat("12 (a) b (c) S 3 45 6 7"); !ok || s != (Stat{PID: 12, State: 'S', Parent: 3, Group: 45}) {
		t.Errorf("%+v, %v", s, ok)
	}
	if s, ok := ParseStat("12 (a"); ok {
		t.Errorf("half a text is %+v", s)
	}
	own, ok := StatOf(os.Getpid())
	if !ok || own.PID != os.Getpid() || own.Parent != os.Getppid() || own.Start == 0 {
		t.Errorf("this process is %+v, %v", own, ok)
	}
	if !slices.ContainsFunc(Processes(), func(s Stat) bool { return s.PID == own.PID && s.Start == own.Start }) {
		t.Error("this process is none of all")
	}
}
