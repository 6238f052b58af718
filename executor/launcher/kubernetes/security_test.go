package kubernetes

import (
	"testing"

	"github.com/weir-bench/weir/executor/kube"
)

// Pods have no capability that was not asked for, gain no privileges, have the runtime's seccomp
// profile, and are no root's where a user was named.
func TestPodsMayDoWhatWasAskedFor(t *testing.T) {
	for _, c := range []struct {
		user    string
		nonRoot any
	}{{"", nil}, {"1000:1000", true}, {"0", false}} {
		l := launcherOf(t, options(func(o *Options) { o.User, o.Capabilities = c.user, []string{"IPC_LOCK"} }))
		r := request(t, 1)
		m, err := l.manifests(t.Context(), &r, nil)
		if err != nil {
			t.Fatal(err)
		}
		containers := kube.Part(m.job, "spec", "template", "spec")["containers"].([]any)
		context := kube.Part(containers[0].(object), "securityContext")
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
