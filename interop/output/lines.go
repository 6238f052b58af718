package output

import (
	"bytes"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// textLines returns the lines of an output, which must end with a line end: otherwise it was
// truncated, perhaps within the last number.
func textLines(output []byte) ([]string, error) {
	if len(bytes.TrimSpace(output)) == 0 {
		return nil, nothing("the output is empty")
	}
	lines := strings.Split(string(bytes.TrimPrefix(output, byteOrderMark)), "\n")
	last := len(lines) - 1
	if lines[last] != "" {
		return nil, at(last+1, "the output ends in the middle of a line: %s", quote(lines[last]))
	}
	lines = lines[:last]
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(uncoloured(l), "\r")
	}
	return lines, nil
}

// control matches what a terminal shows as colours and titles.
var control = lazyregexp.New(`\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)`)

func uncoloured(text string) string {
	if !strings.Contains(text, "\x1b") {
		return text
	}
	return control().ReplaceAllString(text, "")
}

// Stamps of time, with their blank.
const (
	isoStamp = `\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?:? ` +
		`(?:\d\d[OE][ +]|- [A-Z]+ - )?` // of GitLab, and of Python's logging
	timeStamp = `\[?(?:[A-Z][a-z]{2} [ \d]\d )?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?:? ` // also of syslog
	stamps    = isoStamp + `|` + timeStamp + `|\[\d{9,}(?:\.\d+)?\] `
)

// launcherTag matches what launchers and log collectors write before a line: mpirun --tag-output and
// --timestamp-output, srun --label, mpiexec -l, torchrun, kubectl logs --prefix and --timestamps.
var launcherTag = lazyregexp.New(`^(?:` + stamps + `|` +
	`(?:\w{3} \w{3} +\d+ [\d:]+ \d{4} ?)?(?:\[[^\]]*\d+,(?:rank=)?\d+\])?<std\w+>: ?|` +
	`\[(?:default)?\d+\]:? ?|` +
	`\s*\d+: ?|` +
	`\[pod/[^\]]+\] )`)

// leastOfHosts is the least number of lines in which a word with a colon is a host, and no message.
const leastOfHosts = 3

// hostTag matches what pdsh and clush, docker compose and syslog write before a line.
var hostTag = lazyregexp.New(`^[A-Za-z](?:[A-Za-z0-9.-]*: |[A-Za-z0-9._-]* +\| |[A-Za-z0-9.-]* [\w./-]+\[\d+\]: )`)

// untagged removes such prefixes, and blanks around all lines. Prefixes of hosts are removed if all lines have one.
// What a progress bar overwrites is a line of its own.
func untagged(lines []string) []string {
	var all []string
	for _, l := range lines {
		all = append(all, strings.Split(strings.TrimRight(l, "\r"), "\r")...)
	}
	return unindented(withoutHosts(withoutTags(all)))
}

// unindented removes blanks at the ends of lines, and those that all begin with.
func unindented(lines []string) []string {
	least := -1
	for i, l := range lines {
		lines[i] = strings.TrimRight(strings.ReplaceAll(l, "\u00a0", " "), " \t\r")
		if own := len(lines[i]) - len(strings.TrimLeft(lines[i], " ")); lines[i] != "" && (least < 0 || own < least) {
			least = own
		}
	}
	for i, l := range lines {
		if l != "" {
			lines[i] = l[least:]
		}
	}
	return lines
}

func withoutHosts(all []string) []string {
	hosts := 0
	for _, l := range all {
		if hostTag().MatchString(l) {
			hosts++
		} else if strings.TrimSpace(l) != "" {
			return all
		}
	}
	if hosts < leastOfHosts {
		return all
	}
	for i, l := range all {
		all[i] = strings.TrimPrefix(l, hostTag().FindString(l))
	}
	return withoutTags(all)
}

func withoutTags(lines []string) (all []string) {
	for _, l := range lines {
		for tag := launcherTag().FindString(l); tag != ""; tag = launcherTag().FindString(l) {
			l = l[len(tag):]
		}
		all = append(all, l)
	}
	return all
}

// Prefixes before lines of JSON: that of mpirun --tag-output or srun --label, which all lines share, and a stamp.
var (
	documentTag   = lazyregexp.New(`^(?:\[[^\]]*\d+,(?:rank=)?\d+\]<\w+>: ?| *\d+: |[A-Za-z][\w.-]* +\| )`)
	documentStamp = lazyregexp.New(`^(?:` + stamps + `)`)
)

// untaggedDocument removes the prefixes of a launcher and of stamps from a JSON document. Of several processes it keeps
// the lines of the first.
func untaggedDocument(output []byte) []byte {
	output = unstamped(output)
	first := documentTag().Find(output)
	if first == nil {
		return output
	}
	lines := bytes.Split(output, []byte("\n"))
	for i, l := range lines {
		own, ok := bytes.CutPrefix(l, first)
		if !ok && len(l) > 0 {
			own = nil
		}
		lines[i] = own
	}
	return unstamped(bytes.Join(lines, []byte("\n")))
}

// unstamped removes stamps of time before the lines of a document, if its first line has one.
func unstamped(output []byte) []byte {
	if !documentStamp().Match(output) {
		return output
	}
	lines := bytes.Split(output, []byte("\n"))
	for i, l := range lines {
		lines[i] = l[len(documentStamp().Find(l)):]
	}
	return bytes.Join(lines, []byte("\n"))
}

// byteOrderMark may begin a text that was written on Windows.
var byteOrderMark = []byte("\ufeff")
