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
