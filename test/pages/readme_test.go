package pages

import (
	"bytes"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weir-bench/weir/test/golden"
	"github.com/weir-bench/weir/test/phase"
)

const width, height = 1200, 900 // of README's picture

// README.md is what a first reader sees: it is short, and no line of it wraps.
func TestREADMEIsShort(t *testing.T) {
	text := readme(t)
	if len(text) > 8<<10 {
		t.Errorf("README.md has %d bytes, of at most 8 kB", len(text))
	}
	for i, line := range strings.Split(text, "\n") {
		if len([]rune(line)) > 100 && !strings.HasPrefix(line, "|") {
			t.Errorf("line %d has %d columns, of at most 100", i+1, len([]rune(line)))
		}
	}
}

// The scenario of README.md runs, and its output has the columns and rows shown there. With -update the page becomes
// README's picture.
func TestREADMEShowsARealRun(t *testing.T) {
	phase.Long(t)
	if err := build(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "copy.yaml"), []byte(shown(t, "yaml")), 0o644); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("weir", "run", "copy.yaml", "--out", "out", "--report", "html")
	run.Dir = dir
	printed, err := run.CombinedOutput()
	// the bounds may not hold on a busy host
	if code := run.ProcessState.ExitCode(); code != 0 && code != 1 && code != 3 {
		t.Fatalf("%v\n%s", err, printed)
	}
	table := shown(t, "")
	key := regexp.MustCompile(`^ +(\w+) +(\d+KiB|\d+MiB) `)
	rows := 0
	for line := range strings.Lines(table) {
		m := key.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		rows++
		if !regexp.MustCompile(`(?m)^ +` + m[1] + ` +` + m[2] + ` `).Match(printed) {
			t.Errorf("the run has no row %s %s:\n%s", m[1], m[2], printed)
		}
	}
	if rows != 4 {
		t.Errorf("README.md shows %d rows of its scenario", rows)
	}
	for word := range strings.FieldsSeq("bandwidth ceiling.bandwidth verdict") {
		if !strings.Contains(table, word) || !bytes.Contains(printed, []byte(word)) {
			t.Errorf("%s is not a column of both", word)
		}
	}
	picture(t, filepath.Join(dir, "out", "report.html"))
}

// picture checks a picture of the page, which -update keeps.
func picture(t *testing.T, page string) {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no Chromium is installed (scripts/setup browser installs Debian's)")
	}
	file := filepath.Join(t.TempDir(), "page.png")
	shot := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		"--virtual-time-budget=5000", "--screenshot="+file, "--window-size=1200,900", "file://"+page)
	if out, err := shot.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if golden.Update() {
		if err := os.WriteFile(filepath.Join(root, "docs/page.png"), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(filepath.Join(root, "docs/page.png"))
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"the page": content, "docs/page.png": kept} {
		image, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if size := image.Bounds().Size(); size.X != width || size.Y != height {
			t.Errorf("%s is %v", name, size)
		}
		colours := map[[4]uint32]bool{}
		for x := 0; x < width; x += 3 {
			for y := 0; y < height; y += 3 {
				r, g, b, a := image.At(x, y).RGBA()
				colours[[4]uint32{r, g, b, a}] = true
			}
		}
		if len(colours) < 20 {
			t.Errorf("%s has %d colours: nothing is drawn on it", name, len(colours))
		}
	}
}

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// shown is README's first block in a language.
func shown(t *testing.T, language string) string {
	t.Helper()
	for _, b := range blocks(readme(t)) {
		if b.language == language {
			return b.text
		}
	}
	t.Fatalf("README.md has no block of %q", language)
	return ""
}
