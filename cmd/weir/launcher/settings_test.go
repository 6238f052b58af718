package launcher

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// What weir run had a flag for and has none any more is said in a site file.
func TestWhatFlagsSaidIsSaidInTheSiteFile(t *testing.T) {
	documented, err := os.ReadFile("../../../docs/hosts.md")
	if err != nil {
		t.Fatal(err)
	}
	for flag, c := range map[string]struct{ key, value, want string }{
		"kube-kubectl":         {"kubernetes.kubectl", "/opt/kubectl", "/opt/kubectl"},
		"kube-context":         {"kubernetes.context", "prod", "prod"},
		"kube-command":         {"kubernetes.command", "weir", "weir"},
		"kube-pull-policy":     {"kubernetes.pull_policy", "Never", "Never"},
		"kube-pull-secret":     {"kubernetes.pull_secret", "[a, b]", "[a,b]"},
		"kube-service-account": {"kubernetes.service_account", "bench", "bench"},
		"kube-node-selector":   {"kubernetes.node_selector", "{pool: gpu}", "[pool=gpu]"},
		"kube-toleration":      {"kubernetes.toleration", `["gpu:NoSchedule"]`, "[gpu:NoSchedule]"},
		"kube-shm":             {"kubernetes.shm", "80Gi", "80Gi"},
		"kube-user":            {"kubernetes.user", `"1000:1000"`, "1000:1000"},
		"kube-host-network":    {"kubernetes.host_network", "true", "true"},
		"kube-host-ipc":        {"kubernetes.host_ipc", "true", "true"},
		"kube-wait":            {"kubernetes.wait", "5m", "5m0s"},
		"kube-deadline":        {"kubernetes.deadline", "0", "0s"},
		"kube-patch":           {"kubernetes.patch", "[a.yaml, b.yaml]", "[a.yaml,b.yaml]"},
		"ssh-program":          {"ssh.program", "/opt/ssh", "/opt/ssh"},
		"ssh-config":           {"ssh.config", "lab.conf", "lab.conf"},
		"ssh-option":           {"ssh.option", "{Port: 2222}", "[Port=2222]"},
		"ssh-connect-timeout":  {"ssh.connect_timeout", "3s", "3s"},
		"ssh-parallel":         {"ssh.parallel", "2", "2"},
		"ssh-weir":             {"ssh.weir", "/opt/weir", "/opt/weir"},
		"slurm-flag":           {"slurm.flag", "[--partition=gpu]", "[--partition=gpu]"},
		"slurm-wait":           {"slurm.wait", "1h", "1h0m0s"},
		"etcd-prefix":          {"etcd.prefix", "/x/", "/x/"},
		"etcd-cacert":          {"etcd.cacert", "ca.pem", "/site/ca.pem"},
		"etcd-cert":            {"etcd.cert", "/my/weir.pem", "/my/weir.pem"},
		"etcd-key":             {"etcd.key", "weir.key", "/site/weir.key"},
		"etcd-user":            {"etcd.user", "me", "me"},
		"etcd-password-file":   {"etcd.password_file", "secret", "/site/secret"},
	} {
		of, setting, _ := strings.Cut(c.key, ".")
		text, place := "etcd: {"+setting+": "+c.value+"}", c.key+" in the site file"
		if of != "etcd" {
			text = "launcher: {" + of + ": {" + setting + ": " + c.value + "}}"
			place = "launcher." + place + ", or " + c.key + " in --launcher-config"
		}
		if got := Moved(flag); got != place {
			t.Errorf("--%s is said to be %q, not %q", flag, got, place)
		}
		if !strings.Contains(string(documented), "`"+setting+"`") {
			t.Errorf("docs/hosts.md does not say what %s is", c.key)
		}
		s := Site{file: "/site/site.yaml"}
		if err := s.parse([]byte("site: x\n" + text)); err != nil {
			t.Error(err)
			continue
		}
		got := s.Etcd()[setting]
		if of != "etcd" {
			var f Flags
			f.AddLaunchers(pflag.NewFlagSet("", pflag.ContinueOnError))
			if _, err := f.config.Take(s.Launcher, of); err != nil {
				t.Error(err)
			}
			got = f.config.of[of].Lookup(setting).Value.String()
		}
		if got != c.want {
			t.Errorf("%s is %q, want %q", c.key, got, c.want)
		}
	}
	for _, flag := range []string{"kube", "kube-", "etcd", "tls-cert", "hosts"} {
		if place := Moved(flag); place != "" {
			t.Errorf("--%s is said to be %s", flag, place)
		}
	}
}
