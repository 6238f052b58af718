package command

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/weir-bench/weir/internal/lazyregexp"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/structure"
	"github.com/weir-bench/weir/workload"
)

const (
	clusterWithin   = 10 * time.Minute // for conditions, unless wait says otherwise
	clusterStop     = 30 * time.Second // Kubernetes' default grace period of a pod
	maxManifest     = 256 << 10
	maxConditions   = 64
	longestNameKube = 53 // of a Helm release
)

var (
	kubeName   = lazyregexp.New(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)
	kubeObject = lazyregexp.New(`^[A-Za-z][A-Za-z0-9.-]*/[a-z0-9]([-a-z0-9.:]{0,251}[a-z0-9])?$`)
	kubePort   = lazyregexp.New(`^([0-9]{1,5}|[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?)$`)
	kubeIs     = lazyregexp.New(`^[A-Za-z][\w./-]*(\[[^\]]+\][\w./-]*)*(=.+)?$`)
)

// Kubernetes are objects to apply to a cluster and wait for.
type Kubernetes struct {
	Context   string    `key:"context"`   // of kubectl's configuration; "": the current one
	Namespace string    `key:"namespace"` // "": the context's
	Apply     Manifests `key:"apply"`
	Patch     Patch     `key:"patch"`
	Wait      Wait      `key:"wait"`
	Tunnel    *Tunnel   `key:"tunnel"`
	Keep      bool      `key:"keep"` // the objects are not deleted
}

// Check validates names.
func (k *Kubernetes) Check(d *structure.Decoder) {
	if k.Namespace != "" && !kubeName().MatchString(k.Namespace) {
		d.At("namespace").Fail("%q is no name of a namespace", k.Namespace)
	}
}

// Manifests are texts of YAML. The text of a file has been read: it ends with a line break.
type Manifests []string

// ReadValue reads one text or several.
func (m *Manifests) ReadValue(d *structure.Decoder, v *structure.Value) {
	items := v.Items
	switch {
	case v.Pairs != nil:
		d.Fail("it is a mapping, where numbers and texts are indistinguishable here: name a file, or write the manifest as a text after `|`")
	case v.IsText():
		items = []*structure.Value{v}
	}
	for _, item := range items {
		if !item.IsText() {
			d.Fail("it is neither a file nor the text of a manifest, nor a list of these")
			return
		}
		text := d.Text(item, false)
		switch {
		case !strings.Contains(text, "\n"):
			d.Fail("%q is no manifest", text)
		case len(text) > maxManifest:
			d.Fail("%d bytes are more than %d KiB", len(text), maxManifest>>10)
		}
		*m = append(*m, text)
	}
}

// Patch is a change of manifests: by patches in YAML, or in containers.
type Patch struct {
	Patches Manifests
	Change  Change
}

// Change is a change to containers of all manifests.
type Change struct {
	Image string            `key:"image,late"`
	Env   []structure.Named `key:"env,late"`
	Args  []string          `key:"args,late"` // replace those of the containers
	// Containers are their names; none: all. A pod must have only one then for an image or args.
	Containers []string `key:"containers,single"`
}

// Check validates the names of variables.
func (c *Change) Check(d *structure.Decoder) {
	for _, v := range c.Env {
		if !variableName().MatchString(v.Name) {
			d.At("env", v.Name).Fail("no variable has such a name")
		}
	}
}

// ReadValue reads a mapping, which is a change to containers, or manifests.
func (p *Patch) ReadValue(d *structure.Decoder, v *structure.Value) {
	if v.Pairs != nil {
		d.Mapping(v, &p.Change)
	} else {
		p.Patches.ReadValue(d, v)
	}
}

// WriteValue writes the form that ReadValue reads.
func (p Patch) WriteValue(c structure.Codec) *structure.Value {
	if p.Patches != nil {
		return c.List(p.Patches)
	}
	return c.Encode(p.Change, Change{})
}

// Wait are states that objects must reach.
type Wait struct {
	Conditions []workload.Condition
	Within     time.Duration // for all of them; 0: clusterWithin
}

const waitWithin = "within"

// ReadValue reads pairs of an object and its state, and within.
func (w *Wait) ReadValue(d *structure.Decoder, v *structure.Value) {
	if v.Pairs == nil {
		d.Fail("it is %s, not a mapping as {Deployment/NAME: Available, within: 10m}", v.What())
		return
	}
	for _, p := range v.Pairs {
		part := d.At(p.Key)
		if p.Key == waitWithin {
			w.Within = part.Time(p.Value)
			continue
		}
		is := part.Text(p.Value, false)
		switch {
		case !kubeObject().MatchString(p.Key):
			part.Fail("an object is KIND/NAME, as Deployment/frontend")
		case !kubeIs().MatchString(is) || strings.Contains(is, ".") && !strings.Contains(is, "="):
			part.Fail("%q is neither a condition, as Ready or Ready=False, nor a field, as status.readyReplicas=2", is)
		}
		w.Conditions = append(w.Conditions, workload.Condition{Object: p.Key, Is: is})
	}
	if n := len(w.Conditions); n == 0 || n > maxConditions {
		d.Fail("it has %d objects: there must be 1 to %d", n, maxConditions)
	}
	if w.Within == clusterWithin {
		w.Within = 0
	}
}

// WriteValue writes the form that ReadValue reads.
func (w Wait) WriteValue(c structure.Codec) *structure.Value {
	all := make([]structure.Named, 0, len(w.Conditions)+1)
	for _, want := range w.Conditions {
		all = append(all, structure.Named{Name: want.Object, Value: want.Is})
	}
	if w.Within != 0 {
		all = append(all, structure.Named{Name: waitWithin, Value: quantity.Time(w.Within).String()})
	}
	return c.Pairs(all)
}

