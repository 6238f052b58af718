package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// node is a name and an address; with a process, its pods run where that one does.
type node struct{ name, address, process string }

// kubelet stands for the kubelets of all nodes.
type kubelet struct {
	api       *kubernetes.Clientset
	dir       string // of logs and volumes
	port      int    // where logs are served
	resources core.ResourceList
	pods      podTable
}

// serveNodes registers the nodes with the API server and runs what is scheduled
// onto them until it is told to end; then all of its pods are killed.
func serveNodes() {
	k := &kubelet{resources: core.ResourceList{
		"cpu": resource.MustParse("64"), "memory": resource.MustParse("256Gi"),
		"pods": resource.MustParse("110"), "ephemeral-storage": resource.MustParse("50Gi"),
	}}
	config := flag.String("kubeconfig", "", "how to reach the API server, as `FILE`")
	flag.StringVar(&k.dir, "dir", "", "directory for logs and volumes")
	flag.IntVar(&k.port, "port", 10250, "port for logs")
	flag.Func("resource", "what each node has, as `NAME=QUANTITY` (repeatable)", func(s string) error {
		name, amount, _ := strings.Cut(s, "=")
		q, err := resource.ParseQuantity(amount)
		k.resources[core.ResourceName(name)] = q
		return err
	})
	var nodes []node
	flag.Func("node", "`NAME=ADDRESS[@PROCESS]` (repeatable)", func(s string) error {
		name, rest, _ := strings.Cut(s, "=")
		address, process, _ := strings.Cut(rest, "@")
		nodes = append(nodes, node{name, address, process})
		return nil
	})
	flag.Parse()
	if k.dir == "" || len(nodes) == 0 {
		fail("nodes needs -dir and at least one -node")
	}
	c, err := clientcmd.BuildConfigFromFlags("", *config)
	if err != nil {
		log.Fatal(err)
	}
	c.QPS, c.Burst = 200, 400
	k.api = kubernetes.NewForConfigOrDie(c)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	for _, n := range nodes {
		k.register(ctx, n)
		k.watch(ctx, n)
	}
	go k.serveLogs()
	<-ctx.Done()
	k.pods.killAll()
}

// register makes the node known, and from then on alive.
func (k *kubelet) register(ctx context.Context, n node) {
	about := &core.Node{ObjectMeta: meta.ObjectMeta{Name: n.name, Labels: map[string]string{
		"kubernetes.io/hostname": n.name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
	}}}
	if _, err := k.api.CoreV1().Nodes().Create(ctx, about, meta.CreateOptions{}); err != nil &&
		!apierrors.IsAlreadyExists(err) {
		log.Fatal(err)
	}
	k.beat(ctx, n)
	go func() {
		for range time.Tick(5 * time.Second) {
			k.beat(ctx, n)
		}
	}()
}

// beat renews what the node says of itself and its lease.
func (k *kubelet) beat(ctx context.Context, n node) {
	now := meta.Now()
	cur, err := k.api.CoreV1().Nodes().Get(ctx, n.name, meta.GetOptions{})
	if err != nil {
		log.Print(err)
		return
	}
	cur.Status.Capacity, cur.Status.Allocatable = k.resources, k.resources
	cur.Status.Conditions = []core.NodeCondition{
		{
			Type: core.NodeReady, Status: core.ConditionTrue, Reason: "Lab", LastHeartbeatTime: now,
			LastTransitionTime: now,
		},
	}
	// The API server fetches logs from the first address of the kinds that it prefers.
	cur.Status.Addresses = []core.NodeAddress{
		{Type: core.NodeInternalIP, Address: n.address}, {Type: core.NodeHostName, Address: n.name},
		{Type: core.NodeExternalIP, Address: "127.0.0.1"},
	}
	cur.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(k.port)
	cur.Status.NodeInfo.KubeletVersion = "v1.36.3-lab"
	if _, err := k.api.CoreV1().Nodes().UpdateStatus(ctx, cur, meta.UpdateOptions{}); err != nil {
		log.Print(err)
	}
	renewed, seconds := meta.NowMicro(), int32(40)
	leases := k.api.CoordinationV1().Leases(core.NamespaceNodeLease)
	lease, err := leases.Get(ctx, n.name, meta.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = leases.Create(ctx, &coordination.Lease{ObjectMeta: meta.ObjectMeta{Name: n.name},
			Spec: coordination.LeaseSpec{HolderIdentity: &n.name, LeaseDurationSeconds: &seconds, RenewTime: &renewed}},
			meta.CreateOptions{})
	} else if err == nil {
		lease.Spec.RenewTime = &renewed
		_, err = leases.Update(ctx, lease, meta.UpdateOptions{})
	}
	if err != nil {
		log.Print(err)
	}
}

// watch starts and stops pods as the API server says.
func (k *kubelet) watch(ctx context.Context, n node) {
	_, run := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(k.api.CoreV1().RESTClient(), "pods", "",
			fields.OneTermEqualSelector("spec.nodeName", n.name)),
		ObjectType: &core.Pod{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { k.sync(ctx, o.(*core.Pod), n) },
			UpdateFunc: func(_, o any) { k.sync(ctx, o.(*core.Pod), n) },
			DeleteFunc: func(o any) {
				if p, ok := o.(*core.Pod); ok {
					k.pods.kill(p.UID)
				}
			},
		},
	})
	go run.Run(ctx.Done())
}
