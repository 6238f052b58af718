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
)

// pods are those that belong to the service: they have its label, or descend from what it has
// applied.
type pods struct {
	s *Service

	mu        sync.Mutex
	all       map[string]*pod      // by uid, of the service
	stranger  map[string]bool      // uids of objects that do not belong to it
	kin       map[string]bool      // uids of objects that do
	since     map[string]time.Time // since when a pod is hopeless
	isReady   bool
	isOver    bool
	trouble   error         // what is wrong, the first
	changed   chan struct{} // closed and replaced with each news
	following map[string]*process
	others    map[string]*pod // by uid, those that did not belong to it when they were seen
	words     sync.WaitGroup  // of those who follow
}

func newPods(s *Service) *pods {
	return &pods{
		s: s, all: map[string]*pod{}, stranger: map[string]bool{}, kin: map[string]bool{},
		since: map[string]time.Time{}, changed: make(chan struct{}), following: map[string]*process{},
		others: map[string]*pod{},
	}
}

// namespaces are those that pods may be in.
func (p *pods) namespaces() []string {
	set := map[string]bool{}
	for _, o := range p.s.applied {
		p.kin[textOf(part(o, "metadata"), "uid")] = true
		if ns := namespaceOf(o); ns != "" {
			set[ns] = true
		}
	}
	if p.s.r.Spec.Helm != nil || len(set) == 0 {
		set[p.s.client.Namespace] = true // "": that of the context
	}
	return slices.Sorted(maps.Keys(set))
}

