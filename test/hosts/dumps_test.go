package hosts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Agents and coordinators, which hold keys, leave no core dump, nor can another process of their
// user read their memory: the kernel gives what it tells of such a process to root.
func TestAgentsAndCoordinatorsLeaveNoCore(t *testing.T) {
	t.Parallel()
	program := weir(t)
	user := os.Getuid()
	dir, err := os.MkdirTemp("", "dumps")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if user == 0 { // its processes are root's in any case
		user = 65534
		open(t, program, dir)
		program = filepath.Join(dir, "program")
	}
	run := func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "TMPDIR="+dir)
		if user != os.Getuid() {
			as := &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
		}
		return cmd
	}
	start(t, run("cluster", "init", "ca", "--node", "a")).ends(0)
	scenario := write(t, "scenario.yaml", ucxOnOneNode)
	text, err := os.ReadFile(scenario)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "scenario.yaml"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	const nobody = "http://127.0.0.1:9" // no etcd answers there, and both wait for one
	for _, args := range [][]string{
		{"agent", "--etcd", nobody, "--node", "a", "--state", "state", "--cluster", "ca"},
		{"run", "scenario.yaml", "--etcd", nobody, "--cluster", "ca", "--out", "out"},
	} {
		p := start(t, run(args...))
		owner := uint32(user)
		await(t, args[0]+" is not dumpable", 30*time.Second, func() bool {
			st, err := os.Stat(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "environ"))
			if err == nil {
				owner = st.Sys().(*syscall.Stat_t).Uid
			}
			return owner == 0 || err != nil
		}, p.said)
		if owner != 0 {
			t.Errorf("%v ended as a process of user %d:\n%s", args, owner, p.said())
		}
		p.signal(syscall.SIGKILL)
	}
}

// open copies a program to where any user may run it and write.
func open(t *testing.T, program, dir string) {
	t.Helper()
	// by another process: one that this one forks meanwhile would hold the file open for writing
	err := exec.Command("install", "-m", "755", program, filepath.Join(dir, "program")).Run()
	if err == nil {
		err = os.Chown(dir, 65534, 65534)
	}
	if err != nil {
		t.Fatal(err)
	}
}
