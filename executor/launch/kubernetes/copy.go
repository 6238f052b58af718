package kubernetes

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"weir/executor/kubectl"
	"weir/executor/launch"
)

// Where weir is put in a pod whose image has none, an empty directory of the pod.
const (
	programVolume = "program"
	programDir    = "/run/weir-program"
	programFile   = programDir + "/weir"
)

// Answers of a pod, at the beginning of a line.
const (
	present  = "weir-present"
	missing  = "weir-missing" // and the machine's name follows, as uname -m has it
	copied   = "weir-copied"
	unusable = "weir-unusable" // and what weir or the shell said follows
)

const (
	copyTime     = 5 * time.Minute // for weir's file into one pod
	copiesAtOnce = 8               // all go through the cluster's API
	copyAttempts = 3               // a container that has just begun may not take a program yet
)

// copies says whether weir's own file is put into the pods.
func (l *Launcher) copies() bool { return l.o.Command == "" }

// NeedsCopy says that agents begin only when somebody copies weir into their pods.
func (l *Launcher) NeedsCopy() bool { return l.copies() }

// programOf is how the container begins: as weir, or with waiting for it. A pod that nobody
// comes to ends.
func (l *Launcher) programOf() []any {
	if !l.copies() {
		return []any{l.o.Command}
	}
	return list([]string{"/bin/sh", "-c", fmt.Sprintf(`trap 'exit 143' TERM
w=%s n=0
until [ -x "$w" ]; do
  n=$((n + 1))
  if [ $n -gt %d ]; then echo "weir was not copied into this pod" >&2; exit 1; fi
  sleep 1
done
exec "$w" "$@"`, programFile, int(max(l.o.Wait, time.Second)/time.Second)), "weir"})
}

// binary is weir's own file.
type binary struct {
	file string
	size int64
	sum  string // SHA-256
}

func ownFile(path string) (binary, error) {
	f, err := os.Open(path)
	if err != nil {
		return binary{}, fmt.Errorf("reading weir's own file: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	size, err := io.Copy(h, f)
	if err != nil {
		return binary{}, fmt.Errorf("reading weir's own file: %w", err)
	}
	return binary{path, size, hex.EncodeToString(h.Sum(nil))}, nil
}

// ask finds out whether the image has this very weir, which is used then, or else of which
// kind the machine is.
func (b *binary) ask() string {
	return fmt.Sprintf(`w=%s
if [ -x "$w" ]; then echo %s; exit 0; fi
if o=$(command -v weir) && s=$(sha256sum <"$o" 2>/dev/null) && [ "${s%%%% *}" = %s ]; then
  ln -s "$o" "$w" && echo %[2]s
else
  echo "%[4]s $(uname -m)"
fi`, programFile, present, b.sum, missing)
}

// receive takes a copy of weir: whole, able to start, and under its name only then.
func (b *binary) receive() string {
	return fmt.Sprintf(`t=%s.part
cat >"$t" && [ "$(wc -c <"$t")" -eq %d ] && chmod 755 "$t" || { rm -f "$t"; exit 1; }
if said=$("$t" version 2>&1 </dev/null); then mv -f "$t" %[1]s && echo %[3]s; else echo "%[4]s $said"; rm -f "$t"; fi`,
		programFile, b.size, copied, unusable)
}

// supply puts weir into the pods that run and have it not, and returns when they have.
func (h *handle) supply(ctx context.Context, pods []pod) error {
	if !h.l.copies() {
		return nil
	}
	var lacking []*pod
	for i := range pods {
		if p := &pods[i]; p.State == launch.Running && !h.supplied[p.name] {
			lacking = append(lacking, p)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	b, err := ownFile(h.r.Binary)
	if err != nil {
		return err
	}
	h.r.Tell("copying weir (%d MiB) into pods that have it not: %d", (b.size+1<<19)>>20, len(lacking))
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

func (h *handle) copyTo(ctx context.Context, b binary, p *pod) error {
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

// hopelessCopy is a failure that would be the same again.
type hopelessCopy struct{ text string }

func (e *hopelessCopy) Error() string { return e.text }

const bakedIn = "take an image with weir in it (the Containerfile makes one) and name its program with --kube-command"

func (h *handle) copyOnce(ctx context.Context, b binary, p *pod) error {
	ctx, cancel := context.WithTimeout(ctx, copyTime)
	defer cancel()
	answer, err := h.inPod(ctx, p, nil, b.ask())
	if err != nil {
		return err
	}
	machine, lacks := strings.CutPrefix(answer, missing+" ")
	switch built := launch.MachineOf(b.file); {
	case answer == present:
		return nil
	case !lacks:
		return fmt.Errorf("its shell says %q", answer)
	case built != "" && machine != "" && built != machine:
		return &hopelessCopy{fmt.Sprintf("its machine is of another kind: %s, and this weir is for %s; %s", machine,
			built, bakedIn)}
	}
	file, err := os.Open(b.file)
	if err != nil {
		return err
	}
	defer file.Close()
	answer, err = h.inPod(ctx, p, file, b.receive())
	said, fails := strings.CutPrefix(answer, unusable)
	switch {
	case err != nil:
		return err
	case fails:
		said = strings.TrimSpace(said)
		return &hopelessCopy{fmt.Sprintf("%s: it says %q; %s", launch.WhyUnusable(said), said, bakedIn)}
	case answer != copied:
		return fmt.Errorf("its shell says %q", answer)
	}
	return nil
}

// inPod runs a shell script in the agent's container and gives its last line that is ours.
func (h *handle) inPod(ctx context.Context, p *pod, in io.Reader, script string) (string, error) {
	args := []string{"exec", p.name, "--container", agent}
	if in != nil {
		args = append(args, "--stdin")
	}
	cmd := h.l.command(ctx, append(args, "--", "/bin/sh", "-c", script)...)
	var stderr kubectl.Bounded
	stderr.Most = 64 << 10
	var stdout bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		err = h.l.explain("exec", stderr.String(), err)
		if strings.Contains(err.Error(), `"/bin/sh"`) {
			err = &hopelessCopy{"its image has no /bin/sh, which that takes; " + bakedIn}
		}
		return "", err
	}
	return answerIn(stdout.String()), nil
}

// answerIn is what a pod answers, behind what a shell's profile may have written.
func answerIn(text string) string {
	for _, word := range []string{present, missing, copied, unusable} {
		if i := strings.Index("\n"+text, "\n"+word); i >= 0 {
			return strings.TrimSpace(text[i:])
		}
	}
	return strings.TrimSpace(text)
}
