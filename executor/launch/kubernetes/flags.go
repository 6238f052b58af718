package kubernetes

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// Flags are those of the command line that say how pods are made.
type Flags struct {
	o                            Options
	resources, selectors, labels []string
	capabilities                 []string
	patches                      []string
}

// Add adds the flags to a set.
func (k *Flags) Add(f *pflag.FlagSet) {
	k.o = Default()
	o := &k.o
	f.StringVar(&o.Image, "kube-image", "", "container `IMAGE`, any that has a shell, by tag or digest")
	f.StringVar(&o.Context, "kube-context", "", "`CONTEXT` of kubectl's configuration (default the current one)")
	f.StringVar(&o.Namespace, "kube-namespace", "", "`NAMESPACE` (default the context's)")
	f.StringVar(&o.Kubectl, "kube-kubectl", o.Kubectl, "`PROGRAM` to ask the cluster with")
	f.StringVar(&o.Command, "kube-command", o.Command,
		"`PROGRAM` that weir is in the image (default: none; weir copies itself into the pods)")
	f.StringVar(&o.PullPolicy, "kube-pull-policy", "",
		"when the image is pulled: `POLICY` Always, IfNotPresent or Never")
	f.StringArrayVar(&o.PullSecrets, "kube-pull-secret", nil, "`SECRET` to pull the image with (repeatable)")
	f.StringVar(&o.ServiceAccount, "kube-service-account", "", "`ACCOUNT` of the pods")
	f.StringArrayVar(&k.selectors, "kube-node-selector", nil,
		"only nodes with this label, as `NAME=VALUE` (repeatable)")
	f.StringArrayVar(&o.Tolerations, "kube-toleration", nil,
		"also nodes with this taint, as `KEY[=VALUE][:EFFECT]` (repeatable)")
	f.StringArrayVar(&k.labels, "kube-label", nil,
		"label of the pods and all else that is created, as `NAME=VALUE`, such as Kueue's queue (repeatable)")
	f.StringArrayVar(&k.resources, "kube-resource", nil, "what each pod gets, as `NAME=QUANTITY`: cpu=90, nvidia.com/gpu=8, vpc.amazonaws.com/efa=32, hugepages-2Mi=5120Mi (repeatable)")
	f.StringVar(&o.SharedMemory, "kube-shm", o.SharedMemory,
		"most of the pods' /dev/shm, a `QUANTITY`; 0: as the container runtime has it")
	f.StringArrayVar(&k.capabilities, "kube-capability", nil, "`CAPABILITY` of the container (repeatable; default "+
		strings.Join(o.Capabilities, ", ")+"; none: none at all)")
	f.StringVar(&o.User, "kube-user", "", "`UID[:GID]` of the container's processes (default: its image's)")
	f.BoolVar(&o.Privileged, "kube-privileged", false, "privileged containers")
	f.BoolVar(&o.HostNetwork, "kube-host-network", false, "pods use the network of their node")
	f.BoolVar(&o.HostIPC, "kube-host-ipc", false, "pods use the IPC namespace of their node")
	f.DurationVar(&o.Wait, "kube-wait", o.Wait, "most `TIME` that pods may take to run")
	f.DurationVar(&o.Deadline, "kube-deadline", o.Deadline,
		"`TIME` after which the cluster ends a session that was forgotten; 0: never")
	f.StringArrayVar(&k.patches, "kube-patch", nil, "change what is created by `FILE`: YAML of a pod template, or with kind: Job or Service of that, merged as kubectl patch does (repeatable)")
}

// Launcher is what the flags describe, for pods with that many GPUs unless they say otherwise.
// An error is one of usage.
func (k *Flags) Launcher(gpus int) (*Launcher, error) {
	o := k.o
	var err error
	if o.Resources, err = pairs("kube-resource", k.resources); err != nil {
		return nil, err
	}
	if o.NodeSelector, err = pairs("kube-node-selector", k.selectors); err != nil {
		return nil, err
	}
	if o.Labels, err = pairs("kube-label", k.labels); err != nil {
		return nil, err
	}
	isGPU := func(name string) bool { return strings.HasSuffix(name, "/gpu") }
	if gpus > 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(o.Resources)), isGPU) {
		o.Resources["nvidia.com/gpu"] = strconv.Itoa(gpus)
	}
	switch {
	case slices.Equal(k.capabilities, []string{"none"}):
		o.Capabilities = nil
	case len(k.capabilities) > 0:
		o.Capabilities = k.capabilities
	}
	for name, d := range map[string]int64{"kube-wait": int64(o.Wait), "kube-deadline": int64(o.Deadline)} {
		if d < 0 || name == "kube-wait" && d == 0 {
			return nil, fmt.Errorf("--%s: must be a positive time", name)
		}
	}
	for _, file := range k.patches {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading a patch: %w", err)
		}
		all, err := ReadPatches(text, file)
		if err != nil {
			return nil, fmt.Errorf("--kube-patch %w", err)
		}
		o.Patches = append(o.Patches, all...)
	}
	l, err := New(o)
	if err != nil && o.Image == "" {
		return nil, errors.New("--kube-image is missing: it names the container image, which may be any, by tag or digest")
	}
	if err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	return l, nil
}

// Reaper finds what is left of sessions, for which no image is needed.
func (k *Flags) Reaper() *Launcher { return newLauncher(k.o) }

// pairs reads the texts of a flag that has NAME=VALUE.
func pairs(flag string, texts []string) (map[string]string, error) {
	out := map[string]string{}
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--%s %q: write it as NAME=VALUE", flag, text)
		}
		out[name] = value
	}
	return out, nil
}
