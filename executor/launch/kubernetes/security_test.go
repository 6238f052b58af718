package kubernetes

import "testing"

// Pods have no capability that was not asked for, gain no privileges, have the runtime's seccomp
// profile, and are no root's where a user was named.
func TestPodsMayDoWhatWasAskedFor(t *testing.T) {
	for _, c := range []struct {
		user    string
		nonRoot any
	}{{"", nil}, {"1000:1000", true}, {"0", false}} {
		o := Options{User: c.user, Capabilities: []string{"IPC_LOCK"}}
		context := o.security()
		if got := context["runAsNonRoot"]; got != c.nonRoot {
			t.Errorf("user %q: runAsNonRoot is %v", c.user, got)
		}
		capabilities, _ := context["capabilities"].(object)
		dropped, _ := capabilities["drop"].([]any)
		added, _ := capabilities["add"].([]any)
		if len(dropped) != 1 || dropped[0] != "ALL" || len(added) != 1 || added[0] != "IPC_LOCK" {
			t.Errorf("capabilities are %v", capabilities)
		}
		profile, _ := context["seccompProfile"].(object)
		if profile["type"] != "RuntimeDefault" || context["allowPrivilegeEscalation"] != false {
			t.Errorf("%v", context)
		}
	}
}
