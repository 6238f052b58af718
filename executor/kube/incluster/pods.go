package incluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/weir-bench/weir/executor/kube"
)

// pods are the pods of the service: they have its label, or an owner among its objects.
type pods struct {
	s *Service

	mu        sync.Mutex
	all       map[string]*pod      // of the service, by uid
	owned     map[string]bool      // whether objects belong to the service, by uid
	since     map[string]time.Time // start of a hopeless state, by uid
	isReady   bool
	isOver    bool
	failure   error // the first
	following map[string]*process
	others    map[string]*pod // that did not belong to the service when they were seen, by uid
	logs      sync.WaitGroup  // of following
}

func newPods(s *Service) *pods {
	return &pods{
		s: s, all: map[string]*pod{}, owned: map[string]bool{},
		since: map[string]time.Time{}, following: map[string]*process{},
		others: map[string]*pod{},
	}
}

// namespaces are the namespaces of the pods.
func (p *pods) namespaces() []string {
	set := map[string]bool{}
	for _, o := range p.s.applied {
		p.owned[textOf(kube.Part(o, "metadata"), "uid")] = true
		if ns := namespaceOf(o); ns != "" {
			set[ns] = true
		}
	}
	if p.s.r.Spec.Helm != nil || len(set) == 0 {
		set[p.s.client.Namespace] = true // "": the context's
	}
	return slices.Sorted(maps.Keys(set))
}

// watch watches pods until the context ends.
func (p *pods) watch(ctx context.Context) {
	var group sync.WaitGroup
	for _, ns := range p.namespaces() {
		group.Go(func() {
			for ctx.Err() == nil {
				p.watchOnce(ctx, ns)
				select {
				case <-ctx.Done():
				case <-time.After(pollTime): // the API server ends watches from time to time
				}
			}
		})
	}
	group.Wait()
}

func (p *pods) watchOnce(ctx context.Context, ns string) {
	args := []string{"get", "pods", "--watch", "--output-watch-events", "--output", "json"}
	if ns != "" {
		args = append(args, "--namespace", ns)
	}
	w, err := begin(p.s.client.Command(ctx, args...))
	if err != nil {
		p.set(p.s.client.Explain("get", "", err))
		return
	}
	defer w.end()
	for d := json.NewDecoder(w.out); ; {
		var e struct {
			Type   string
			Object pod
		}
		if d.Decode(&e) != nil {
			return
		}
		if e.Object.Kind == "Pod" {
			p.take(ctx, &e.Object, e.Type == "DELETED")
		}
	}
}

// take handles an event of a pod.
func (p *pods) take(ctx context.Context, x *pod, deleted bool) {
	uid := x.Metadata.UID
	belongs := p.belongs(ctx, x)
	p.mu.Lock()
	defer p.mu.Unlock()
	if delete(p.others, uid); !belongs {
		if !deleted {
			p.others[uid] = x
		}
		return
	}
	if deleted {
		delete(p.all, uid)
		return
	}
	p.all[uid] = x
	if x.begun() && p.following[uid] == nil {
		p.follow(ctx, x)
	}
	p.judge(ctx, x)
}

// include adds objects, and so their pods, to the service.
func (p *pods) include(ctx context.Context, all []object) {
	p.mu.Lock()
	for _, o := range all {
		p.owned[textOf(kube.Part(o, "metadata"), "uid")] = true
	}
	maps.DeleteFunc(p.owned, func(_ string, ours bool) bool { return !ours })
	again := slices.Collect(maps.Values(p.others))
	p.mu.Unlock()
	for _, x := range again {
		p.take(ctx, x, false)
	}
}

// belongs reports whether a pod belongs to the service, by its label or its owners.
func (p *pods) belongs(ctx context.Context, x *pod) bool {
	if x.Metadata.Labels[ofSession] == p.s.r.Session && x.Metadata.Labels[ofService] == p.s.r.Service {
		return true
	}
	if h := p.s.r.Spec.Helm; h != nil && x.Metadata.Labels["app.kubernetes.io/instance"] == p.s.release() {
		return true
	}
	return p.isOwned(ctx, x.Metadata.UID, x.Metadata.Namespace, x.Metadata.OwnerReferences, 0)
}

// mostGenerations is the largest depth of owners that is examined.
const mostGenerations = 8

func (p *pods) isOwned(ctx context.Context, uid, ns string, owners []kube.Owner, depth int) bool {
	ours, known := p.known(uid)
	if known {
		return ours
	}
	certain := true
	for _, o := range owners {
		var of []kube.Owner
		if _, known := p.known(o.UID); !known && depth < mostGenerations {
			var err error
			if of, err = p.ownersOf(ctx, o, ns); err != nil {
				certain = false
				continue // tried again later
			}
		}
		ours = p.isOwned(ctx, o.UID, ns, of, depth+1) || ours
	}
	if ours || certain {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.owned[uid] = ours
	}
	return ours
}

func (p *pods) known(uid string) (ours, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ours, known = p.owned[uid]
	return ours, known
}

