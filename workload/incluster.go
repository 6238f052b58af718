package workload

import "time"

// InCluster is a service of objects in a Kubernetes cluster. Its texts except manifests may have placeholders.
type InCluster struct {
	Context   string          `json:"context,omitempty"`   // of kubectl's configuration; "": the current one
	Namespace string          `json:"namespace,omitempty"` // "": the context's
	Manifests []string        `json:"manifests,omitempty"` // YAML, each with one or more documents
	Patches   []string        `json:"patches,omitempty"`   // YAML of strategic merge patches with kind and name
	Change    ContainerChange `json:"change"`
	Helm      *Helm           `json:"helm,omitempty"`
	Wait      []Condition     `json:"wait,omitempty"`
	Within    time.Duration   `json:"within_ns"` // for all of Wait
	Tunnel    *Tunnel         `json:"tunnel,omitempty"`
	Keep      bool            `json:"keep,omitempty"`    // the objects are not deleted
	Stamped   bool            `json:"stamped,omitempty"` // each line of the log begins with its time
	URL       string          `json:"url,omitempty"`     // "": the tunnel's
	// HTTP must answer with status 200 to 299, and the answer have Contains, before the service is ready; "": not
	// checked.
	HTTP     string        `json:"http,omitempty"`
	Contains string        `json:"contains,omitempty"`
	Ready    time.Duration `json:"ready_ns"`
	Stop     time.Duration `json:"stop_ns"` // grace period of pods
}

// ContainerChange is a change to containers of all manifests.
type ContainerChange struct {
	Image string      `json:"image,omitempty"`
	Env   []NamedText `json:"env,omitempty"`
	Args  []string    `json:"args,omitempty"` // replace those of the containers
	// Containers are the names of the changed containers; none: all. A pod must have only one then for an image or
	// args.
	Containers []string `json:"containers,omitempty"`
}

// Empty reports whether nothing is changed.
func (c *ContainerChange) Empty() bool { return c.Image == "" && len(c.Env) == 0 && len(c.Args) == 0 }

// NamedText is a text with a name.
type NamedText struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Condition is a state that an object must reach: a condition of its status, or a field with a value.
type Condition struct {
	Object string `json:"object"` // KIND/NAME
	Is     string `json:"is"`     // Ready, Ready=False, status.readyReplicas=2
}

// Tunnel forwards a port of this host to a port of a Service or a pod.
type Tunnel struct {
	Service string `json:"service"` // or KIND/NAME
	Port    string `json:"port"`    // number or name
}

// Helm is a release of a chart.
type Helm struct {
	Chart   string   `json:"chart"` // a directory, an archive, or a name in a repository
	Version string   `json:"version,omitempty"`
	Release string   `json:"release"`
	Values  []string `json:"values,omitempty"` // YAML; later ones take precedence
}
