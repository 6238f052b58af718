package main

import (
	"context"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// process is the first container of a pod; the others are not run.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// kill ends the process and its namespace: it is the first process there.
func (p *process) kill() { syscall.Kill(p.cmd.Process.Pid, syscall.SIGKILL) }

// podTable has every pod that was begun, also those that cannot start (nil).
type podTable struct {
	mu sync.Mutex
	of map[types.UID]*process
}

// begin says whether this is the first time that the pod is seen.
func (t *podTable) begin(uid types.UID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[types.UID]*process{}
	}
	_, known := t.of[uid]
	if !known {
		t.of[uid] = nil
	}
	return !known
}

func (t *podTable) set(uid types.UID, p *process) { t.mu.Lock(); t.of[uid] = p; t.mu.Unlock() }

func (t *podTable) get(uid types.UID) *process { t.mu.Lock(); defer t.mu.Unlock(); return t.of[uid] }

func (t *podTable) kill(uid types.UID) {
	if p := t.get(uid); p != nil {
		p.kill()
	}
}

func (t *podTable) killAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.of {
		if p != nil {
			p.kill()
			<-p.done
		}
	}
}

// sync makes of a pod what the API server says of it.
func (k *kubelet) sync(ctx context.Context, p *core.Pod, n node) {
	switch {
	case p.DeletionTimestamp != nil:
		go k.end(ctx, p)
	case p.Status.Phase == core.PodPending && k.pods.begin(p.UID):
		go k.start(ctx, p, n)
	}
}

// end lets a pod end within its grace and takes it off the API server.
func (k *kubelet) end(ctx context.Context, p *core.Pod) {
	if r := k.pods.get(p.UID); r != nil {
		grace := 30 * time.Second
		if p.DeletionGracePeriodSeconds != nil {
			grace = time.Duration(*p.DeletionGracePeriodSeconds) * time.Second
		}
		syscall.Kill(r.cmd.Process.Pid, syscall.SIGTERM)
		select {
		case <-r.done:
		case <-time.After(grace):
			r.kill()
			<-r.done
		}
	}
	k.remove(ctx, p)
}

func (k *kubelet) remove(ctx context.Context, p *core.Pod) {
	now := int64(0)
	err := k.api.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, meta.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: &meta.Preconditions{UID: &p.UID},
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		log.Print(err)
	}
}

// start runs the pod's container. An image of registry.invalid cannot be pulled;
// all others are this machine.
func (k *kubelet) start(ctx context.Context, p *core.Pod, n node) {
	c := p.Spec.Containers[0]
	if strings.HasPrefix(c.Image, "registry.invalid/") {
		k.cannotPull(ctx, p, c)
		return
	}
	spec, err := k.prepare(ctx, p, n)
	if err != nil {
		k.event(ctx, p, "FailedMount", err.Error())
		time.Sleep(500 * time.Millisecond) // as a kubelet does, again and again
		if cur, gone := k.api.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, meta.GetOptions{}); gone == nil &&
			cur.UID == p.UID && cur.DeletionTimestamp == nil {
			k.start(ctx, p, n)
		}
		return
	}
	out, err := os.Create(k.logPath(p.Namespace, p.Name))
	if err != nil {
		log.Fatal(err)
	}
	defer out.Close()
	cmd := spec.command()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	r := &process{cmd, make(chan struct{})}
	k.pods.set(p.UID, r)
	began := meta.Now()
	wanted := k.status(ctx, p, func(s *core.PodStatus) {
		started := true
		s.Phase, s.HostIP, s.PodIP, s.StartTime = core.PodRunning, n.address, n.address, &began
		s.PodIPs = []core.PodIP{{IP: n.address}}
		s.Conditions = []core.PodCondition{
			{Type: "Initialized", Status: "True"}, {Type: "Ready", Status: "True", LastTransitionTime: began},
			{Type: "ContainersReady", Status: "True"}, {Type: "PodScheduled", Status: "True"},
		}
		s.ContainerStatuses = []core.ContainerStatus{
			{
				Name: c.Name, Image: c.Image, Ready: true, Started: &started,
				State: core.ContainerState{Running: &core.ContainerStateRunning{StartedAt: began}},
			},
		}
	})
	if !wanted { // it was deleted just before there was anything to end
		r.kill()
	}
	cmd.Wait()
	code := int32(cmd.ProcessState.ExitCode())
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
		code = 128 + int32(ws.Signal())
	}
	close(r.done)
	k.status(ctx, p, func(s *core.PodStatus) { ended(s, c, code, began) })
	if cur, err := k.api.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, meta.GetOptions{}); err == nil &&
		cur.UID == p.UID && cur.DeletionTimestamp != nil {
		k.remove(ctx, p)
	}
}

func ended(s *core.PodStatus, c core.Container, code int32, began meta.Time) {
	reason := "Completed"
	s.Phase = core.PodSucceeded
	if code != 0 {
		s.Phase, reason = core.PodFailed, "Error"
	}
	for i := range s.Conditions {
		if t := s.Conditions[i].Type; t == "Ready" || t == "ContainersReady" {
			s.Conditions[i].Status, s.Conditions[i].Reason = "False", "PodCompleted"
		}
	}
	s.ContainerStatuses = []core.ContainerStatus{
		{
			Name: c.Name, Image: c.Image, State: core.ContainerState{
				Terminated: &core.ContainerStateTerminated{
					ExitCode: code, Reason: reason, StartedAt: began, FinishedAt: meta.Now(),
				},
			},
		},
	}
}

// cannotPull is what a kubelet says of an image that no registry has.
func (k *kubelet) cannotPull(ctx context.Context, p *core.Pod, c core.Container) {
	text := `Back-off pulling image "` + c.Image + `"`
	k.status(ctx, p, func(s *core.PodStatus) {
		s.ContainerStatuses = []core.ContainerStatus{
			{
				Name: c.Name, Image: c.Image, State: core.ContainerState{
					Waiting: &core.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: text},
				},
			},
		}
	})
	k.event(ctx, p, "Failed", `Failed to pull image "`+c.Image+`": dial tcp: lookup registry.invalid: no such host`)
}

func (k *kubelet) event(ctx context.Context, p *core.Pod, reason, text string) {
	now := meta.Now()
	_, err := k.api.CoreV1().Events(p.Namespace).Create(ctx, &core.Event{
		ObjectMeta: meta.ObjectMeta{GenerateName: p.Name + ".", Namespace: p.Namespace},
		InvolvedObject: core.ObjectReference{
			Kind: "Pod", APIVersion: "v1", Namespace: p.Namespace, Name: p.Name, UID: p.UID,
		},

		Reason: reason, Message: text, Type: core.EventTypeWarning, Source: core.EventSource{Component: "kubelet"},
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}, meta.CreateOptions{})
	if err != nil {
		log.Print(err)
	}
}

// status changes what is known of a pod, and says whether there still is one.
func (k *kubelet) status(ctx context.Context, p *core.Pod, change func(*core.PodStatus)) bool {
	for {
		cur, err := k.api.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, meta.GetOptions{})
		if err != nil || cur.UID != p.UID {
			return false
		}
		change(&cur.Status)
		if _, err = k.api.CoreV1().Pods(p.Namespace).UpdateStatus(ctx, cur,
			meta.UpdateOptions{}); !apierrors.IsConflict(err) {
			if err != nil && !apierrors.IsNotFound(err) {
				log.Print("status of ", p.Name, ": ", err)
			}
			return err == nil
		}
	}
}

func (k *kubelet) logPath(namespace, pod string) string {
	return filepath.Join(k.dir, namespace+"_"+pod+".log")
}
