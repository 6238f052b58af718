package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Host is one host of a lab.
type Host struct {
	Name    string // its host name, which all hosts of the lab resolve
	Address string // IPv4

	lab     *Lab
	port    string // its cable's end at the switch
	plug    string // what is in the switch: the port, or what stands before a late cable
	onTime  func() // ends that the cable is late
	machine *machine
}

// Cut is a way in which a host can be cut off.
type Cut int

const (
	Silent Cut = iota // packets vanish, both ways; nobody is told
	Loud              // the cable is pulled: both ends see that the link is down
)

// PowerOn boots the host, with an empty home directory and a new boot id, and plugs
// it in. It does nothing to a host that is on.
func (h *Host) PowerOn() {
	t := h.lab.t
	t.Helper()
	if h.machine != nil {
		return
	}
	own := filepath.Join(h.lab.Dir, h.Name)
	if err := os.MkdirAll(own, 0o755); err != nil {
		t.Fatal(err)
	}
	h.machine = h.lab.boot(h.Name, own)
	hub := h.lab.hub
	hub.must(t, "ip", "link", "add", h.port, "type", "veth", "peer", "name", "eth0")
	// from this machine, where the process numbers of both are known
	must(t, exec.Command("nsenter", "-t", strconv.Itoa(hub.pid), "--net", "ip", "link", "set", "eth0", "netns",
		strconv.Itoa(h.machine.pid)))
	h.Run("ip", "addr", "add", h.Address+"/24", "dev", "eth0")
	h.Run("ip", "link", "set", "eth0", "up")
	hub.must(t, "ip", "link", "set", h.port, "master", "switch", "up")
	h.forwards()
}

// forwards waits until the switch has noticed that a cable was plugged in: what is told to
// its port before, as to be silent, is forgotten then.
func (h *Host) forwards() {
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		said := h.lab.hub.must(h.lab.t, "bridge", "link", "show", "dev", h.plug)
		if strings.Contains(said, "state forwarding") {
			return
		}
		if time.Now().After(end) {
			h.lab.t.Fatalf("the switch does not notice %s: %s", h.Name, said)
		}
	}
}

// PowerOff ends everything that runs on the host at once, and the host with it: its
// peers hear nothing, as nobody is there to say goodbye.
func (h *Host) PowerOff() {
	if h.machine == nil {
		return
	}
	h.lab.t.Helper()
	// silence first: the kernel that all hosts share would close their connections for them
	h.Cut(Silent)
	h.machine.off()
	h.machine = nil
	h.onTime()
	// the other end went with the host's network, at a moment of the kernel's choice
	_ = h.lab.hub.command("ip", "link", "del", h.port).Run()
}

// Cut cuts the host off from all others and from the test; what runs on it goes on.
func (h *Host) Cut(how Cut) {
	h.lab.t.Helper()
	if how == Loud {
		h.lab.hub.must(h.lab.t, "ip", "link", "set", h.port, "down")
		return
	}
	h.lab.hub.must(h.lab.t, "bridge", "link", "set", "dev", h.plug, "state", "0")
}

// Heal ends whatever cut the host off.
func (h *Host) Heal() {
	h.lab.t.Helper()
	h.lab.hub.must(h.lab.t, "ip", "link", "set", h.port, "up")
	// the port of a link that was down forwards by itself once both ends have noticed, and
	// cannot be told to before
	for end := time.Now().Add(2 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		cmd := h.lab.hub.command("bridge", "link", "set", "dev", h.plug, "state", "3")
		if out, err := cmd.CombinedOutput(); err == nil {
			return
		} else if time.Now().After(end) {
			h.lab.t.Errorf("plugging %s in again: %v\n%s", h.Name, err, out)
			return
		}
	}
}

// Lose makes that share of the packets that the host sends vanish, of 100; 0: none.
// A packet here can be a burst of 64 KiB that a network card would have cut up.
func (h *Host) Lose(percent int) {
	t := h.lab.t
	t.Helper()
	Need(t, "nftables", "nft")
	table := "loss_" + h.port
	_ = h.lab.hub.command("nft", "delete", "table", "netdev", table).Run() // there need not be one
	if percent == 0 {
		return
	}
	h.lab.hub.must(t, "nft", "add table netdev "+table+"; add chain netdev "+table+
		" in { type filter hook ingress device "+h.plug+
		" priority 0; }; add rule netdev "+table+" in numgen random mod 100 <= "+strconv.Itoa(percent-1)+" drop")
}

// Process is a process of this machine that has the host's network and mounts, until
// the host goes off.
func (h *Host) Process() int {
	if h.machine == nil {
		h.lab.t.Helper()
		h.lab.t.Fatalf("%s is off", h.Name)
	}
	return h.machine.pid
}

// Command is a command that will run on the host, in / with the test's environment.
// Killing it kills what runs there, but not that one's children; power does.
func (h *Host) Command(argv ...string) *exec.Cmd {
	if h.machine == nil {
		h.lab.t.Helper()
		h.lab.t.Fatalf("%s is off", h.Name)
	}
	return h.machine.command(argv...)
}

// Run runs a command on the host, which must succeed, and gives its output.
func (h *Host) Run(argv ...string) string {
	h.lab.t.Helper()
	return must(h.lab.t, h.Command(argv...))
}

// Daemon starts a command that runs on the host until the host goes off; its output
// is in the lab's directory, in the file that is returned.
func (h *Host) Daemon(name string, argv ...string) (log string) {
	t := h.lab.t
	t.Helper()
	file, err := os.Create(filepath.Join(h.lab.Dir, h.Name, name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd := h.Command(argv...)
	cmd.Stdout, cmd.Stderr = file, file
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting %s on %s: %v", name, h.Name, err)
	}
	go cmd.Wait() // it ends with the host
	return file.Name()
}
