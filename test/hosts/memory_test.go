package hosts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
)

// memoryGroup makes a control group with little memory, of version 1 or 2, and returns the file that takes processes.
func memoryGroup(t *testing.T, bytes string) string {
	t.Helper()
	for _, v := range []struct{ root, limit, swap string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"},
		{"/sys/fs/cgroup", "memory.max", "memory.swap.max"},
	} {
		dir := filepath.Join(v.root, "weir-test-"+filepath.Base(t.TempDir()))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() {
			for until := time.Now().Add(5 * time.Second); os.Remove(dir) != nil && time.Now().Before(until); {
				time.Sleep(10 * time.Millisecond) // its last process is ending
			}
		})
		if os.WriteFile(filepath.Join(dir, v.limit), []byte(bytes), 0o644) == nil {
			_ = os.WriteFile(filepath.Join(dir, v.swap), []byte("0"), 0o644) // not where swap is not counted
			return filepath.Join(dir, "cgroup.procs")
		}
	}
	t.Skip("the controller memory is not this process's to use")
	return ""
}

// Where a control group has too little memory, buffers of ranks are refused before they are made. If it runs out, the
// kernel ends the process with most of it. The session goes on to its end, and names the process and the reason.
func TestMemoryRunsOutInAControlGroup(t *testing.T) {
	const eater = `[python3, -c, "import time; a=[]\nwhile True: a.append(bytearray(16<<20)); time.sleep(0.01)"]`
	const killed = "killed by signal 9 (SIGKILL): memory ran out, and the kernel killed "
	for _, c := range []struct{ name, run, says string }{
		{"buffers of ranks", "workload: transfer\n    options: {fabric: shm, block_size: 1GiB, in_flight: 1}",
			"need 4.004 GiB of memory on this node, and 0.3"},
		{"a program of a role", "workload: command\n    options: {roles: {eater: {command: " + eater + "}}}",
			"role eater: " + killed},
		{"a service", "workload: transfer\n    services: [eater]\n    options: {fabric: shm, block_size: 4KiB, duration: 30s}",
			"service eater: it ended while it was needed: " + killed},
	} {
		t.Run(c.name, func(t *testing.T) {
			bin, dir := weir(t), t.TempDir()
			group := memoryGroup(t, "400M")
			file, out := filepath.Join(dir, "s.yaml"), filepath.Join(dir, "out")
			scenario := "scenario: memory\nservices:\n  eater: {command: " + eater + "}\nruns:\n" +
				"  after: {workload: transfer, launches: 1, needs: a, options: {fabric: shm, block_size: 4KiB}}\n" +
				"  a:\n    " + c.run + "\n    launches: 1\n"
			if err := os.WriteFile(file, []byte(scenario), 0o644); err != nil {
				t.Fatal(err)
			}
			inGroup := "echo $$ >" + group + " && exec "
			p := start(t, exec.Command("sh", "-c", inGroup+bin+" run "+file+" --quiet --out "+out))
			p.ends(6)
			doc := document(t, out)
			text := ""
			for _, k := range doc.Cases {
				for _, l := range k.Launches {
					if l.Failure != nil {
						text += l.Failure.Cause + "\n"
					}
				}
			}
			if !strings.Contains(text, c.says) || doc.Session.Status != results.Error {
				t.Errorf("%s: %q", doc.Session.Status, text)
			}
		})
	}
}
