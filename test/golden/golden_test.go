package golden

import (
	"path/filepath"
	"testing"
)

// recorder keeps what a test would have said.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }

func TestADifferenceFailsUntilTheFileIsWrittenAnew(t *testing.T) {
	before := *update
	t.Cleanup(func() { *update = before })
	path := filepath.Join(t.TempDir(), "new", "a.golden")
	for _, c := range []struct {
		update bool
		got    string
		fails  bool
	}{{true, "one", false}, {false, "one", false}, {false, "two", true}, {true, "two", false}, {false, "two", false}} {
		*update = c.update
		r := &recorder{TB: t}
		if Equal(r, path, []byte(c.got)); r.failed != c.fails {
			t.Errorf("%+v: failed is %v", c, r.failed)
		}
	}
}
