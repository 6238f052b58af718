// Package kubernetes runs weir's agents as the pods of an Indexed Job with a headless Service and a Secret. It
// uses the user's kubectl, with its contexts, namespaces and credentials.
//
// All three objects have the label weir.dev/session, and the Job owns the other two: deleting the Job deletes
// all. Agents report themselves over links; the status of pods only explains missing agents.
package kubernetes

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/weir-bench/weir/executor/kube"
	"github.com/weir-bench/weir/executor/launcher"
)

// Options are the settings of pods. Zero values mean the cluster's defaults, except for those of Default.
type Options struct {
	Kubectl   string // program
	Context   string // of kubectl's configuration; "": the current one
	Namespace string // "": the context's

	Image       string // must be given
	PullPolicy  string // Always, IfNotPresent or Never
	PullSecrets []string
	Command     string // path of weir in the image; "": weir's own file is copied into the pod

	ServiceAccount string
	NodeSelector   map[string]string
	Tolerations    []string          // KEY[=VALUE][:EFFECT]
	Labels         map[string]string // of all created objects, besides weir's own
	Resources      map[string]string // requests and limits
	SharedMemory   string            // size limit of /dev/shm, "0": the container runtime's
	Capabilities   []string          // of the container; all others are dropped
	Privileged     bool
	User           string // UID or UID:GID of the container's processes; "": its image says
	HostNetwork    bool
	HostIPC        bool

	Wait     time.Duration // time limit for pods to run
	Deadline time.Duration // after which the cluster ends a forgotten session; 0: never
	Patches  []Patch
}

// Default are the default options. RDMA needs IPC_LOCK to register memory; the default /dev/shm of a container
// has 64 MiB, which is too small for all engines.
func Default() Options {
	return Options{
		Kubectl: "kubectl", SharedMemory: "16Gi", Capabilities: []string{"IPC_LOCK", "SYS_NICE"},
		Wait: 10 * time.Minute, Deadline: 24 * time.Hour,
	}
}

// hints are advice about errors, besides that of kube.
var hints = []kube.Hint{
	{Said: "exceeded quota",
		Do: "ask for less with --kube-resource, or for more quota"},
	{Said: "denied the request",
		Do: "an admission policy of this cluster; the setting kubernetes.patch may help to comply"},
	{Said: "(Forbidden)",
		Do: "your account lacks a right: weir needs create, get, list, patch and delete of jobs, get, list, create and delete of services and secrets, get, list and delete of pods, get of pods/log, create of pods/exec where weir is copied, list of events, in one namespace"},
	{Said: "namespaces \"",
		Do: "choose another with --kube-namespace, or make it with \"kubectl create namespace\""},
	{Said: "(AlreadyExists)",
		Do: "it is left from a former coordinator of this session; \"kubectl delete job\" removes it with all its objects"},
}

// Launcher starts agents as pods.
type Launcher struct {
	o            Options
	kube         *kube.Client
	hopelessTime time.Duration // kube.HopelessTime
	poll         time.Duration
}

var _ interface {
	launcher.Launcher
	launcher.Reaper
} = (*Launcher)(nil)

// New makes a launcher. The error is about invalid options.
func New(o Options) (*Launcher, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return newLauncher(o), nil
}

func newLauncher(o Options) *Launcher {
	return &Launcher{
		o: o, hopelessTime: kube.HopelessTime, poll: 500 * time.Millisecond,
		kube: &kube.Client{
			Program: o.Kubectl, Context: o.Context, Namespace: o.Namespace, Hints: hints,
			Missing: "install it or name another in the setting kubernetes.kubectl",
		},
	}
}