// watch follows what becomes of pods until the context ends.
func (p *pods) watch(ctx context.Context) {
	var group sync.WaitGroup
	for _, ns := range p.namespaces() {
		group.Go(func() {
			for ctx.Err() == nil {
				p.watchOnce(ctx, ns)
				select {
				case <-ctx.Done():
				case <-time.After(pollTime): // the API server ends watches now and then
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

// take takes note of a pod.
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
		p.news()
		return
	}
	p.all[uid] = x
	if x.begun() && p.following[uid] == nil {
		p.follow(ctx, x)
	}
	p.judge(ctx, x)
	p.news()
}

// claim says that objects belong to the service, and so do the pods that descend from them.
func (p *pods) claim(ctx context.Context, all []object) {
	p.mu.Lock()
	for _, o := range all {
		p.kin[textOf(part(o, "metadata"), "uid")] = true
	}
	clear(p.stranger)
	again := slices.Collect(maps.Values(p.others))
	p.mu.Unlock()
	for _, x := range again {
		p.take(ctx, x, false)
	}
}

func (p *pods) news() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// belongs says whether a pod is one of the service: by its label, or by what it descends from.
func (p *pods) belongs(ctx context.Context, x *pod) bool {
	if x.Metadata.Labels[ofSession] == p.s.r.Session && x.Metadata.Labels[ofService] == p.s.r.Service {
		return true
	}
	if h := p.s.r.Spec.Helm; h != nil && x.Metadata.Labels["app.kubernetes.io/instance"] == p.s.release() {
		return true
	}
	return p.isKin(ctx, x.Metadata.UID, x.Metadata.Namespace, x.Metadata.OwnerReferences, 0)
}

// mostGenerations bounds how far up an object's owners are looked at.
const mostGenerations = 8

func (p *pods) isKin(ctx context.Context, uid, ns string, owners []ownerReference, depth int) bool {
	p.mu.Lock()
	known, ours := p.kin[uid] || p.stranger[uid], p.kin[uid]
	p.mu.Unlock()
	if known {
		return ours
	}
	certain := true
	for _, o := range owners {
		var of []ownerReference
		p.mu.Lock()
		have := p.kin[o.UID] || p.stranger[o.UID]
		p.mu.Unlock()
		if !have && depth < mostGenerations {
			var err error
			if of, err = p.ownersOf(ctx, o, ns); err != nil {
				certain = false
				continue // it is asked for again
			}
		}
		if p.isKin(ctx, o.UID, ns, of, depth+1) {
			ours = true
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case ours:
		p.kin[uid] = true
	case certain:
		p.stranger[uid] = true
	}
	return ours
}

// ownersOf are the owners of an owner.
func (p *pods) ownersOf(ctx context.Context, o ownerReference, ns string) ([]ownerReference, error) {
	kind := strings.ToLower(o.Kind)
	if group, version, ok := strings.Cut(o.APIVersion, "/"); ok {
		kind += "." + version + "." + group
	}
	args := []string{kind, o.Name}
	if ns != "" {
		args = append(args, "--namespace", ns)
	}
	var owner struct {
		Metadata struct{ OwnerReferences []ownerReference }
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	err := p.s.client.Get(ctx, &owner, args...)
	return owner.Metadata.OwnerReferences, err
}

// judge holds what is wrong with a pod against the service.
func (p *pods) judge(ctx context.Context, x *pod) {
	if p.isOver || p.trouble != nil {
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
		return // wrong looks at the clock
	}
	p.s.background.Go(func() { p.set(p.crashed(ctx, x, c)) })
}

// lastLines is how many lines of a pod that crashed an error has.
const lastLines = 10

// crashed is the error of a pod with what it said last.
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
		return fmt.Errorf("%s; what it said last is not known: %w", text, err)
	case said == "":
		return fmt.Errorf("%s; it printed nothing", text)
	}
	lines := strings.Split(said, "\n")
	return fmt.Errorf("%s; it said last:\n%s", text, strings.Join(lines[max(0, len(lines)-lastLines):], "\n"))
}

// set keeps the first thing that is wrong. That of a service that was ready is its failure.
func (p *pods) set(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.trouble != nil || p.isOver {
		return
	}
	p.trouble = err
	p.news()
	if p.isReady {
		p.s.fail(err)
	}
}

// wrong is what is wrong with any pod; nil: nothing that others than time will not mend.
func (p *pods) wrong() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.trouble != nil {
		return p.trouble
	}
	for uid, since := range p.since {
		if x := p.all[uid]; x != nil && time.Since(since) > hopelessTime {
			return fmt.Errorf("pod %s cannot start: %s", x.Metadata.Name, x.waits())
		}
	}
	return nil
}

// broken returns when something is wrong; nil: the context has ended.
func (p *pods) broken(ctx context.Context) error {
	for {
		p.mu.Lock()
		changed := p.changed
		p.mu.Unlock()
		if err := p.wrong(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-time.After(time.Second): // what is hopeless for too long tells nothing new
		}
	}
}

// waits says what pods wait for; "": for nothing that they tell.
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

// ready says that from now on a pod that ends is a failure, and returns what is wrong already.
func (p *pods) ready() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isReady = true
	return p.trouble
}

// over says that pods may end.
func (p *pods) over() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isOver = true
}

// end tells pods to end within a time.
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
			p.s.log.note(err.Error()) // they go with what has made them
		}
	}
}

// left are the pods that are still there.
func (p *pods) left() (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.all {
		all = append(all, "pod/"+x.Metadata.Name)
	}
	slices.Sort(all)
	return all
}

// follow keeps what a pod says.
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
	p.words.Go(func() {
		p.s.log.copy(f.out)
		f.end()
	})
}

// lastWords waits a moment until all is read that pods have said.
func (p *pods) lastWords(ctx context.Context) {
	p.mu.Lock()
	all := slices.Collect(maps.Values(p.following))
	p.mu.Unlock()
	patience := time.After(2 * time.Second)
	for _, f := range all {
		if p.s.r.Spec.Keep {
			f.kill() // the pods go on
		}
		select {
		case <-f.over:
		case <-patience:
			f.kill()
		case <-ctx.Done():
			f.kill()
		}
	}
	p.words.Wait()
}
