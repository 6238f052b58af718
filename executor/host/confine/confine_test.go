package confine

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// atStart is the status of this process before any test had its first thread confined.
var atStart, _ = os.ReadFile("/proc/self/status")

// status are fields of /proc/self/status of a process that is started on a thread of its own.
func status(t *testing.T, confined bool, u *User) map[string]string {
	t.Helper()
	type result struct {
		out []byte
		err error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread() // and ends with it
		if confined {
			if err := Thread(); err != nil {
				done <- result{nil, err}
				return
			}
		}
		cmd := exec.Command("cat", "/proc/self/status")
		cmd.SysProcAttr = &syscall.SysProcAttr{}
		u.Starts(cmd.SysProcAttr)
		out, err := cmd.Output()
		done <- result{out, err}
	}()
	r := <-done
	if r.err != nil {
		t.Fatal(r.err)
	}
	fields := map[string]string{}
	for line := range strings.Lines(string(r.out)) {
		name, value, _ := strings.Cut(line, ":")
		fields[name] = strings.Join(strings.Fields(value), " ")
	}
	return fields
}

// kept are the capabilities IPC_LOCK and SYS_NICE.
const kept = "0000000000804000"

// A process that a confined thread starts cannot gain privileges, and has two of root's.
func TestWhatAThreadStartsHasNoPrivileges(t *testing.T) {
	s := status(t, true, nil)
	if s["NoNewPrivs"] != "1" {
		t.Errorf("NoNewPrivs %s", s["NoNewPrivs"])
	}
	if os.Geteuid() == 0 && (s["CapEff"] != kept || s["CapPrm"] != kept || s["CapBnd"] != kept) {
		t.Errorf("as root: CapEff %s, CapPrm %s, CapBnd %s, want %s", s["CapEff"], s["CapPrm"], s["CapBnd"], kept)
	}
	other := status(t, false, nil)["NoNewPrivs"]
	if !strings.Contains(string(atStart), "NoNewPrivs:\t"+other+"\n") {
		t.Errorf("on another thread: NoNewPrivs %s", other)
	}
}

func TestAProcessIsAnotherUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can start processes as another user")
	}
	u, err := ParseUser("65534")
	if err != nil {
		t.Fatal(err)
	}
	s := status(t, true, u)
	if s["Uid"] != "65534 65534 65534 65534" || s["Gid"] != "65534 65534 65534 65534" || s["CapEff"] != kept ||
		s["NoNewPrivs"] != "1" {
		t.Errorf("Uid %s, Gid %s, CapEff %s, NoNewPrivs %s", s["Uid"], s["Gid"], s["CapEff"], s["NoNewPrivs"])
	}
	dir := t.TempDir()
	if err := u.Own(dir); err != nil {
		t.Fatal(err)
	}
	var st syscall.Stat_t
	if err := syscall.Stat(dir, &st); err != nil || st.Uid != 65534 {
		t.Errorf("owner %d, %v", st.Uid, err)
	}
}

// Files that only root reads are not opened for another user, nor is anything but for the
// goroutine that asked for it.
func TestFilesAreOpenedAsTheUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can open files as another user")
	}
	u, err := ParseUser("65534")
	if err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		if err := u.Opens(); err != nil {
			t.Error(err)
		}
		_, err := os.ReadFile(secret)
		done <- err
	}()
	if err := <-done; !os.IsPermission(err) {
		t.Errorf("as another user: %v", err)
	}
	if _, err := os.ReadFile(secret); err != nil {
		t.Errorf("as root again: %v", err)
	}
}

func TestUsers(t *testing.T) {
	for text, want := range map[string]struct {
		uid, gid uint32
		name     string
	}{
		"root": {0, 0, "root"}, "0": {0, 0, "root"}, "4000000": {4000000, 4000000, "4000000"},
		"4000000:7": {4000000, 7, "4000000"}, "root:0": {0, 0, "root"},
	} {
		u, err := ParseUser(text)
		if err != nil || u.uid != want.uid || u.gid != want.gid || u.String() != want.name {
			t.Errorf("%s: %+v, %v", text, u, err)
		}
	}
	for _, text := range []string{"", ":", "no-such-user", "-1", "root:no-such-group", "99999999999"} {
		if u, err := ParseUser(text); err == nil {
			t.Errorf("%q is %+v", text, u)
		}
	}
	u := &User{name: "u", home: "/home/u"}
	got := u.Environment([]string{"HOME=/root", "PATH=/bin", "XDG_RUNTIME_DIR=/run/user/0", "USER=root"})
	if text := strings.Join(got, " "); text != "PATH=/bin HOME=/home/u USER=u LOGNAME=u" {
		t.Error(text)
	}
}

func TestThisProcessLeavesNoCore(t *testing.T) {
	before, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Prctl(unix.PR_SET_DUMPABLE, uintptr(before), 0, 0, 0)
	if err := NoDumps(); err != nil {
		t.Fatal(err)
	}
	if now, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || now != 0 {
		t.Errorf("dumpable %d, %v", now, err)
	}
	if s := status(t, false, nil); s["CoreDumping"] == "1" {
		t.Error("what it starts is dumping")
	}
}
