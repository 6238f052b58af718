package fabric

import (
	"regexp"
	"strings"

	"github.com/weir-bench/weir/results"
)

// libfabricUnknown matches the line that a rank logs for each set variable that libfabric does not list
// (fi_getparams), with the most similar one that it lists:
//
//	weir: libfabric has no variable FI_PROVDER (maybe: FI_PROVIDER?)
var libfabricUnknown = regexp.MustCompile(
	`^weir: libfabric has no variable (FI_[A-Za-z0-9_]+)(?: \(maybe: (FI_[A-Za-z0-9_]+)\?\))?$`)

func libfabricIgnored(log string) []results.Ignored {
	var all []results.Ignored
	for line := range strings.Lines(log) {
		if m := libfabricUnknown.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			all = append(all, results.Ignored{Name: m[1], Suggestion: m[2]})
		}
	}
	return all
}
