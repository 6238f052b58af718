package pages

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// block is a block of code of a page.
type block struct {
	language string
	line     int // of its first line in the page
	text     string
}

// file is the name that the first line gives the block, "" if none.
func (b block) file() string {
	if m := fileName.FindStringSubmatch(b.text); m != nil && (b.language == "yaml" || b.language == "hcl") {
		return m[1]
	}
	return ""
}

// scenario is whether the block is a whole scenario, and not a part of one or another kind of file.
func (b block) scenario() bool {
	return b.language == "yaml" && yamlScenario.MatchString(b.text) ||
		b.language == "hcl" && hclScenario.MatchString(b.text)
}

var (
	fileName     = regexp.MustCompile(`^# ([\w./-]+\.(?:ya?ml|hcl))\n`)
	yamlScenario = regexp.MustCompile(`(?m)^scenario:`)
	hclScenario  = regexp.MustCompile(`(?m)^scenario "`)
	inline       = regexp.MustCompile("\x60(weir [^\x60]+)\x60")
	fence        = regexp.MustCompile("^( *)```([a-z]*)\\s*$")
)

// blocks are those that a page shows between fences.
func blocks(text string) (all []block) {
	open, indent := false, ""
	var b block
	for i, line := range strings.Split(text, "\n") {
		m := fence.FindStringSubmatch(line)
		switch {
		case m != nil && !open:
			open, indent = true, m[1]
			b = block{language: m[2], line: i + 2}
		case m != nil:
			open = false
			all = append(all, b)
		case open:
			b.text += strings.TrimPrefix(line, indent) + "\n"
		}
	}
	return all
}

// outsideOfBlocks is the text of a page with an empty line for each line of a block.
func outsideOfBlocks(text string) string {
	lines := strings.Split(text, "\n")
	open := false
	for i, line := range lines {
		m := fence.MatchString(line)
		if m || open {
			lines[i] = ""
		}
		open = open != m
	}
	return strings.Join(lines, "\n")
}

// step is a command of a console with what it prints.
type step struct {
	command string
	line    int
	prints  []string
}

// steps are the commands of a console. A line that ends with a backslash goes on in the next.
func steps(b block) (all []step) {
	goesOn := false
	for i, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
		command, is := strings.CutPrefix(line, "$ ")
		switch {
		case is:
			all = append(all, step{command: command, line: b.line + i})
		case goesOn:
			all[len(all)-1].command += "\n" + line
		case len(all) > 0 && strings.TrimSpace(line) != "":
			all[len(all)-1].prints = append(all[len(all)-1].prints, line)
		}
		goesOn = (is || goesOn) && strings.HasSuffix(line, `\`)
	}
	return all
}

const unit = `(?:%|(?:[kKMGT]i?)?(?:B|b|bit|bps)(?:/s)?|[nuµm]?s|m|h)`

var normal = []struct {
	what *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`\b\d{8}-\d{6}-([\w-]+)-[0-9a-f]{4}\b`), "SESSION"},
	{regexp.MustCompile(`\b[0-9a-f]{12,64}\b`), "DIGEST"},
	{regexp.MustCompile(`[<>]?[-+±−]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?(?: ?` + unit + `\b|%)?`), "#"},
	{regexp.MustCompile(`(^|[\s(/])` + unit + `($|[\s)/])`), "$1@$2"}, // of a column
	{regexp.MustCompile(`(^|\s)(?:-|too wide|n=#)(\s|$)`), "$1#$2"},   // no interval, no value
	{regexp.MustCompile(`#(?: ?[–-] ?#)+`), "#"},                      // an interval
	{regexp.MustCompile(`─+`), "─"},
	{regexp.MustCompile(`\s+`), " "},
}

// exitCode is no number that may change.
var exitCode = regexp.MustCompile(`exit (?:code )?\d+`)

// normalised is a line without what changes from run to run.
func normalised(line string) string {
	line = exitCode.ReplaceAllStringFunc(line, func(code string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return 'A' + r - '0'
			}
			return r
		}, code)
	})
	for _, n := range normal {
		line = n.what.ReplaceAllString(line, n.to)
	}
	return strings.TrimSpace(line)
}

// alike is whether an output has the line that is wanted, which may end with "…" for any rest.
func alike(want, got string) bool {
	if begin, cut := strings.CutSuffix(strings.TrimSpace(want), "…"); cut {
		return strings.HasPrefix(normalised(got), normalised(begin))
	}
	return normalised(got) == normalised(want)
}

// missing are the lines that are wanted and do not occur in the output in their order.
func missing(wanted []string, output string) (lines []string) {
	got := strings.Split(output, "\n")
	for _, want := range wanted {
		if strings.TrimSpace(want) == "…" {
			continue
		}
		at := 0
		for at < len(got) && !alike(want, got[at]) {
			at++
		}
		if at == len(got) {
			lines = append(lines, want)
			continue
		}
		got = got[at+1:]
	}
	return lines
}

func TestLinesAreComparedWithoutNumbers(t *testing.T) {
	const output = "bandwidth  GB/s\n  shm  64KiB  29.1  24–35  7.3 (250)\n✓ passed in 1.2 s\nweir-out/20261128-101500-first-3f9a/report.md\nexit 1"
	for _, c := range []struct {
		wanted []string
		is     int
	}{
		{[]string{"bandwidth GB/s", "…", "✓ passed in 980ms"}, 0},
		{[]string{"shm 1MiB 3 2–3 9 (16)", "weir-out/20261129-111500-first-0000/report.md"}, 0},
		{[]string{"✓ passed in 1s", "bandwidth GB/s"}, 1},
		{[]string{"shm 64KiB 29.1 too wide 7.3 (250)", "exit 1"}, 0},
		{[]string{"shm 64KiB 29.1 <9.9e-07–>99 7.3 (250)", "exit 1"}, 0},
		{[]string{"shm 64KiB 29.1 n=1 7.3 (250)", "exit 1"}, 0},
		{[]string{"ucx 64KiB 29.1 24–35 7.3 (250)"}, 1},
		{[]string{"shm 64KiB 29.1 - 7.3 (250)"}, 0},
		{[]string{"exit 3"}, 1},
		{[]string{"✓ passed …", "exit 1"}, 0},
	} {
		if got := missing(c.wanted, output); len(got) != c.is {
			t.Errorf("%q: missing %q", c.wanted, got)
		}
	}
}

func TestBlocksAreRead(t *testing.T) {
	text, err := os.ReadFile("testdata/page.md")
	if err != nil {
		t.Fatal(err)
	}
	all := blocks(string(text))
	if len(all) != 3 {
		t.Fatalf("%d blocks: %+v", len(all), all)
	}
	if b := all[0]; b.file() != "a.yaml" || !b.scenario() || b.line != 4 {
		t.Errorf("%+v", b)
	}
	run := steps(all[1])
	if len(run) != 2 || run[0].command != "weir plan \\\n    a.yaml" || len(run[0].prints) != 3 || run[1].line != 15 {
		t.Errorf("%+v", run)
	}
	if got := commandLines(all[2].text); len(got) != 3 || strings.Join(got[0], " ") != "weir run a.yaml --hosts gpu[01-02]" ||
		strings.Join(got[1], " ") != "weir report x --report html" || strings.Join(got[2], " ") != "weir gate out" {
		t.Errorf("%q", got)
	}
}
