package command

import (
	"regexp"
	"strings"
	"time"

	"weir/placeholder"
	"weir/quantity"
	"weir/workload"
)

const (
	clusterWithin   = 10 * time.Minute // of conditions, unless wait says otherwise
	clusterStop     = 30 * time.Second // Kubernetes' own grace of a pod
	mostManifest    = 256 << 10
	mostConditions  = 64
	longestNameKube = 53 // of a release of Helm
)

var (
	kubeName   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)
	kubeObject = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9.-]*/[a-z0-9]([-a-z0-9.:]{0,251}[a-z0-9])?$`)
	kubePort   = regexp.MustCompile(`^([0-9]{1,5}|[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?)$`)
	kubeIs     = regexp.MustCompile(`^[A-Za-z][\w./-]*(\[[^\]]+\][\w./-]*)*(=.+)?$`)
)

// isInCluster says whether a service is made of objects of a cluster.
func isInCluster(s *workload.Structured) bool {
	for _, p := range s.Pairs {
		if p.Key == "kubernetes" || p.Key == "helm" {
			return true
		}
	}
	return false
}

// readInCluster reads a service that is made of objects of a cluster.
func readInCluster(p workload.Pair) (Service, error) {
	s := Service{Role: Role{Name: p.Key, Ends: EndsWhenTold, Place: workload.NothingOwn}}
	path := []string{p.Key}
	if !roleName.MatchString(p.Key) {
		return s, workload.Wrong(path, "a service is named by letters, digits and _")
	}
	f := mapping(p.Value, path, "kubernetes", "helm", "tunnel", "after", "ready", "url", "fresh", "stop", "metrics",
		"proof")
	if f.err != nil {
		return s, f.err
	}
	c := &workload.InCluster{Within: clusterWithin, Stop: clusterStop}
	s.Cluster = c
	s.After = f.words("after")
	s.URL = f.late("url")
	c.URL = s.URL
	readKube(f.get("kubernetes"), append(path, "kubernetes"), c, f)
	readHelm(f.get("helm"), append(path, "helm"), c, f)
	if tunnel := f.get("tunnel"); tunnel != nil && c.Tunnel != nil {
		f.fail([]string{"tunnel"}, "it is given in kubernetes too")
	} else if tunnel != nil {
		c.Tunnel = readTunnel(tunnel, append(path, "tunnel"), f)
	}
	if f.err == nil {
		s.Ready, f.err = readReady(f.get("ready"), append(path, "ready"), serviceReadyWithin)
	}
	r := &s.Ready
	c.HTTP, c.Contains, c.Ready = r.HTTP, r.Contains, r.Within
	switch {
	case r.Listens != "" || r.Log != "" || r.File != "" || r.Etcd != "" || len(r.Command) > 0:
		f.fail(
			[]string{"ready"},
			"a service in a cluster is ready by kubernetes.wait, and by http where it has a url",
		)
	case r.HTTP != "" && !s.hasURL() && !strings.Contains(r.HTTP, "://"):
		f.fail(
			[]string{"ready", "http"},
			"it is a path below the url of the service, which has neither url nor tunnel",
		)
	case len(c.Manifests) == 0 && c.Helm == nil && len(c.Wait) == 0 && c.Tunnel == nil:
		f.fail([]string{"kubernetes"}, "it has none of apply, wait and tunnel")
	case len(c.Manifests) == 0 && (len(c.Patches) > 0 || !c.Change.Empty()):
		f.fail([]string{"kubernetes", "patch"}, "there is nothing to patch: apply is not given")
	}
	s.Stop = Stop{Signal: stopByDefault.Signal, Within: c.Stop}
	if stop := f.get("stop"); stop != nil && f.err == nil {
		inner := mapping(stop, append(path, "stop"), "within") // pods are always told by SIGTERM
		c.Stop = inner.duration("within", clusterStop)
		if c.Stop > mostStop {
			inner.fail([]string{"within"}, "%v is more than %v", c.Stop, mostStop)
		}
		s.Stop.Within, f.err = c.Stop, inner.err
	}
	s.readCommon(f)
	return s, f.err
}

func readKube(k *workload.Structured, path []string, c *workload.InCluster, of *fields) {
	if k == nil || of.err != nil {
		return
	}
	f := mapping(k, path, "apply", "patch", "wait", "tunnel", "keep", "context", "namespace")
	if f.err == nil {
		c.Context, c.Namespace = f.text("context"), f.text("namespace")
		c.Manifests = f.manifests("apply", f.get("apply"))
		f.patches(c)
		c.Wait, c.Within = f.conditions()
		if t := f.get("tunnel"); t != nil {
			c.Tunnel = readTunnel(t, append(path, "tunnel"), f)
		}
	}
	switch text := f.text("keep"); {
	case f.err != nil:
	case text != "" && text != "true" && text != "false":
		f.fail([]string{"keep"}, "%q is neither true nor false", text)
	case c.Namespace != "" && !kubeName.MatchString(c.Namespace):
		f.fail([]string{"namespace"}, "%q is no name of a namespace", c.Namespace)
	default:
		c.Keep = text == "true"
	}
	of.err = f.err
}

// manifests are one or several texts of YAML. The text of a file has been read: it ends with a
// line break.
func (f *fields) manifests(key string, s *workload.Structured) (all []string) {
	switch {
	case s == nil:
		return nil
	case s.Pairs != nil:
		f.fail(
			[]string{key},
			"it is a mapping, whose numbers and texts cannot be told apart here: name a file, or write the manifest as a text behind `|`",
		)
		return nil
	case s.IsText():
		s = &workload.Structured{Items: []*workload.Structured{s}}
	}
	for i, item := range s.Items {
		text := f.plain(item.Text, key, quantity.Text(int64(i)))
		switch {
		case !item.IsText():
			f.fail([]string{key}, "it is neither a file nor the text of a manifest, nor a list of these")
		case !strings.Contains(text, "\n"):
			f.fail([]string{key}, "%q is no manifest", text)
		case len(text) > mostManifest:
			f.fail([]string{key}, "%d bytes are more than %d KiB", len(text), mostManifest>>10)
		}
		all = append(all, text)
	}
	return all
}

// patches are manifests of their own, or a mapping that changes containers.
func (f *fields) patches(c *workload.InCluster) {
	s := f.get("patch")
	if s == nil || s.Pairs == nil {
		c.Patches = f.manifests("patch", s)
		return
	}
	path := append(append([]string{}, f.path...), "patch")
	inner := mapping(s, path, "image", "env", "args", "containers")
	if inner.err == nil {
		c.Change.Image, c.Change.Args, c.Change.Containers = inner.late(
			"image",
		), inner.texts(
			"args",
		), inner.words(
			"containers",
		)
		for _, v := range inner.pairs("env", true) {
			if !variableName.MatchString(v.Name) {
				inner.fail([]string{"env", v.Name}, "no variable has such a name")
			}
			c.Change.Env = append(c.Change.Env, workload.NamedText(v))
		}
	}
	f.err = inner.err
}

// conditions are pairs of an object and what it must come to, and within.
func (f *fields) conditions() (all []workload.Condition, within time.Duration) {
	within = clusterWithin
	s := f.get("wait")
	if s == nil {
		return nil, within
	}
	path := append(append([]string{}, f.path...), "wait")
	if s.Pairs == nil {
		f.fail([]string{"wait"}, "it is %s, not a mapping as {Deployment/NAME: Available, within: 10m}", s.What())
		return nil, within
	}
	inner := &fields{path: path, of: s}
	within = inner.duration("within", clusterWithin)
	for _, p := range s.Pairs {
		if p.Key == "within" {
			continue
		}
		is := inner.text(p.Key)
		switch {
		case !kubeObject.MatchString(p.Key):
			inner.fail([]string{p.Key}, "an object is KIND/NAME, as Deployment/frontend")
		case !kubeIs.MatchString(is) || strings.Contains(is, ".") && !strings.Contains(is, "="):
			inner.fail(
				[]string{p.Key},
				"%q is neither a condition, as Ready or Ready=False, nor a field, as status.readyReplicas=2",
				is,
			)
		}
		all = append(all, workload.Condition{Object: p.Key, Is: is})
	}
	if len(all) == 0 || len(all) > mostConditions {
		inner.fail(nil, "it has %d objects: there must be 1 to %d", len(all), mostConditions)
	}
	f.err = inner.err
	return all, within
}

func readTunnel(s *workload.Structured, path []string, of *fields) *workload.Tunnel {
	if of.err != nil {
		return nil
	}
	f := mapping(s, path, "service", "port")
	if f.err != nil {
		of.err = f.err
		return nil
	}
	t := &workload.Tunnel{Service: f.text("service"), Port: f.text("port")}
	switch {
	case !kubeName.MatchString(t.Service) && !kubeObject.MatchString(t.Service):
		f.fail([]string{"service"}, "it is the name of a Service, or KIND/NAME")
	case !kubePort.MatchString(t.Port):
		f.fail([]string{"port"}, "it is the number or the name of a port of %s", t.Service)
	}
	of.err = f.err
	return t
}

func readHelm(s *workload.Structured, path []string, c *workload.InCluster, of *fields) {
	if s == nil || of.err != nil {
		return
	}
	f := mapping(s, path, "chart", "version", "release", "values")
	if f.err == nil {
		c.Helm = &workload.Helm{Chart: f.text("chart"), Version: f.text("version"), Release: f.text("release")}
		c.Helm.Values = f.manifests("values", f.get("values"))
		switch h := c.Helm; {
		case f.err != nil:
		case h.Chart == "" || strings.HasPrefix(h.Chart, "-"):
			f.fail([]string{"chart"}, "it is a directory, an archive, or the name of a chart in a repository")
		case h.Release != "" && (!kubeName.MatchString(h.Release) || len(h.Release) > longestNameKube):
			f.fail(
				[]string{"release"},
				"%q is no name of a release: small letters, digits and -, %d at most",
				h.Release,
				longestNameKube,
			)
		}
	}
	of.err = f.err
}

// hasURL says whether launches may name where the service answers.
func (s *Service) hasURL() bool { return s.URL != "" || s.Cluster != nil && s.Cluster.Tunnel != nil }

// clusterTexts are the texts of a service in a cluster that may have names of a launch.
func (s *Service) clusterTexts() (all []string) {
	if s.Cluster == nil {
		return nil
	}
	all = append(all, s.Cluster.Change.Image)
	all = append(all, s.Cluster.Change.Args...)
	for _, v := range s.Cluster.Change.Env {
		all = append(all, v.Value)
	}
	return all
}

// checkClusterNames refuses names that nobody has outside of a node.
func (s *Service) checkClusterNames(f *fields) {
	if s.Cluster == nil {
		return
	}
	for _, name := range s.names() {
		_, _, isService := OfService(name)
		if !isService && !workload.OfRuns(name) {
			f.fail(nil, "%s is of a process on a node, and the service is in a cluster", placeholder.Of(name))
		}
	}
}

// putCluster writes what the service has in a cluster.
func (s *Service) putCluster(w *writer) {
	c := s.Cluster
	var k, change, wait writer
	k.text("context", placeholder.Quote(c.Context))
	k.text("namespace", placeholder.Quote(c.Namespace))
	k.quoted("apply", c.Manifests)
	k.quoted("patch", c.Patches)
	change.text("image", c.Change.Image)
	var env []Variable
	for _, v := range c.Change.Env {
		env = append(env, Variable(v))
	}
	change.variables("env", env)
	change.texts("args", c.Change.Args)
	change.quoted("containers", c.Change.Containers)
	if len(change.pairs) > 0 {
		k.put("patch", change.mapping())
	}
	for _, want := range c.Wait {
		wait.text(want.Object, placeholder.Quote(want.Is))
	}
	if c.Within != clusterWithin && len(c.Wait) > 0 {
		wait.text("within", quantity.Time(c.Within).String())
	}
	if len(wait.pairs) > 0 {
		k.put("wait", wait.mapping())
	}
	if c.Tunnel != nil {
		var t writer
		t.text("service", placeholder.Quote(c.Tunnel.Service))
		t.text("port", placeholder.Quote(c.Tunnel.Port))
		k.put("tunnel", t.mapping())
	}
	if c.Keep {
		k.text("keep", "true")
	}
	if len(k.pairs) > 0 {
		w.put("kubernetes", k.mapping())
	}
	if h := c.Helm; h != nil {
		var inner writer
		inner.text("chart", placeholder.Quote(h.Chart))
		inner.text("version", placeholder.Quote(h.Version))
		inner.text("release", placeholder.Quote(h.Release))
		inner.quoted("values", h.Values)
		w.put("helm", inner.mapping())
	}
}

// quoted writes texts that have no names of a launch.
func (w *writer) quoted(key string, texts []string) {
	var all []string
	for _, t := range texts {
		all = append(all, placeholder.Quote(t))
	}
	w.texts(key, all)
}

// inCluster is what an executor is told.
func (s *Service) inCluster() *workload.InCluster {
	if s.Cluster == nil {
		return nil
	}
	c := *s.Cluster
	c.Stamped = s.stamps()
	return &c
}