// ownersOf are the owners of an owner.
func (p *pods) ownersOf(ctx context.Context, o kube.Owner, ns string) ([]kube.Owner, error) {
	kind := strings.ToLower(o.Kind)
	if group, version, ok := strings.Cut(o.APIVersion, "/"); ok {
		kind += "." + version + "." + group
	}
	args := []string{kind, o.Name}
	if ns != "" {
		args = append(args, "--namespace", ns)
	}
	var owner struct {
		Metadata struct{ OwnerReferences []kube.Owner }
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	err := p.s.client.Get(ctx, &owner, args...)
	return owner.Metadata.OwnerReferences, err
}

// judge records the failure of a pod.
func (p *pods) judge(ctx context.Context, x *pod) {
	if p.isOver || p.failure != nil {
		return
	}
	c := x.judge(p.isReady)
	switch uid := x.Metadata.UID; {
	case c == nil:
		delete(p.since, uid)
		return
	case c.waiting && p.since[uid].IsZero():
		p.since[uid] = time.Now()
		return
	case c.waiting:
		return // wrong checks the time limit
	}
	p.s.background.Go(func() { p.set(p.crashed(ctx, x, c)) })
}

// lastLines is the number of lines of a crashed pod's output in an error.
const lastLines = 10

// crashed is the error of a failed pod with its last output.
func (p *pods) crashed(ctx context.Context, x *pod, c *crash) error {
	text := "pod " + x.Metadata.Name
	if c.container == "" {
		return fmt.Errorf("%s: %s", text, c.text)
	}
	text += ", container " + c.container + ": " + c.text
	args := []string{
		"logs", x.Metadata.Name, "--namespace", x.Metadata.Namespace, "--container", c.container, "--tail",
		strconv.Itoa(lastLines),
	}
	if c.previous {
		args = append(args, "--previous")
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, _, err := p.s.client.Run(ctx, nil, args...)
	said := strings.TrimRight(string(out), "\n \t")
	switch {
	case err != nil:
		return fmt.Errorf("%s; reading its output: %w", text, err)
	case said == "":
		return fmt.Errorf("%s; it printed nothing", text)
	}
	lines := strings.Split(said, "\n")
	return fmt.Errorf("%s; its last output:\n%s", text, strings.Join(lines[max(0, len(lines)-lastLines):], "\n"))
}

// set stores the first failure. If the service was ready, it fails.
func (p *pods) set(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure != nil || p.isOver {
		return
	}
	p.failure = err
	if p.isReady {
		p.s.fail(err)
	}
}

// wrong is the failure of any pod that will not pass, or nil.
func (p *pods) wrong() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure != nil {
		return p.failure
	}
	for uid, since := range p.since {
		if x := p.all[uid]; x != nil && time.Since(since) > kube.HopelessTime {
			return fmt.Errorf("pod %s cannot start: %s", x.Metadata.Name, x.waits())
		}
	}
	return nil
}

// broken waits for a failure; it returns nil when the context ends.
func (p *pods) broken(ctx context.Context) error {
	for {
		if err := p.wrong(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pollTime):
		}
	}
}

// waits are the reasons why pods wait, or "".
func (p *pods) waits() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	set := map[string]bool{}
	for _, x := range p.all {
		if text := x.waits(); text != "" {
			set["pod "+x.Metadata.Name+": "+text] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(set)), "; ")
}

// ready makes the end of a pod a failure from now on, and returns the present failure.
func (p *pods) ready() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isReady = true
	return p.failure
}

// over permits pods to end.
func (p *pods) over() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isOver = true
}

// end deletes all pods with a grace period.
func (p *pods) end(ctx context.Context, within time.Duration) {
	p.mu.Lock()
	byNamespace := map[string][]string{}
	for _, x := range p.all {
		byNamespace[x.Metadata.Namespace] = append(byNamespace[x.Metadata.Namespace], x.Metadata.Name)
	}
	p.mu.Unlock()
	for ns, names := range byNamespace {
		args := append([]string{"delete", "pods"}, names...)
		_, _, err := p.s.client.Run(ctx, nil, append(args, "--namespace", ns, "--ignore-not-found", "--wait=false",
			"--grace-period", strconv.Itoa(max(1, int(within.Seconds()))))...)
		if err != nil {
			p.s.log.note(err.Error()) // they are deleted with their owners
		}
	}
}

// left are the remaining pods.
func (p *pods) left() (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.all {
		all = append(all, "pod/"+x.Metadata.Name)
	}
	slices.Sort(all)
	return all
}

// follow copies the output of a pod to the log.
func (p *pods) follow(ctx context.Context, x *pod) {
	args := []string{
		"logs", x.Metadata.Name, "--namespace", x.Metadata.Namespace, "--follow", "--all-containers", "--prefix",
		"--ignore-errors", "--tail=-1",
	}
	f, err := begin(p.s.client.Command(ctx, args...))
	if err != nil {
		p.s.log.note(p.s.client.Explain("logs", "", err).Error())
		return
	}
	p.following[x.Metadata.UID] = f
	p.logs.Go(func() {
		p.s.log.copy(f.out)
		f.end()
	})
}

// drainLogs waits up to 2 s for the rest of the pods' output.
func (p *pods) drainLogs(ctx context.Context) {
	p.mu.Lock()
	all := slices.Collect(maps.Values(p.following))
	p.mu.Unlock()
	late := time.After(2 * time.Second)
	for _, f := range all {
		if p.s.r.Spec.Keep {
			f.kill() // the pods go on
		}
		select {
		case <-f.over:
		case <-late:
			f.kill()
		case <-ctx.Done():
			f.kill()
		}
	}
	p.logs.Wait()
}
