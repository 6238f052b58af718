package lab

import (
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// pings says whether one host answers another within a second: a host that is there
// refuses a port on which nobody listens.
func pings(from *Host, address string) bool {
	// what it says tells
	out, _ := from.Command("timeout", "1", "bash", "-c", "exec 3<>/dev/tcp/"+address+"/9").CombinedOutput()
	return strings.Contains(string(out), "refused")
}

// kept is a test that keeps how it ended instead of ending.
type kept struct {
	testing.TB
	skipped, failed bool
}

func (k *kept) Skip(...any)           { k.skipped = true; runtime.Goexit() }
func (k *kept) Fatalf(string, ...any) { k.failed = true; runtime.Goexit() }

// Where a lab is required, a program that is missing is no reason to skip.
func TestARequiredLabIsNeverSkipped(t *testing.T) {
	for value, want := range map[string]kept{
		"": {skipped: true}, "whole": {skipped: true}, "required": {failed: true},
	} {
		t.Setenv(Required, value)
		got, done := &kept{TB: t}, make(chan struct{})
		go func() {
			defer close(done)
			Need(got, "nothing", "weir-has-no-such-program")
		}()
		<-done
		if got.skipped != want.skipped || got.failed != want.failed {
			t.Errorf("%s=%q: skipped %v, failed %v", Required, value, got.skipped, got.failed)
		}
	}
}

func TestHostsAreHosts(t *testing.T) {
	l := New(t, "one", "two")
	one, two := l.Host("one"), l.Host("two")
	if got := strings.TrimSpace(one.Run("hostname")); got != "one" {
		t.Errorf("one calls itself %s", got)
	}
	boot := func(h *Host) string { return h.Run("cat", "/proc/sys/kernel/random/boot_id") }
	if mine, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err != nil || boot(one) == boot(two) ||
		boot(one) == string(mine) {
		t.Errorf("boot ids: here %s one %s two %s (%v)", mine, boot(one), boot(two), err)
	}
	one.Run("sh", "-c", "echo x >/dev/shm/weir-lab-test && echo x >~/weir-lab-test")
	if err := two.Command("sh", "-c", "test -e /dev/shm/weir-lab-test || test -e ~/weir-lab-test").Run(); err == nil {
		t.Error("two has one's memory or its home")
	}
	if got := strings.Fields(one.Run("ls", "/sys/class/net")); strings.Join(got, " ") != "eth0 lo" {
		t.Errorf("one sees the devices %q", got)
	}
	if got := one.Run("ps", "-e", "-o", "comm="); strings.Contains(got, "lab.test") {
		t.Errorf("one sees this machine's processes:\n%s", got)
	}
	if !pings(one, "two") || !pings(two, "one") || !pings(one, l.Address) {
		t.Error("hosts do not reach each other")
	}
}

func TestCutsAreFeltAndHeal(t *testing.T) {
	l := New(t, "one", "two")
	one, two := l.Host("one"), l.Host("two")
	carrier := func() string { return strings.TrimSpace(two.Run("cat", "/sys/class/net/eth0/carrier")) }
	for _, how := range []Cut{Silent, Loud} {
		two.Cut(how)
		if pings(one, two.Address) || pings(two, one.Address) {
			t.Errorf("cut %d: they still reach each other", how)
		}
		if got, want := carrier(), map[Cut]string{Silent: "1", Loud: "0"}[how]; got != want {
			t.Errorf("cut %d: carrier %s, want %s", how, got, want)
		}
		two.Heal()
		if !eventually(func() bool { return pings(one, two.Address) && pings(two, one.Address) }) {
			t.Errorf("cut %d does not heal", how)
		}
	}
	two.Lose(100)
	if pings(one, two.Address) {
		t.Error("a host that loses all it sends answers")
	}
	two.Lose(0)
	if !eventually(func() bool { return pings(one, two.Address) }) {
		t.Error("the loss does not end")
	}
}

func TestPowerTakesEverythingDown(t *testing.T) {
	l := New(t, "one")
	one := l.Host("one")
	one.Run("sh", "-c", "setsid sleep 4711 >/dev/null 2>&1 &")
	before := one.Run("cat", "/proc/sys/kernel/random/boot_id")
	if !eventually(func() bool { return running("sleep 4711") }) {
		t.Fatal("what was started on the host does not run")
	}
	one.PowerOff()
	if !eventually(func() bool { return !running("sleep 4711") }) {
		t.Error("a process outlives its host")
	}
	if c, err := net.DialTimeout("tcp", one.Address+":9", 300*time.Millisecond); err == nil {
		c.Close()
		t.Error("a host that is off answers")
	}
	one.PowerOn()
	if after := one.Run("cat", "/proc/sys/kernel/random/boot_id"); after == before {
		t.Error("a new boot has the old id")
	}
}

func TestNothingIsLeft(t *testing.T) {
	var cable string
	t.Run("lab", func(t *testing.T) { cable = New(t, "one").cable() })
	if cable == "" {
		t.Skip("no lab")
	}
	if !eventually(func() bool { return exec.Command("ip", "link", "show", cable).Run() != nil }) {
		t.Errorf("%s is left", cable)
	}
}

func running(command string) bool { return exec.Command("pgrep", "-f", "^"+command).Run() == nil }

// eventually says whether something becomes true within ten seconds.
func eventually(is func() bool) bool {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if is() {
			return true
		}
	}
	return is()
}

func TestSSHReachesEachHost(t *testing.T) {
	l := New(t, "one", "two")
	s := l.SSH()
	for _, h := range l.Hosts {
		if got := must(t, exec.Command("ssh", "-F", s.Config, h.Name, "hostname")); strings.TrimSpace(got) != h.Name {
			t.Errorf("ssh %s came to %s", h.Name, got)
		}
	}
}

func TestSlurmRunsATaskPerNode(t *testing.T) {
	l := New(t, "ctl", "n1", "n2")
	t.Setenv("SLURM_CONF", l.Slurm())
	got := must(t, exec.Command("srun", "-N2", "--ntasks-per-node=1", "--label", "hostname"))
	if !strings.Contains(got, "0: n1") || !strings.Contains(got, "1: n2") {
		t.Errorf("srun says %q", got)
	}
}
