package kubernetes

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/internal/bounded"
)

// Settings are the settings of pods from files and flags.
type Settings struct {
	o                                                   Options
	resources, selectors, labels, capabilities, patches []string
}

// Add adds the settings to a set. docs/hosts.md describes them.
func (k *Settings) Add(f *pflag.FlagSet) {
	k.o = Default()
	o := &k.o
	for name, v := range map[string]*string{
		"image": &o.Image, "context": &o.Context, "namespace": &o.Namespace, "kubectl": &o.Kubectl,
		"command": &o.Command, "pull_policy": &o.PullPolicy, "service_account": &o.ServiceAccount,
		"shm": &o.SharedMemory, "user": &o.User,
	} {
		f.StringVar(v, name, *v, "")
	}
	for name, v := range map[string]*[]string{
		"pull_secret": &o.PullSecrets, "toleration": &o.Tolerations, "node_selector": &k.selectors, "label": &k.labels,
		"resource": &k.resources, "capability": &k.capabilities, "patch": &k.patches,
	} {
		f.StringArrayVar(v, name, nil, "")
	}
	f.BoolVar(&o.Privileged, "privileged", false, "")
	f.BoolVar(&o.HostNetwork, "host_network", false, "")
	f.BoolVar(&o.HostIPC, "host_ipc", false, "")
	f.DurationVar(&o.Wait, "wait", o.Wait, "")
	f.DurationVar(&o.Deadline, "deadline", o.Deadline, "")
}

// Access are the settings of the access to the cluster.
func (k *Settings) Access() Options {
	return Options{Kubectl: k.o.Kubectl, Context: k.o.Context, Namespace: k.o.Namespace}
}

// Launcher is the launcher with the settings, for pods with a number of GPUs unless the settings have another.
// Errors are wrong usage.
func (k *Settings) Launcher(gpus int) (*Launcher, error) {
	o := k.o
	var err error
	if o.Resources, err = pairs("--kube-resource", k.resources); err != nil {
		return nil, err
	}
	if o.NodeSelector, err = pairs("kubernetes.node_selector", k.selectors); err != nil {
		return nil, err
	}
	if o.Labels, err = pairs("--kube-label", k.labels); err != nil {
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
	switch {
	case o.Wait <= 0:
		return nil, errors.New("kubernetes.wait: must be a positive time")
	case o.Deadline < 0:
		return nil, errors.New("kubernetes.deadline: must be a positive time, or 0 for never")
	}
	for _, file := range k.patches {
		text, err := bounded.ReadFile(file, bounded.Text)
		if err != nil {
			return nil, fmt.Errorf("reading a patch: %w", err)
		}
		all, err := ReadPatches(text, file)
		if err != nil {
			return nil, fmt.Errorf("kubernetes.patch %w", err)
		}
		o.Patches = append(o.Patches, all...)
	}
	l, err := New(o)
	if err != nil && o.Image == "" {
		return nil, errors.New("--kube-image is missing: the container image, by tag or digest")
	}
	if err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	return l, nil
}

// Reaper is a launcher for Reap alone, which needs no image.
func (k *Settings) Reaper() *Launcher { return newLauncher(k.o) }

// pairs parses NAME=VALUE.
func pairs(of string, texts []string) (map[string]string, error) {
	out := map[string]string{}
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%s %q: write it as NAME=VALUE", of, text)
		}
		out[name] = value
	}
	return out, nil
}
