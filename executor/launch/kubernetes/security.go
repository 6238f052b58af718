package kubernetes

import (
	"slices"
	"strconv"
	"strings"
)

// security is what the container may do: nothing but what was asked for.
func (o *Options) security() object {
	context := object{}
	if o.User != "" {
		user, group, given := strings.Cut(o.User, ":")
		context["runAsUser"] = integer(user)
		if given {
			context["runAsGroup"] = integer(group)
		}
		context["runAsNonRoot"] = integer(user) != 0
	}
	if o.Privileged {
		context["privileged"] = true
		if len(o.Capabilities) > 0 {
			context["capabilities"] = object{"add": list(o.Capabilities)}
		}
		return context
	}
	capabilities := object{"drop": []any{"ALL"}}
	if len(o.Capabilities) > 0 {
		capabilities["add"] = list(o.Capabilities)
	}
	context["capabilities"] = capabilities
	context["seccompProfile"] = object{"type": "RuntimeDefault"}
	if !slices.Contains(o.Capabilities, "SYS_ADMIN") { // with which it is all allowed
		context["allowPrivilegeEscalation"] = false
	}
	return context
}

// isUser says whether a text is the number of a user, and of a group.
func isUser(text string) bool {
	for part := range strings.SplitSeq(text, ":") {
		if integer(part) < 0 {
			return false
		}
	}
	return strings.Count(text, ":") <= 1
}

// integer is -1 of what is none.
func integer(text string) int64 {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return -1
	}
	return int64(n)
}
