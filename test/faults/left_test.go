package faults

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// leftovers are processes, files, memory and sockets that a session should have taken with
// it. What a coordinator that was killed has left on its host, the next session there takes.
func (w *cluster) leftovers() (all []string) {
	for _, p := range w.own() {
		all = append(all, fmt.Sprintf("process %d: %s", p.pid, strings.Join(p.argv, " ")))
	}
	if !w.killed {
		all = append(all, inDir(w.path("tmp"))...)
		all = append(all, w.abandoned("/dev/shm")...)
	}
	for _, n := range w.nodes {
		pid := n.pid()
		all = append(all, inDir(n.tmp)...)
		if n.host == nil {
			continue
		}
		// through the agent: no other process is on its host all the time
		all = append(all, inDir(fmt.Sprintf("/proc/%d/root/dev/shm", pid))...)
		for _, socket := range sockets(pid) {
			if !strings.HasPrefix(w.etcdURL, w.secure.scheme()+socket) {
				all = append(all, fmt.Sprintf("node %s has a socket to %q", n.name, socket))
			}
		}
	}
	return all
}

func inDir(dir string) (all []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return []string{err.Error()}
	}
	for _, e := range entries {
		all = append(all, filepath.Join(dir, e.Name()))
	}
	return all
}

// abandoned are the directories of this world's sessions that live no more, on this machine,
// which others share.
func (w *cluster) abandoned(root string) (all []string) {
	locks, _ := filepath.Glob(filepath.Join(root, "weir-*", ".weir-scratch")) // only a bad pattern is an error
	for _, lock := range locks {
		f, err := os.Open(lock)
		if err != nil {
			continue // it goes
		}
		if owner, err := io.ReadAll(f); err == nil && strings.Contains(string(owner), w.dir) &&
			unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil {
			all = append(all, filepath.Dir(lock))
		}
		f.Close()
	}
	return all
}

// sockets are where those of a process's host lead, as far as they are open: "listening"
// for those that nobody called.
func sockets(pid int) (all []string) {
	for _, family := range []string{"tcp", "tcp6"} {
		f, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", pid, family))
		if err != nil {
			return []string{err.Error()}
		}
		in := bufio.NewScanner(f)
		for in.Scan(); in.Scan(); { // the first line is a heading
			switch fields := strings.Fields(in.Text()); fields[3] {
			case "0A":
				all = append(all, "listening")
			case "01":
				all = append(all, remote(fields[2]))
			}
		}
		f.Close()
	}
	return all
}

// remote reads an address as the kernel writes it: bytes of a word backwards, in
// hexadecimal. Of IPv6 the last word counts.
func remote(text string) string {
	var a, b, c, d, port int
	host, tail, _ := strings.Cut(text, ":")
	if _, err := fmt.Sscanf(host[len(host)-8:]+" "+tail, "%2x%2x%2x%2x %x", &d, &c, &b, &a, &port); err != nil {
		return text
	}
	return fmt.Sprintf("%d.%d.%d.%d:%d", a, b, c, d, port)
}
