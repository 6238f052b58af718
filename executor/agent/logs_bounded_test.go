package agent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/internal/logwatch"
	"github.com/weir-bench/weir/internal/redact"
	"github.com/weir-bench/weir/internal/steady"
	"github.com/weir-bench/weir/test/phase"
)

// TestOutputOfACommandIsBounded, with and without secrets, and short output is complete.
func TestOutputOfACommandIsBounded(t *testing.T) {
	phase.Long(t)
	const more = 3 << 20
	for _, h := range []redact.Values{nil, {"a secret"}} {
		for written, want := range map[int]int64{100: 0, maxOutput: 0, maxOutput + more: more} {
			a := New(Options{LogDir: t.TempDir()})
			c := CommandTask{
				Name: "talk", Command: []string{"sh", "-c", fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x", written)},
				Timeout: 30 * time.Second, Log: "talk.log",
			}
			r := a.command(t.Context(), "talk", c, h)
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			if r.Status != "ok" {
				t.Fatalf("%d bytes: %+v", written, r)
			}
			b, err := os.ReadFile(filepath.Join(a.o.LogDir, "talk.log"))
			if err != nil {
				t.Fatal(err)
			}
			if expected := keptOf(written, want); string(b) != expected {
				t.Errorf("of %d bytes, %d are kept, not %d", written, len(b), len(expected))
			}
		}
	}
}

// keptOf is the kept part of written x, with left of them left out.
func keptOf(written int, more int64) string {
	if more == 0 {
		return strings.Repeat("x", written)
	}
	half := strings.Repeat("x", halfOutput)
	return half + fmt.Sprintf("\n… %d bytes were left out\n", more) + half
}

// TestTheEndOfALogIsKept in complete lines, the middle takes no disk space meanwhile, and daemons append at the
// end.
func TestTheEndOfALogIsKept(t *testing.T) {
	for _, noHoles := range []bool{false, true} {
		file, err := os.Create(filepath.Join(t.TempDir(), "log"))
		if err != nil {
			t.Fatal(err)
		}
		b := &boundedLog{file: file, noHoles: noHoles}
		line := strings.Repeat("y", 999) + "\n"
		for range 40 {
			if _, err := file.WriteString(strings.Repeat(line, 1000)); err != nil {
				t.Fatal(err)
			}
			if err := b.cut(); err != nil {
				t.Fatal(err)
			}
			var st unix.Stat_t
			if err := unix.Fstat(int(file.Fd()), &st); err != nil || st.Blocks*512 > maxOutput+2<<20 {
				t.Fatalf("%d bytes lie on the disk: %v", st.Blocks*512, err)
			}
		}
		file.WriteString("the last line\n")
		if err := b.finish(); err != nil {
			t.Fatal(err)
		}
		file.WriteString("a daemon\n")
		text, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		if noHoles {
			if !strings.Contains(string(text), "\n… 23222798 bytes more were left out\n") {
				t.Errorf("…%q", text[maxOutput:maxOutput+60])
			}
			continue
		}
		all := strings.Split(string(text), "\n")
		at := slices.IndexFunc(all, func(l string) bool { return strings.HasPrefix(l, "… ") })
		kept := len(text) - len("a daemon\n") - len(all[at]) - 1
		if want := fmt.Sprintf("… %d bytes were left out", 40_000_014-kept); all[at] != want {
			t.Errorf("%s, not %s", all[at], want)
		}
		if len(all[at-1]) != 999 || len(all[at+1]) != 999 ||
			!strings.HasSuffix(string(text), "\nthe last line\na daemon\n") {
			t.Errorf("%d, %d, …%q", len(all[at-1]), len(all[at+1]), text[len(text)-60:])
		}
	}
}

// created is a new log with the program's end of it.
func created(t *testing.T, name string) (*logFile, *os.File) {
	t.Helper()
	dir := &logDir{path: t.TempDir()}
	log, file, err := dir.create(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		file.Close()
		log.close()
		dir.close()
	})
	return log, file
}

// TestAFollowerSeesAllThatPasses although only the ends are kept, and reports when it is too slow.
func TestAFollowerSeesAllThatPasses(t *testing.T) {
	log, file := created(t, "a.log")
	var all followers
	watch := logwatch.Spec{Expressions: []logwatch.Expression{{Text: "^tick"}}}
	if err := all.follow(log, watch, steady.Clock{}); err != nil {
		t.Fatal(err)
	}
	f := all.find("a.log")
	noise := strings.Repeat(strings.Repeat("z", 999)+"\n", 1000)
	for i := range 40 {
		if i == 20 {
			if err := f.begin(); err != nil {
				t.Fatal(err)
			}
		}
		file.WriteString("tick\n" + noise)
		if err := log.bounded.cut(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.readNew(maxBacklog); err != nil || f.watch.Matches()[0].Count != 20 {
		t.Errorf("%+v, %v", f.watch.Matches(), err)
	}
	if _, err := file.Seek(2*maxBacklog, io.SeekCurrent); err != nil {
		t.Fatal(err)
	}
	file.WriteString("tick\n")
	if err := f.readNew(maxBacklog); !errors.Is(err, errSlow) {
		t.Error(err)
	}
	if all.drop(log); all.find("a.log") != nil {
		t.Error("it is followed for ever")
	}
}

// The output of a rank's libraries is limited as well.
func TestTheLogOfARankIsBounded(t *testing.T) {
	phase.Long(t)
	const more = 3 << 20
	dir := t.TempDir()
	c, reports := joined(t, Options{LogDir: dir, RankCommand: []string{
		"sh", "-c", fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x", maxOutput+more)}})
	if r, cause := c.answer(t, "talk", c.launchTask(t, "talk", "g", nil), reports); r.Outcome == nil {
		t.Fatalf("%+v: %s", r, cause)
	}
	b, err := os.ReadFile(filepath.Join(dir, "g", "0", "0.log"))
	if err != nil {
		t.Fatal(err)
	}
	if want := keptOf(maxOutput+more, more); string(b) != want {
		t.Errorf("%d bytes are kept, not %d", len(b), len(want))
	}
}