// Tunnel forwards a port of this host to a port of a Service or a pod.
type Tunnel struct {
	Service string `key:"service"` // or KIND/NAME
	Port    string `key:"port"`    // number or name
}

// Check validates names.
func (t *Tunnel) Check(d *structure.Decoder) {
	switch {
	case !kubeName().MatchString(t.Service) && !kubeObject().MatchString(t.Service):
		d.At("service").Fail("it is the name of a Service, or KIND/NAME")
	case !kubePort().MatchString(t.Port):
		d.At("port").Fail("it is the number or the name of a port of %s", t.Service)
	}
}

// Helm is a release of a chart.
type Helm struct {
	Chart   string    `key:"chart"` // a directory, an archive, or a name in a repository
	Version string    `key:"version"`
	Release string    `key:"release"`
	Values  Manifests `key:"values"` // YAML; later ones take precedence
}

// Check validates names.
func (h *Helm) Check(d *structure.Decoder) {
	switch {
	case h.Chart == "" || strings.HasPrefix(h.Chart, "-"):
		d.At("chart").Fail("it is a directory, an archive, or the name of a chart in a repository")
	case h.Release != "" && (!kubeName().MatchString(h.Release) || len(h.Release) > longestNameKube):
		d.At("release").Fail("%q is no name of a release: small letters, digits and -, %d at most", h.Release,
			longestNameKube)
	}
}

// inCluster reports whether a service consists of objects of a cluster.
func (s *Service) inCluster() bool { return s.Kubernetes != nil || s.Helm != nil }

// checkCluster validates a service in a cluster.
func (s *Service) checkCluster(d *structure.Decoder) {
	s.checkName(d)
	for _, key := range []string{"node", "command", "env", "place"} {
		if d.Given(key) {
			d.At(key).Fail("it is for a program on a node, but the service is in a cluster")
		}
	}
	if s.Kubernetes == nil {
		s.Kubernetes = &Kubernetes{}
	}
	k := s.Kubernetes
	if s.Tunnel != nil && k.Tunnel != nil {
		d.At("tunnel").Fail("it is also given in kubernetes")
	}
	if s.Tunnel != nil {
		k.Tunnel, s.Tunnel = s.Tunnel, nil
	}
	if s.Stop.Signal != stopByDefault.Signal {
		d.At("stop", "signal").Fail("pods are always told to end by SIGTERM")
	}
	s.Stop.Signal = ""
	r := &s.Ready
	patched := k.Patch.Patches != nil || !reflect.DeepEqual(k.Patch.Change, Change{})
	switch {
	case r.Listens != "" || r.Log != "" || r.File != "" || r.Etcd != "" || len(r.Command) > 0:
		d.At("ready").Fail("a service in a cluster can only use kubernetes.wait, and http if it has a url")
	case r.HTTP != "" && !s.hasURL() && !strings.Contains(r.HTTP, "://"):
		d.At("ready", "http").Fail("it is a path below the url of the service, which has neither url nor tunnel")
	case len(k.Apply) == 0 && s.Helm == nil && len(k.Wait.Conditions) == 0 && k.Tunnel == nil:
		d.At("kubernetes").Fail("it has none of apply, wait and tunnel")
	case len(k.Apply) == 0 && patched:
		d.At("kubernetes", "patch").Fail("there is nothing to patch: apply is not given")
	case s.proofFile() != "":
		d.At("proof", "file").Fail("files of pods are not accessible: let the program print a line, and prove that by log")
	}
}

// hasURL reports whether the service has an address for launches.
func (s *Service) hasURL() bool { return s.URL != "" || s.inCluster() && s.Kubernetes.Tunnel != nil }

// clusterTexts returns the texts of a service in a cluster that may contain names of a launch.
func (s *Service) clusterTexts() (all []string) {
	if !s.inCluster() {
		return nil
	}
	change := s.Kubernetes.Patch.Change
	all = append(slices.Clone(change.Args), change.Image)
	for _, v := range change.Env {
		all = append(all, v.Value)
	}
	return all
}

// cluster returns the description of the service for an executor.
func (s *Service) cluster() *workload.InCluster {
	if !s.inCluster() {
		return nil
	}
	k := s.Kubernetes
	c := &workload.InCluster{
		Context: k.Context, Namespace: k.Namespace, Manifests: k.Apply, Patches: k.Patch.Patches,
		Change: workload.ContainerChange{
			Image: k.Patch.Change.Image, Args: k.Patch.Change.Args, Containers: k.Patch.Change.Containers,
		},
		Wait: k.Wait.Conditions, Within: cmp.Or(k.Wait.Within, clusterWithin), Keep: k.Keep, Stamped: s.stamps(),
		URL: s.URL, HTTP: s.Ready.HTTP, Contains: s.Ready.Contains, Ready: s.Ready.Within, Stop: s.Stop.Within,
	}
	for _, v := range k.Patch.Change.Env {
		c.Change.Env = append(c.Change.Env, workload.NamedText(v))
	}
	if t := k.Tunnel; t != nil {
		c.Tunnel = &workload.Tunnel{Service: t.Service, Port: t.Port}
	}
	if h := s.Helm; h != nil {
		c.Helm = &workload.Helm{Chart: h.Chart, Version: h.Version, Release: h.Release, Values: h.Values}
	}
	return c
}
