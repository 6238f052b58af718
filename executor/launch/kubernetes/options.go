// Package kubernetes puts weir's agents on the nodes of a Kubernetes cluster: as the
// pods of one Indexed Job with a headless Service and a Secret, made and removed with
// the user's kubectl, so that contexts, namespaces and ways to sign in are those that
// the user has configured.
//
// All three objects carry the label weir.dev/session, and the Job owns the other two:
// whoever deletes the Job has deleted all of it. What is running is known from the
// agents' own signs of life; pods are asked only why something is not.
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
	"time"

	"weir/executor/launch"
)

// Options are what a cluster must be told beyond what every launcher is asked. Their
// zero values leave a thing as the cluster has it, but for those of Default.
type Options struct {
	Kubectl   string // program
	Context   string // of kubectl's configuration; "": the current one
	Namespace string // "": the context's

	Image       string // must be given
	PullPolicy  string // Always, IfNotPresent or Never
	PullSecrets []string
	Command     string // how weir is called in the image; "": a copy of weir's own file is put there

	ServiceAccount string
	NodeSelector   map[string]string
	Tolerations    []string          // KEY[=VALUE][:EFFECT]
	Labels         map[string]string // of all that is created, beside its own
	Resources      map[string]string // requested and limited alike
	SharedMemory   string            // most of /dev/shm, "0": as the container runtime has it
	Capabilities   []string          // of the container, which has no others
	Privileged     bool
	User           string // UID or UID:GID of the container's processes; "": its image says
	HostNetwork    bool
	HostIPC        bool

	Wait     time.Duration // most that pods may take to run
	Deadline time.Duration // after which the cluster ends a forgotten session; 0: never
	Patches  []Patch
}

// Default is what Options are unless told otherwise. RDMA registers memory, which
// needs IPC_LOCK; a container's own /dev/shm has 64 MiB, which no engine gets by with.
func Default() Options {
	return Options{
		Kubectl: "kubectl", SharedMemory: "16Gi", Capabilities: []string{"IPC_LOCK", "SYS_NICE"},
		Wait: 10 * time.Minute, Deadline: 24 * time.Hour,
	}
}

// Launcher starts agents as pods.
type Launcher struct {
	o Options
	// patience is how long an image that cannot be had may be tried for: registries hiccup.
	patience time.Duration
	poll     time.Duration
}

var _ interface {
	launch.Launcher
	launch.Reaper
} = (*Launcher)(nil)

// New is a launcher with the options, which it has checked.
func New(o Options) (*Launcher, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return newLauncher(o), nil
}

func newLauncher(o Options) *Launcher {
	return &Launcher{o: o, patience: 20 * time.Second, poll: 500 * time.Millisecond}
}

var (
	quantity   = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?(m|k|[MGTPE]|[KMGTPE]i)?$`)
	capability = regexp.MustCompile(`^[A-Z_]+$`)
	toleration = regexp.MustCompile(`^([^=:]+)(?:=([^=:]*))?(?::(NoSchedule|PreferNoSchedule|NoExecute))?$`)
)

// check says what is wrong with the options before a cluster is asked, which would
// say it less clearly and about some of it only when pods do not come.
func (o *Options) check() error {
	if err := checkImage(o.Image); err != nil {
		return err
	}
	if !slices.Contains([]string{"", "Always", "IfNotPresent", "Never"}, o.PullPolicy) {
		return fmt.Errorf("pull policy %q: must be Always, IfNotPresent or Never", o.PullPolicy)
	}
	for name, amount := range o.Resources {
		if !quantity.MatchString(amount) {
			return fmt.Errorf("resource %s: %q is no quantity such as 8, 500m or 32Gi", name, amount)
		}
		if strings.HasPrefix(name, hugePages) && o.Resources["cpu"] == "" && o.Resources["memory"] == "" {
			return fmt.Errorf("resource %s: Kubernetes gives huge pages only to pods that also ask for memory or cpu",
				name)
		}
	}
	if !quantity.MatchString(o.SharedMemory) {
		return fmt.Errorf("shared memory: %q is no quantity such as 16Gi", o.SharedMemory)
	}
	for _, c := range o.Capabilities {
		if !capability.MatchString(c) || strings.HasPrefix(c, "CAP_") {
			return fmt.Errorf("capability %q: Kubernetes writes them in capitals and without CAP_, such as IPC_LOCK", c)
		}
	}
	if o.User != "" && !isUser(o.User) {
		return fmt.Errorf("user %q: must be UID or UID:GID, two numbers", o.User)
	}
	for _, t := range o.Tolerations {
		if !toleration.MatchString(t) {
			return fmt.Errorf("toleration %q: must be KEY[=VALUE][:EFFECT] with the effect NoSchedule, PreferNoSchedule or NoExecute",
				t)
		}
	}
	return nil
}

// checkImage refuses to guess: a name without a tag is whatever "latest" is that day.
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

const (
	mark      = "weir.dev/session" // label of all that belongs to a session
	wholeMark = "weir.dev/session-id"
	hugePages = "hugepages-"
	indexMark = "batch.kubernetes.io/job-completion-index"

	// longestName leaves room in a host name's 63 characters for "-" and an index.
	longestName = 56
)

// Name is what a session's objects are called, and the value of their label
// weir.dev/session. Two sessions have the same only by a collision of SHA-256.
func Name(session string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(session))
	name := "weir-" + plain
	if plain == session && len(name) <= longestName && !strings.HasSuffix(name, "-") {
		return name
	}
	sum := sha256.Sum256([]byte(session))
	name = name[:min(len(name), longestName-9)]
	return strings.TrimRight(name, "-") + "-" + hex.EncodeToString(sum[:4])
}

// Node is what the agent in the i-th pod is called: its host name.
func Node(session string, i int) string { return Name(session) + "-" + strconv.Itoa(i) }
