// Package lab makes hosts for tests: each is a process tree in namespaces of its own
// (network, host name, processes, mounts), with an address, a boot id, a home
// directory and a /dev/shm that no other host sees. Power, cables, delays and
// silent losses are switched while a test runs. Files in general are shared, as they are
// on a cluster with a network file system.
//
//	              lab's switch (a bridge in a namespace of its own)
//	the test ─────┬──────┬──────┐
//	10.77.x.1     a      b      c      10.77.x.11, 10.77.x.12, …
//
// Nothing outlives the test, however it ends: the first process of each host reads a
// pipe that the test holds, and the kernel takes the host down with that process, and
// its cable with its network.
//
// It is test support: no package of weir itself may import it.
package lab

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/weir-bench/weir/test/phase"
)

// Required is the environment variable that turns a lab that cannot be built from a
// skipped test into a failed one: "required" where the machine is meant to have it.
// Any other value asks for the tests of minutes too, as far as it has.
const Required = "WEIR_LAB"

// Lab is some hosts on one network.
type Lab struct {
	Dir     string // files of the lab, seen by all hosts
	Address string // of the machine that runs the test, as hosts see it
	Hosts   []*Host

	t      testing.TB
	subnet int
	hub    *machine // has the switch
}

// New makes a lab with a host of each name, all of them on and connected, until the
// test ends. It skips the test where the machine does not permit it.
func New(t testing.TB, names ...string) *Lab {
	t.Helper()
	phase.Long(t)
	phase.NotUnderRace(t) // hosts take time, and run programs that the detector does not see
	permitted(t)
	l := &Lab{Dir: t.TempDir(), t: t}
	l.openSwitch()
	for i, name := range names {
		port := fmt.Sprintf("port%d", i)
		l.Hosts = append(l.Hosts, &Host{
			Name: name, Address: l.address(11 + i), lab: l, port: port, plug: port, onTime: func() {},
		})
	}
	l.writeNames()
	for _, h := range l.Hosts {
		h.PowerOn()
	}
	return l
}

// Host is the host of that name.
func (l *Lab) Host(name string) *Host {
	for _, h := range l.Hosts {
		if h.Name == name {
			return h
		}
	}
	l.t.Helper()
	l.t.Fatalf("the lab has no host %s", name)
	return nil
}

// Need skips the test unless all these programs are here, and says which package of
// the distribution has them.
func Need(t testing.TB, distribution string, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			missing(t, fmt.Sprintf("%s is not here (Debian's %s; scripts/setup cluster installs it)", p, distribution))
		}
	}
}

// missing skips the test, or fails it where the lab is promised.
func missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv(Required) == "required" {
		t.Fatalf("%s=required, but %s", Required, why)
	}
	t.Skip(why)
}

func permitted(t testing.TB) {
	t.Helper()
	if os.Getuid() != 0 {
		missing(t, "network namespaces as hosts need root")
	}
	Need(t, "iproute2", "ip", "bridge")
	Need(t, "util-linux", "nsenter", "setpriv", "mount")
	probe := exec.Command("true")
	probe.SysProcAttr = apart()
	if out, err := probe.CombinedOutput(); err != nil {
		missing(t, fmt.Sprintf("namespaces are not permitted here: %v %s", err, out))
	}
}

func (l *Lab) address(last int) string { return fmt.Sprintf("10.77.%d.%d", l.subnet, last) }

// cable is the name of this machine's end of the lab's network. A name exists once
// in the kernel, so its creator owns the subnet, also among tests of other processes.
func (l *Lab) cable() string { return "weirlab" + strconv.Itoa(l.subnet) }

// openSwitch makes the switch and connects this machine to it.
func (l *Lab) openSwitch() {
	l.t.Helper()
	l.hub = l.boot("switch", "")
	l.hub.must(l.t, "ip", "link", "add", "switch", "type", "bridge")
	l.hub.must(l.t, "ip", "link", "set", "switch", "up")
	for l.subnet = 1; ; l.subnet++ {
		if l.subnet == 255 {
			l.t.Fatal("all 254 networks of labs are taken")
		}
		if taken(l.address(0)) {
			continue
		}
		out, err := exec.Command("ip", "link", "add", l.cable(), "type", "veth",
			"peer", "name", "tester", "netns", strconv.Itoa(l.hub.pid)).CombinedOutput()
		if err == nil {
			break
		}
		if !strings.Contains(string(out), "exists") {
			missing(l.t, fmt.Sprintf("a virtual cable cannot be made here: %v %s", err, out))
		}
	}
	l.Address = l.address(1)
	l.hub.must(l.t, "ip", "link", "set", "tester", "master", "switch", "up")
	must(l.t, exec.Command("ip", "addr", "add", l.Address+"/24", "dev", l.cable()))
	must(l.t, exec.Command("ip", "link", "set", l.cable(), "up"))
}

// taken says whether this machine has an address in a network already.
func taken(network string) bool {
	_, subnet, err := net.ParseCIDR(network + "/24")
	if err != nil {
		return true
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && subnet.Contains(ip.IP) {
			return true
		}
	}
	return false
}

// writeNames writes the /etc/hosts of all hosts.
func (l *Lab) writeNames() {
	l.t.Helper()
	text := "127.0.0.1 localhost\n" + l.Address + " tester\n"
	for _, h := range l.Hosts {
		text += h.Address + " " + h.Name + "\n"
	}
	l.Write("hosts", 0o644, text)
}

// Write writes a file of the lab and gives its path.
func (l *Lab) Write(name string, mode os.FileMode, text string) string {
	l.t.Helper()
	path := filepath.Join(l.Dir, name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		l.t.Fatal(err)
	}
	return path
}

func must(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return string(out)
}