var (
	quantity   = pattern(`^[0-9]+(\.[0-9]+)?(m|k|[MGTPE]|[KMGTPE]i)?$`)
	capability = pattern(`^[A-Z_]+$`)
	subdomain  = pattern(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
	domain     = pattern(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	labelKey   = pattern(`^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$`)
	labelValue = pattern(`^([A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?)?$`)
	toleration = pattern(`^([^=:]+)(?:=([^=:]*))?(?::(NoSchedule|PreferNoSchedule|NoExecute))?$`)
)

// pattern compiles when it is used first: those with large counts take a part of the start of every command.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// check validates the options, with clearer messages than the cluster's.
func (o *Options) check() error {
	if err := checkImage(o.Image); err != nil {
		return err
	}
	if !slices.Contains([]string{"", "Always", "IfNotPresent", "Never"}, o.PullPolicy) {
		return fmt.Errorf("pull policy %q: must be Always, IfNotPresent or Never", o.PullPolicy)
	}
	if err := o.checkNames(); err != nil {
		return err
	}
	for name, amount := range o.Resources {
		if !quantity().MatchString(amount) {
			return fmt.Errorf("resource %s: %q is no quantity such as 8, 500m or 32Gi", name, amount)
		}
		if strings.HasPrefix(name, hugePages) && o.Resources["cpu"] == "" && o.Resources["memory"] == "" {
			return fmt.Errorf("resource %s: Kubernetes gives huge pages only to pods that also ask for memory or cpu",
				name)
		}
	}
	if !quantity().MatchString(o.SharedMemory) {
		return fmt.Errorf("shared memory: %q is no quantity such as 16Gi", o.SharedMemory)
	}
	for _, c := range o.Capabilities {
		if !capability().MatchString(c) || strings.HasPrefix(c, "CAP_") {
			return fmt.Errorf("capability %q: Kubernetes writes them in capitals and without CAP_, such as IPC_LOCK", c)
		}
	}
	if o.User != "" && !isUser(o.User) {
		return fmt.Errorf("user %q: must be UID or UID:GID, two numbers", o.User)
	}
	for _, t := range o.Tolerations {
		if !toleration().MatchString(t) {
			return fmt.Errorf("toleration %q: must be KEY[=VALUE][:EFFECT] with the effect NoSchedule, PreferNoSchedule or NoExecute",
				t)
		}
	}
	return nil
}

// checkNames checks names as the cluster would when it gets the manifests.
func (o *Options) checkNames() error {
	if o.Namespace != "" && !domain().MatchString(o.Namespace) {
		return fmt.Errorf("namespace %q: must be lower-case letters, digits and -, at most 63", o.Namespace)
	}
	if o.ServiceAccount != "" && !subdomain().MatchString(o.ServiceAccount) {
		return fmt.Errorf("service account %q: must be lower-case letters, digits, - and dots", o.ServiceAccount)
	}
	for _, name := range o.PullSecrets {
		if !subdomain().MatchString(name) {
			return fmt.Errorf("pull secret %q: must be lower-case letters, digits, - and dots", name)
		}
	}
	for what, labels := range map[string]map[string]string{"label": o.Labels, "node selector": o.NodeSelector} {
		for key, value := range labels {
			if !labelKey().MatchString(key) || !labelValue().MatchString(value) {
				return fmt.Errorf("%s %q: must be KEY=VALUE of letters, digits, -, _ and ., each at most 63 (a key may have a domain and / before it)",
					what, key+"="+value)
			}
		}
	}
	for name := range o.Resources {
		if !labelKey().MatchString(name) {
			return fmt.Errorf("resource %q: no name such as cpu or nvidia.com/gpu", name)
		}
	}
	return nil
}

// checkImage requires an explicit tag or digest.
func checkImage(image string) error {
	switch {
	case image == "":
		return errors.New("no image: pods need one, which may be any; name it with its tag or digest")
	case strings.ContainsAny(image, " \t\n"):
		return fmt.Errorf("image %q: a name has no blanks", image)
	case strings.Contains(image, "@"):
		return nil
	}
	if _, tag, ok := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":"); !ok || tag == "" {
		return fmt.Errorf("image %q has no tag, which means %s:latest, another image some day: name a tag or digest, or say :latest",
			image, strings.TrimSuffix(image, ":"))
	}
	return nil
}

// isUser reports whether a text is UID or UID:GID.
func isUser(text string) bool {
	user, group, given := strings.Cut(text, ":")
	return integer(user) >= 0 && (!given || integer(group) >= 0)
}

// integer parses a non-negative integer; -1 if it is none.
func integer(text string) int64 {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return -1
	}
	return int64(n)
}

const (
	mark      = "weir.dev/session" // label of all objects of a session
	hugePages = "hugepages-"
	indexMark = "batch.kubernetes.io/job-completion-index"

	// longestName leaves space for "-" and an index in the 63 characters of a host name.
	longestName = 56
)

// Name is the name of a session's objects, and the value of their label weir.dev/session. Names are unique
// except for collisions of a 32-bit hash.
func Name(session string) string {
	plain := kube.Plain(session)
	name := "weir-" + plain
	if plain == session && len(name) <= longestName && !strings.HasSuffix(name, "-") {
		return name
	}
	sum := sha256.Sum256([]byte(session))
	name = name[:min(len(name), longestName-9)]
	return strings.TrimRight(name, "-") + "-" + hex.EncodeToString(sum[:4])
}

// Node is the name of the agent in the i-th pod: its host name.
func Node(session string, i int) string { return Name(session) + "-" + strconv.Itoa(i) }
