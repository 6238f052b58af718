package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weir-bench/weir/executor/launcher"
)

// The volume and path of weir's copy in pods with an image without weir.
const (
	programVolume = "program"
	programDir    = "/run/weir-program"
	programFile   = programDir + "/weir"
)

// Answers of a pod, at the beginning of a line.
const (
	present  = "weir-present"
	missing  = "weir-missing" // followed by uname -m
	copied   = "weir-copied"
	unusable = "weir-unusable" // followed by the error of weir or the shell
)

const (
	copyTime     = 5 * time.Minute // time limit for the copy to one pod
	copiesAtOnce = 8               // all go through the cluster's API
	copyAttempts = 3               // a container that has just started may refuse exec
)

// NeedsCopy reports whether weir's own file is copied into the pods.
func (l *Launcher) NeedsCopy() bool { return l.o.Command == "" }

// programOf is the command of the container: weir, or a script that waits for its copy. Without a copy, the
// script ends after Options.Wait.
func (l *Launcher) programOf() []string {
	if !l.NeedsCopy() {
		return []string{l.o.Command}
	}
	return []string{"/bin/sh", "-c", fmt.Sprintf(`trap 'exit 143' TERM
w=%s n=0
until [ -x "$w" ]; do
  n=$((n + 1))
  if [ $n -gt %d ]; then echo "weir was not copied into this pod" >&2; exit 1; fi
  sleep 1
done
exec "$w" "$@"`, programFile, int(max(l.o.Wait, time.Second)/time.Second)), "weir"}
}

// ask uses the weir of the image if it is identical, and else returns the machine type.
func ask(b launcher.Program) string {
	return fmt.Sprintf(`w=%s
if [ -x "$w" ]; then echo %s; exit 0; fi
if o=$(command -v weir) && s=$(sha256sum <"$o" 2>/dev/null) && [ "${s%%%% *}" = %s ]; then
  ln -s "$o" "$w" && echo %[2]s
else
  echo "%[4]s $(uname -m)"
fi`, programFile, present, b.Sum, missing)
}

// receive stores a copy of weir, and renames it when it is complete and starts.
func receive(b launcher.Program) string {
	return fmt.Sprintf(`t=%s.part
cat >"$t" && [ "$(wc -c <"$t")" -eq %d ] && chmod 755 "$t" || { rm -f "$t"; exit 1; }
if said=$("$t" version 2>&1 </dev/null); then mv -f "$t" %[1]s && echo %[3]s; else echo "%[4]s $said"; rm -f "$t"; fi`,
		programFile, b.Size, copied, unusable)
}

// supply copies weir into the running pods without it.
func (h *handle) supply(ctx context.Context, pods []pod) error {
	if !h.l.NeedsCopy() {
		return nil
	}
	var lacking []*pod
	for i := range pods {
		if p := &pods[i]; p.State == launcher.Running && !h.supplied[p.name] {
			lacking = append(lacking, p)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	b, err := launcher.ReadProgram(h.r.Binary)
	if err != nil {
		return err
	}
	h.r.Tell("copying weir (%d MiB) into %d pods", (b.Size+1<<19)>>20, len(lacking))
	errs := make([]error, len(lacking))
	var group errgroup.Group
	group.SetLimit(copiesAtOnce)
	for i, p := range lacking {
		group.Go(func() error { errs[i] = h.copyTo(ctx, b, p); return nil })
	}
	_ = group.Wait() // each has its own error
	for i, p := range lacking {
		h.supplied[p.name] = errs[i] == nil
	}
	return errors.Join(errs...)
}

func (h *handle) copyTo(ctx context.Context, b launcher.Program, p *pod) error {
	var err error
	for range copyAttempts {
		if err = h.copyOnce(ctx, b, p); err == nil || ctx.Err() != nil {
			break
		}
		if _, ok := errors.AsType[*hopelessCopy](err); ok {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(h.l.poll):
		}
	}
	if err != nil {
		return fmt.Errorf("copying weir into the pod of %s: %w", p.Node, err)
	}
	return nil
}

// hopelessCopy is a permanent failure.
type hopelessCopy struct{ text string }

func (e *hopelessCopy) Error() string { return e.text }

const bakedIn = "use an image with weir in it (the Containerfile makes one) and give its path in the setting kubernetes.command"

func (h *handle) copyOnce(ctx context.Context, b launcher.Program, p *pod) error {
	ctx, cancel := context.WithTimeout(ctx, copyTime)
	defer cancel()
	answer, err := h.inPod(ctx, p, nil, ask(b))
	if err != nil {
		return err
	}
	machine, lacks := strings.CutPrefix(answer, missing+" ")
	switch built := launcher.MachineOf(b.File); {
	case answer == present:
		return nil
	case !lacks:
		return fmt.Errorf("its shell says %q", answer)
	case built != "" && machine != "" && built != machine:
		return &hopelessCopy{fmt.Sprintf("its machine type is %s, and this weir is for %s; %s", machine, built,
			bakedIn)}
	}
	file, err := os.Open(b.File)
	if err != nil {
		return err
	}
	defer file.Close()
	answer, err = h.inPod(ctx, p, file, receive(b))
	said, fails := strings.CutPrefix(answer, unusable)
	switch {
	case err != nil:
		return err
	case fails:
		said = strings.TrimSpace(said)
		return &hopelessCopy{fmt.Sprintf("%s: it says %q; %s", launcher.WhyUnusable(said), said, bakedIn)}
	case answer != copied:
		return fmt.Errorf("its shell says %q", answer)
	}
	return nil
}

// inPod runs a shell script in the agent's container and returns its answer.
func (h *handle) inPod(ctx context.Context, p *pod, in io.Reader, script string) (string, error) {
	args := []string{"exec", p.name, "--container", agent}
	if in != nil {
		args = append(args, "--stdin")
	}
	out, _, err := h.l.kube.Run(ctx, in, append(args, "--", "/bin/sh", "-c", script)...)
	if err != nil && strings.Contains(err.Error(), `"/bin/sh"`) {
		return "", &hopelessCopy{"its image has no /bin/sh, which the copy needs; " + bakedIn}
	}
	return answerIn(string(out)), err
}

// answerIn is the answer of a pod, after any output of a shell profile.
func answerIn(text string) string {
	for _, word := range []string{present, missing, copied, unusable} {
		if i := strings.Index("\n"+text, "\n"+word); i >= 0 {
			return strings.TrimSpace(text[i:])
		}
	}
	return strings.TrimSpace(text)
}
