package lab

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// machine is a set of namespaces and the process that keeps them.
type machine struct {
	pid  int
	cmd  *exec.Cmd
	life *os.File // closed: the machine is off
}

func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
		Setpgid:    true, // an interrupt at the terminal is for the test
	}
}

// firmware prepares a machine and then is its first process, which reaps what is
// orphaned and goes when its standard input ends. Control groups stay as they are
// under the new /sys, which shows the machine's own network devices.
const firmware = `set -e
mount --make-rprivate /
mount -t proc proc /proc
echo "$NAME" >/proc/sys/kernel/hostname
if [ -n "$OWN" ]; then
  mkdir -p "$OWN/cgroup"
  cat /proc/sys/kernel/random/uuid >"$OWN/boot_id"
  mount --bind "$OWN/boot_id" /proc/sys/kernel/random/boot_id
  mount --rbind /sys/fs/cgroup "$OWN/cgroup"
  mount -t sysfs sysfs /sys
  mount --rbind "$OWN/cgroup" /sys/fs/cgroup
  mount --bind "$OWN/../hosts" /etc/hosts
  for d in /run /dev/shm "$HOME"; do mount -t tmpfs -o mode=755 tmpfs "$d"; done
  chmod 1777 /dev/shm
  mkdir /run/sshd
fi
ip link set lo up
exec 3<&0
cat <&3 >/dev/null &
echo ready
wait $!
`

// boot starts a machine. Without a directory of its own it has this machine's files
// as they are.
func (l *Lab) boot(name, own string) *machine {
	l.t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		l.t.Fatal(err)
	}
	defer read.Close()
	errs, err := os.Create(filepath.Join(l.Dir, name+".boot"))
	if err != nil {
		l.t.Fatal(err)
	}
	defer errs.Close()
	cmd := exec.Command("/bin/sh", "-c", firmware)
	cmd.Env = append(os.Environ(), "NAME="+name, "OWN="+own)
	cmd.Dir = "/"
	cmd.SysProcAttr = apart()
	cmd.Stdin, cmd.Stderr = read, errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		l.t.Fatalf("starting host %s: %v", name, err)
	}
	m := &machine{pid: cmd.Process.Pid, cmd: cmd, life: write}
	l.t.Cleanup(m.off)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		why, _ := os.ReadFile(errs.Name()) // what the reading says is enough where it cannot be read
		l.t.Fatalf("host %s does not boot: %q, %v\n%s", name, line, err, why)
	}
	return m
}

// off takes the machine down with all that runs on it, at once and without a word.
func (m *machine) off() {
	if m.life == nil {
		return
	}
	m.cmd.Process.Kill() // gone already: so is all the rest
	m.cmd.Wait()         // says that it was killed
	m.life.Close()
	m.life = nil
}

// command is one that runs on the machine. It ends with the nsenter that it is
// started by, so killing that is enough.
func (m *machine) command(argv ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{
		"-t", strconv.Itoa(m.pid), "--net", "--uts", "--mount", "--pid", "--", "setpriv", "--pdeathsig", "KILL", "--",
	}, argv...)...)
}

func (m *machine) must(t testing.TB, argv ...string) string {
	t.Helper()
	out, err := m.command(argv...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return string(out)
}
