package ssh

import (
	"fmt"
	"strings"

	"github.com/weir-bench/weir/executor/launcher"
)

// advice is advice about messages of ssh; %s is the host. The first match counts.
var advice = []struct{ says, means string }{
	{"REMOTE HOST IDENTIFICATION HAS CHANGED", "its host key is not the known one: somebody else may answer for it; if it was set up anew, forget the old key with: ssh-keygen -R %s"},
	{"Host key verification failed", "its host key is not known: log in once by hand and compare it: ssh %s"},
	{"Permission denied", "it does not let you in without a password, and weir asks for none: put your key there with ssh-copy-id %s, or load it with ssh-add"},
	{"Too many authentication failures", "your ssh-agent offers too many keys: name the right one for it in ~/.ssh/config (IdentityFile, IdentitiesOnly)"},
	{"Could not resolve hostname", "its name is not known: check the spelling, or name its address in ~/.ssh/config"},
	{"Connection refused", "no sshd listens there: start it, or name its port in ~/.ssh/config"},
	{"timed out", "it is down or cut off; when it is up again, try: ssh %s"},
	{"No route to host", "it is down or cut off; when it is up again, try: ssh %s"},
	{"Network is unreachable", "this machine has no route to it"},
	{"Cannot execute command-line and remote command",
		"~/.ssh/config has a RemoteCommand for it: give RemoteCommand=none in the setting ssh.option"},
	{"No space left", "its disk is full, where weir keeps its copy (~/.cache/weir)"},
	{"Read-only file system", "weir's copy cannot be written there (~/.cache/weir): put weir there yourself and name it in the setting ssh.weir"},
	{"kex_exchange_identification", "sshd hung up: it may take fewer logins at a time (MaxStartups): give a smaller ssh.parallel"},
}

// hostError is an error about a host, with ssh's message and advice.
func hostError(host, doing string, said []string, otherwise string) error {
	text := strings.Join(said, "\n")
	for _, a := range advice {
		if strings.Contains(text, a.says) {
			means := a.means
			if strings.Contains(means, "%s") {
				means = fmt.Sprintf(means, host)
			}
			return fmt.Errorf("%s: %s: ssh says %q: %s", host, doing, lineWith(said, a.says), means)
		}
	}
	if last := lineWith(said, ""); last != "" {
		return fmt.Errorf("%s: %s: %s; ssh says %q", host, doing, otherwise, last)
	}
	return fmt.Errorf("%s: %s: %s", host, doing, otherwise)
}

// lineWith is the last line that contains words.
func lineWith(lines []string, words string) string {
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" && strings.Contains(line, words) {
			return strings.Trim(line, "@ ")
		}
	}
	return ""
}

// unusableError is the error of a copy of weir that does not start on a host.
func unusableError(host string, said []string) error {
	return fmt.Errorf("%s: %s: it says %q; build or install weir there and name it in the setting ssh.weir", host,
		launcher.WhyUnusable(strings.Join(said, "\n")), lineWith(said, ""))
}
