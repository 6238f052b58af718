package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// container is what a process needs to look like a container: namespaces of its
// own for mounts, PIDs and the host name, its machine's files but for its volumes.
type container struct {
	machine string // process that lends its network and mounts; "": this one
	Host    string
	Argv    []string
	Env     []string
	Mounts  []mount
}

// mount is a directory that is bound, or memory.
type mount struct {
	Path, Source string // Source "": memory
	ReadOnly     bool
}

// prepare works out what the pod's first container is and lays its volumes down.
func (k *kubelet) prepare(ctx context.Context, p *core.Pod, n node) (*container, error) {
	c := p.Spec.Containers[0]
	out := &container{machine: n.process, Host: p.Spec.Hostname}
	if out.Host == "" {
		out.Host = p.Name
	}
	if p.Spec.HostNetwork {
		out.Host = n.name
	}
	out.Env = append(out.Env, "PATH="+os.Getenv("PATH"), "HOSTNAME="+out.Host)
	known := map[string]string{}
	for _, e := range c.Env {
		v := expand(e.Value, known)
		if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil {
			v = field(p, n, e.ValueFrom.FieldRef.FieldPath)
		}
		if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
			ref := e.ValueFrom.SecretKeyRef
			s, err := k.api.CoreV1().Secrets(p.Namespace).Get(ctx, ref.Name, meta.GetOptions{})
			if err != nil {
				return nil, err
			}
			v = string(s.Data[ref.Key])
		}
		known[e.Name] = v
		out.Env = append(out.Env, e.Name+"="+v)
	}
	for _, a := range append(append([]string{}, c.Command...), c.Args...) {
		out.Argv = append(out.Argv, expand(a, known))
	}
	volumes := map[string]core.Volume{}
	for _, v := range p.Spec.Volumes {
		volumes[v.Name] = v
	}
	for _, m := range c.VolumeMounts {
		source, err := k.volume(ctx, p, volumes[m.Name])
		if err != nil {
			return nil, fmt.Errorf("MountVolume.SetUp failed for volume %q: %w", m.Name, err)
		}
		out.Mounts = append(out.Mounts, mount{m.MountPath, source, m.ReadOnly})
	}
	return out, nil
}

// volume lays the files of a volume down; "" is memory.
func (k *kubelet) volume(ctx context.Context, p *core.Pod, v core.Volume) (string, error) {
	dir := filepath.Join(k.dir, "volumes", string(p.UID), v.Name)
	switch {
	case v.EmptyDir != nil && v.EmptyDir.Medium == core.StorageMediumMemory:
		return "", nil
	case v.EmptyDir != nil:
		return dir, os.MkdirAll(dir, 0o777)
	case v.Secret != nil:
		s, err := k.api.CoreV1().Secrets(p.Namespace).Get(ctx, v.Secret.SecretName, meta.GetOptions{})
		if err != nil {
			return "", err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		for _, file := range v.Secret.Items {
			if err := os.WriteFile(filepath.Join(dir, file.Path), s.Data[file.Key],
				os.FileMode(*v.Secret.DefaultMode)); err != nil {
				return "", err
			}
		}
		return dir, nil
	}
	return "", fmt.Errorf("the lab has no volume of this kind")
}

func expand(text string, known map[string]string) string {
	for name, v := range known {
		text = strings.ReplaceAll(text, "$("+name+")", v)
	}
	return text
}

// field is a field of the pod as the downward API gives it.
func field(p *core.Pod, n node, path string) string {
	of := func(m map[string]string) string {
		return m[strings.TrimSuffix(path[strings.Index(path, "['")+2:], "']")]
	}
	switch {
	case strings.HasPrefix(path, "metadata.annotations["):
		return of(p.Annotations)
	case strings.HasPrefix(path, "metadata.labels["):
		return of(p.Labels)
	}
	return map[string]string{
		"metadata.name": p.Name, "metadata.namespace": p.Namespace, "metadata.uid": string(p.UID),
		"spec.nodeName": n.name, "status.podIP": n.address, "status.hostIP": n.address,
	}[path]
}

// command starts this program again as the first process of the pod.
func (c *container) command() *exec.Cmd {
	spec, err := json.Marshal(c)
	if err != nil {
		fail("%v", err)
	}
	self, err := os.Executable()
	if err != nil {
		fail("%v", err)
	}
	argv := []string{self, "pod", string(spec)}
	if c.machine != "" {
		argv = append([]string{"nsenter", "--target", c.machine, "--net", "--mount", "--"}, argv...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Cloneflags: syscall.CLONE_NEWUTS | syscall.CLONE_NEWPID}
	return cmd
}

// bootFile says which boot of which machine this is.
const bootFile = "/proc/sys/kernel/random/boot_id"

// becomePod makes the mounts and becomes the container's program.
func becomePod() {
	runtime.LockOSThread() // mounts of its own are the thread's
	var c container
	try("reading what to be", json.Unmarshal([]byte(os.Args[1]), &c))
	try("host name", unix.Sethostname([]byte(c.Host)))
	boot, err := os.ReadFile(bootFile)
	try("boot id", err)
	try("own mounts", unix.Unshare(unix.CLONE_NEWNS))
	try("own mounts", unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	try("/proc", unix.Mount("proc", "/proc", "proc", 0, ""))
	f, err := os.CreateTemp("", "boot-id-")
	try("boot id", err)
	_, err = f.Write(boot)
	try("boot id", err)
	// the machine's own, which the new /proc has not
	try("boot id", unix.Mount(f.Name(), bootFile, "", unix.MS_BIND, ""))
	try("boot id", os.Remove(f.Name()))
	try("boot id", f.Close())
	for _, m := range c.Mounts {
		try(m.Path, os.MkdirAll(m.Path, 0o755))
		if m.Source == "" {
			try(m.Path, unix.Mount("tmpfs", m.Path, "tmpfs", 0, "mode=1777"))
			continue
		}
		try(m.Path, unix.Mount(m.Source, m.Path, "", unix.MS_BIND, ""))
		if m.ReadOnly {
			try(m.Path, unix.Mount("", m.Path, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
		}
	}
	program, err := exec.LookPath(c.Argv[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(127)
	}
	try(program, unix.Exec(program, c.Argv, c.Env))
}

func try(what string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(128)
	}
}
