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
	lines := strings.Split(string(output), "\n")
	last := len(lines) - 1
	if lines[last] != "" {
		return nil, at(last+1, "the output ends in the middle of a line: %s", quote(lines[last]))
	}
	lines = lines[:last]
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines, nil
}

// launcherTag matches what launchers and log collectors write before a line: mpirun --tag-output and
// --timestamp-output, srun --label, mpiexec -l, torchrun, kubectl logs --prefix and --timestamps.
var launcherTag = lazyregexp.New(`^(?:` +
	`(?:\w{3} \w{3} +\d+ [\d:]+ \d{4} ?)?(?:\[[^\]]*\d+,\d+\])?<std\w+>: ?|` +
	`\[(?:default)?\d+\]:? ?|` +
	`\s*\d+: ?|` +
	`\[pod/[^\]]+\] |` +
	`\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?:? |` +
	`\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]? )`)

// untagged removes such prefixes.
func untagged(lines []string) []string {
	var all []string
	for _, l := range lines {
		for tag := launcherTag().FindString(l); tag != ""; tag = launcherTag().FindString(l) {
			l = l[len(tag):]
		}
		all = append(all, l)
	}
	return all
}

// documentTag matches the prefix of mpirun --tag-output or srun --label before a line of JSON.
var documentTag = lazyregexp.New(`^(?:\[[^\]]*\d+,\d+\]<\w+>: ?| *\d+: )`)

// untaggedDocument removes the prefixes of a launcher from a JSON document. Of several processes it keeps
// the lines of the first.
func untaggedDocument(output []byte) []byte {
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
	return bytes.Join(lines, []byte("\n"))
}
