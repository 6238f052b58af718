package lab

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// slurmConf makes the lab's cluster. Its nodes say that they have four processors,
// whatever this machine has.
const slurmConf = `ClusterName=weirlab
SlurmctldHost=%[2]s(%[3]s)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket=%[1]s/munge.sock
StateSaveLocation=%[1]s/state
SlurmdSpoolDir=%[1]s/spool-%%n
SlurmctldPidFile=%[1]s/slurmctld.pid
SlurmdPidFile=%[1]s/slurmd-%%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=2
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SlurmdParameters=config_overrides
MinJobAge=300
KillWait=5
SlurmctldTimeout=30
SlurmdTimeout=30
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=short Nodes=ALL MaxTime=1 State=UP
`

// Slurm makes a Slurm cluster of the lab: its first host has the controller, the
// others are nodes. The Slurm commands of this machine reach it with SLURM_CONF set
// to the file that is returned; a test that does that cannot run in parallel.
func (l *Lab) Slurm() (conf string) {
	l.t.Helper()
	Need(l.t, "munge", "munged")
	Need(l.t, "slurm-wlm", "slurmctld", "slurmd", "sinfo", "sbatch", "srun")
	if len(l.Hosts) < 2 {
		l.t.Fatal("a Slurm cluster needs a controller and a node")
	}
	dir := filepath.Join(l.Dir, "slurm")
	if err := os.MkdirAll(filepath.Join(dir, "state"), 0o755); err != nil {
		l.t.Fatal(err)
	}
	controller, nodes := l.Hosts[0], l.Hosts[1:]
	text := fmt.Sprintf(slurmConf, dir, controller.Name, controller.Address)
	for _, h := range nodes {
		text += fmt.Sprintf("NodeName=%s NodeHostname=%s NodeAddr=%s CPUs=4 RealMemory=2000 State=UNKNOWN\n", h.Name,
			h.Name, h.Address)
	}
	conf = l.Write("slurm/slurm.conf", 0o644, text)
	l.Write("slurm/munge.key", 0o400, rand.Text()+rand.Text())

	socket := filepath.Join(dir, "munge.sock")
	log := controller.Daemon("munged", "munged", "--foreground", "--force", "--key-file="+dir+"/munge.key",
		"--socket="+socket,
		"--pid-file="+dir+"/munged.pid", "--log-file="+dir+"/munged.log", "--seed-file="+dir+"/munged.seed")
	controller.await("munged", log, func() bool { _, err := os.Stat(socket); return err == nil })
	log = controller.Daemon("slurmctld", "slurmctld", "-D", "-f", conf)
	for _, h := range nodes {
		h.Slurmd()
	}
	controller.await("slurmctld", log, func() bool {
		sinfo := exec.Command("sinfo", "-h", "-N", "-p", "debug", "-t", "idle", "-o", "%N")
		sinfo.Env = append(os.Environ(), "SLURM_CONF="+conf)
		out, _ := sinfo.Output() // until the controller listens, it fails
		return len(strings.Fields(string(out))) == len(nodes)
	})
	return conf
}

// Slurmd starts the host's slurmd again, after a PowerOn.
func (h *Host) Slurmd() {
	h.lab.t.Helper()
	dir := filepath.Join(h.lab.Dir, "slurm")
	if err := os.MkdirAll(filepath.Join(dir, "spool-"+h.Name), 0o755); err != nil {
		h.lab.t.Fatal(err)
	}
	h.Daemon("slurmd", "slurmd", "-D", "-f", filepath.Join(dir, "slurm.conf"), "-N", h.Name)
}
