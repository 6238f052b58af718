package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

const (
	streamIdle   = time.Hour
	streamCreate = 30 * time.Second
)

// serveExec runs programs in pods that run, as kubectl exec asks for.
func (k *kubelet) serveExec(w http.ResponseWriter, r *http.Request) {
	o, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeExec(w, r, inPods{k, r.PathValue("namespace")}, r.PathValue("pod"), "",
		r.PathValue("container"), r.URL.Query()["command"], o, streamIdle, streamCreate,
		remotecommand.SupportedStreamingProtocols)
}

// servePorts connects to ports of pods, as kubectl port-forward asks for.
func (k *kubelet) servePorts(w http.ResponseWriter, r *http.Request) {
	portforward.ServePortForward(w, r, inPods{k, r.PathValue("namespace")}, r.PathValue("pod"), "", nil, streamIdle,
		streamCreate, []string{portforward.ProtocolV1Name})
}

// inPods reaches the pods of a namespace.
type inPods struct {
	k         *kubelet
	namespace string
}

// ExecInContainer runs a program beside the pod's first process.
func (p inPods) ExecInContainer(ctx context.Context, name, _, _ string, cmd []string, in io.Reader,
	out, errs io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize, _ time.Duration) error {
	pod, err := p.k.api.CoreV1().Pods(p.namespace).Get(ctx, name, meta.GetOptions{})
	if err != nil {
		return err
	}
	process := p.k.pods.get(pod.UID)
	if process == nil {
		return errors.New("container not found")
	}
	argv := append([]string{
		"--target", strconv.Itoa(process.cmd.Process.Pid), "--mount", "--uts", "--pid", "--net", "--",
	}, cmd...)
	c := exec.CommandContext(ctx, "nsenter", argv...)
	c.Stdin, c.Stdout, c.Stderr = in, out, errs
	c.WaitDelay = time.Second
	err = c.Run()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return utilexec.CodeExitError{Err: err, Code: e.ExitCode()}
	}
	return err
}

// PortForward connects to where the pod's node has its address.
func (p inPods) PortForward(ctx context.Context, name, _ string, port int32, stream io.ReadWriteCloser) error {
	defer stream.Close()
	pod, err := p.k.api.CoreV1().Pods(p.namespace).Get(ctx, name, meta.GetOptions{})
	if err != nil {
		return err
	}
	to, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(pod.Status.PodIP, fmt.Sprint(port)))
	if err != nil {
		return err
	}
	defer to.Close()
	go func() {
		_, _ = io.Copy(to, stream)
		_ = to.(*net.TCPConn).CloseWrite()
	}()
	_, err = io.Copy(stream, to)
	return err
}
