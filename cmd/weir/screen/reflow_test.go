package screen

import (
	"bytes"
	"io"
	"testing"
)

// What is written to a terminal in pieces is broken as a page is, and other outputs stay as they are.
func TestFoldedLines(t *testing.T) {
	line := "  over 12 cases, a[block_size=4KiB] … a[block_size=64MiB]: gate bandwidth increases with block_size\n"
	for width, want := range map[int]string{
		0: line + "end", 60: "  over 12 cases, a[block_size=4KiB] … a[block_size=64MiB]:\n  gate bandwidth increases with block_size\nend",
	} {
		var b bytes.Buffer
		f := &Folder{to: &b, width: width}
		for _, piece := range []string{line[:7], line[7:30], line[30:], "end"} {
			if n, err := io.WriteString(f, piece); err != nil || n != len(piece) {
				t.Fatal(n, err)
			}
		}
		if err := f.Flush(); err != nil || b.String() != want {
			t.Errorf("%d columns: %v\n%s", width, err, b.String())
		}
	}
}
