package lab

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// SSH has the files of a user with a login on all hosts of a lab, as in ~/.ssh. A test may
// change them.
type SSH struct {
	Config     string // knows the hosts by their names
	Key        string // private
	KnownHosts string
}

// SSH starts an sshd on each host that is on, and gives what its user has.
func (l *Lab) SSH() SSH {
	l.t.Helper()
	Need(l.t, "openssh-server", "sshd")
	Need(l.t, "openssh-client", "ssh", "ssh-keygen")
	dir := filepath.Join(l.Dir, "ssh")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		l.t.Fatal(err)
	}
	key := func(name string) string {
		path := filepath.Join(dir, name)
		must(l.t, exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path))
		return path
	}
	s := SSH{Key: key("id"), Config: filepath.Join(dir, "config"), KnownHosts: filepath.Join(dir, "known_hosts")}
	hostKey := key("hostkey")
	public, err := os.ReadFile(hostKey + ".pub")
	if err != nil {
		l.t.Fatal(err)
	}
	var known, hosts strings.Builder
	for _, h := range l.Hosts {
		fmt.Fprintf(&known, "%s %s", h.Address, public)
		fmt.Fprintf(&hosts, "Host %s\n  HostName %s\n", h.Name, h.Address)
	}
	l.Write("ssh/known_hosts", 0o600, known.String())
	l.Write("ssh/config", 0o600, fmt.Sprintf(`%sHost *
  User root
  IdentityFile %s
  IdentitiesOnly yes
  IdentityAgent none
  StrictHostKeyChecking yes
  UserKnownHostsFile %s
`, hosts.String(), s.Key, s.KnownHosts))
	l.Write("ssh/sshd_config", 0o600, fmt.Sprintf(`HostKey %s
AuthorizedKeysFile %s.pub
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
PidFile none
LogLevel VERBOSE
`, hostKey, s.Key))
	for _, h := range l.Hosts {
		if h.machine != nil {
			h.SSHD()
		}
	}
	return s
}

// SSHD starts the host's sshd again, after a PowerOn.
func (h *Host) SSHD() {
	h.lab.t.Helper()
	// its absolute path is a must of sshd's, which executes itself for each connection
	path, err := exec.LookPath("sshd")
	if err != nil {
		h.lab.t.Fatal(err)
	}
	log := h.Daemon("sshd", path, "-D", "-e", "-f", filepath.Join(h.lab.Dir, "ssh/sshd_config"), "-o",
		"ListenAddress="+h.Address)
	h.await("sshd", log, func() bool {
		c, err := net.DialTimeout("tcp", h.Address+":22", time.Second)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// await waits until a daemon does what it is there for.
func (h *Host) await(daemon, log string, does func() bool) {
	h.lab.t.Helper()
	for end := time.Now().Add(30 * time.Second); !does(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			said, _ := os.ReadFile(log) // it may have said nothing
			h.lab.t.Fatalf("%s on %s does not start:\n%s", daemon, h.Name, said)
		}
	}
}
