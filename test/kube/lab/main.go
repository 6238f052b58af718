// Command lab is a Kubernetes cluster in one file, for tests: etcd, the real
// control plane and kubectl by their names as first argument, and a stand-in for
// the nodes ("nodes", see nodes.go) that runs pods as plain processes.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	if len(os.Args) < 2 {
		fail("usage: lab etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kubectl|nodes [ARGS]")
	}
	name := os.Args[1]
	os.Args = append([]string{name}, os.Args[2:]...)
	var cmd *cobra.Command
	switch name {
	case "etcd":
		etcdmain.Main(os.Args)
		return
	case "kube-apiserver":
		cmd = apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		cmd = controllers.NewControllerManagerCommand()
	case "kube-scheduler":
		cmd = scheduler.NewSchedulerCommand()
	case "kubectl":
		cmd = kubectl.NewDefaultKubectlCommand()
	case "nodes":
		serveNodes()
		return
	case "pod": // not for people: what "nodes" starts
		becomePod()
		return
	default:
		fail("%s is no part of the cluster", name)
	}
	os.Exit(cli.Run(cmd))
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "lab: "+format+"\n", args...)
	os.Exit(2)
}
