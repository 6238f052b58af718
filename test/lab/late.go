package lab

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Late delays everything that the host is sent, and everything that it sends, until the host goes
// off. It replaces an earlier delay; two zeros only end that. Connections stay. The host must not be
// cut off meanwhile, and loses nothing afterwards but what Lose is told then. Where the kernel has
// no netem, frames wait in this process: never less than asked, and longer on a busy machine.
func (h *Host) Late(to, from time.Duration) {
	t := h.lab.t
	t.Helper()
	h.onTime()
	if to == 0 && from == 0 {
		return
	}
	if h.netem(to, from) {
		return
	}
	hub := h.lab.hub
	plug, wire := "late"+h.port, "wire"+h.port
	hub.must(t, "ip", "link", "add", plug, "type", "veth", "peer", "name", wire)
	hub.must(t, "ip", "link", "set", wire, "addrgenmode", "none", "up")
	host, away, err := tapped(hub, h.port, wire)
	if err != nil {
		t.Fatalf("making the cable of %s late: %v", h.Name, err)
	}
	hub.must(t, "ip", "link", "set", h.port, "nomaster")
	hub.must(t, "ip", "link", "set", plug, "master", "switch", "up")
	h.plug = plug
	h.forwards()
	go carry(host, away, from)
	go carry(away, host, to)
	onTime := func() {
		host.Close()
		away.Close()
	}
	t.Cleanup(onTime) // twice does no harm
	h.onTime = func() {
		onTime()
		h.plug, h.onTime = h.port, func() {}
		hub.must(t, "ip", "link", "del", plug)
		if h.machine != nil {
			hub.must(t, "ip", "link", "set", h.port, "master", "switch")
			h.forwards()
		}
	}
}

// netem has the kernel delay what the host is sent and what it sends, if it can.
func (h *Host) netem(to, from time.Duration) bool {
	delay := func(dev string, by time.Duration) []string {
		return []string{
			"tc", "qdisc", "add", "dev", dev, "root", "netem", "limit", "100000", "delay",
			strconv.FormatInt(by.Microseconds(), 10) + "us",
		}
	}
	if h.lab.hub.command(delay(h.port, to)...).Run() != nil {
		return false
	}
	h.Run(delay("eth0", from)...)
	h.onTime = func() {
		h.onTime = func() {}
		if h.machine != nil { // else both went with the cable
			h.lab.hub.must(h.lab.t, "tc", "qdisc", "del", "dev", h.port, "root")
			h.Run("tc", "qdisc", "del", "dev", "eth0", "root")
		}
	}
	return true
}

// tapped opens the network devices of a machine, each for the frames that it receives
// and for those that it is to send.
func tapped(m *machine, a, b string) (one, other *os.File, err error) {
	within, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", m.pid))
	if err != nil {
		return nil, nil, err
	}
	defer within.Close()
	done := make(chan struct{})
	go func() { // a socket stays in the network in which its thread made it
		defer close(done)
		runtime.LockOSThread()
		var home *os.File
		if home, err = os.Open("/proc/thread-self/ns/net"); err != nil {
			return
		}
		defer home.Close()
		if err = unix.Setns(int(within.Fd()), unix.CLONE_NEWNET); err != nil {
			return
		}
		if one, err = tap(a); err == nil {
			other, err = tap(b)
		}
		// a thread that goes takes with it the processes that it started which are to die with their parent
		if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
			err = errors.Join(err, back)
			return
		}
		runtime.UnlockOSThread()
	}()
	<-done
	return one, other, err
}

// tap opens a network device for whole frames, each after a header that says what the
// kernel has left to a network card: cutting it up, its checksum.
func tap(device string) (*os.File, error) {
	dev, err := net.InterfaceByName(device)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	for _, o := range []struct{ level, name, value int }{
		{unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1},
		{unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1},
		{unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 64 << 20}, // of frames of 64 KiB the usual one holds two
	} {
		if err := unix.SetsockoptInt(fd, o.level, o.name, o.value); err != nil {
			unix.Close(fd)
			return nil, os.NewSyscallError("setsockopt", err)
		}
	}
	const all = unix.ETH_P_ALL<<8&0xff00 | unix.ETH_P_ALL>>8 // in the network's order
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: dev.Index}); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("bind", err)
	}
	return os.NewFile(uintptr(fd), device), nil
}

// carry sends to one device what another receives, later and in its order, until they
// are closed.
func carry(from, to *os.File, late time.Duration) {
	type frame struct {
		due   time.Time
		bytes []byte
	}
	held := make(chan frame, 1<<16)
	defer close(held)
	go func() {
		for f := range held {
			time.Sleep(time.Until(f.due))
			to.Write(f.bytes) // a cable that was pulled loses what it carries
		}
	}()
	for buf := make([]byte, 128<<10); ; {
		n, err := from.Read(buf)
		if errors.Is(err, os.ErrClosed) {
			return
		}
		if err == nil { // else it was pulled, which it says once
			held <- frame{time.Now().Add(late), slices.Clone(buf[:n])}
		}
	}
}
