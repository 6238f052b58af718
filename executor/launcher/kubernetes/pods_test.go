package kubernetes

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/executor/kube"
	"github.com/weir-bench/weir/executor/launcher"
)

// What a pod's status, as clusters report it, says of the agent in it.
func TestJudge(t *testing.T) {
	const scheduled = `"spec":{"nodeName":"h1"},`
	for name, c := range map[string]struct {
		pod  string
		want pod
	}{
		"not yet looked at": {`"status":{"phase":"Pending"}`,
			pod{Worker: launcher.Worker{State: launcher.Pending, Reason: "Unschedulable"}, silent: true}},
		"no room": {`"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes are available: 3 Insufficient nvidia.com/gpu."}]}`,
			pod{
				Worker: launcher.Worker{
					State: launcher.Pending, Reason: "Unschedulable: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
				},
			}},
		"being made": {scheduled + `"status":{"phase":"Pending","containerStatuses":[{"name":"agent","state":{"waiting":{"reason":"ContainerCreating"}}}]}`,
			pod{Worker: launcher.Worker{State: launcher.Starting}, silent: true}},
		"no image": {scheduled + `"status":{"phase":"Pending","containerStatuses":[{"name":"agent","state":{"waiting":{"reason":"ImagePullBackOff","message":"Back-off pulling image \"x:1\""}}}]}`,
			pod{
				Worker: launcher.Worker{State: launcher.Starting,
					Reason: `ImagePullBackOff: Back-off pulling image "x:1" (is the image's name right, and may this cluster pull it (the setting kubernetes.pull_secret)?)`},
				hopeless: true,
			}},
		"init container": {scheduled + `"status":{"phase":"Pending","initContainerStatuses":[{"name":"i","state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off 10s"}}}],"containerStatuses":[{"name":"agent","state":{"waiting":{"reason":"PodInitializing"}}}]}`,
			pod{
				Worker:   launcher.Worker{State: launcher.Starting, Reason: "CrashLoopBackOff: back-off 10s"},
				hopeless: true,
			}},
		"running": {scheduled + `"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"sidecar","state":{"terminated":{"exitCode":1}}},{"name":"agent","state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}}}]}`,
			pod{Worker: launcher.Worker{State: launcher.Running}}},
		"done": {scheduled + `"status":{"phase":"Succeeded","containerStatuses":[{"name":"agent","state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]}`,
			pod{Worker: launcher.Worker{State: launcher.Exited}}},
		"failed": {scheduled + `"status":{"phase":"Failed","containerStatuses":[{"name":"agent","state":{"terminated":{"exitCode":3,"reason":"Error"}}}]}`,
			pod{Worker: launcher.Worker{State: launcher.Exited, Code: 3}}},
		"out of memory": {scheduled + `"status":{"phase":"Failed","containerStatuses":[{"name":"agent","state":{"terminated":{"exitCode":137,"signal":9,"reason":"OOMKilled"}}}]}`,
			pod{Worker: launcher.Worker{State: launcher.Exited, Code: 137, Reason: "OOMKilled; signal 9"}}},
		"evicted": {scheduled + `"status":{"phase":"Failed","reason":"Evicted","message":"The node was low on resource: memory."}`,
			pod{Worker: launcher.Worker{
				State: launcher.Lost, Reason: "Evicted: The node was low on resource: memory.",
			}}},
		"node away": {scheduled + `"status":{"phase":"Running","conditions":[{"type":"DisruptionTarget","status":"True","reason":"DeletionByTaintManager","message":"Taint manager: deleting due to NoExecute taint"}],"containerStatuses":[{"name":"agent","state":{"running":{}}}]}`,
			pod{
				Worker: launcher.Worker{
					State: launcher.Lost, Reason: "DeletionByTaintManager: Taint manager: deleting due to NoExecute taint",
				},
			}},
		"preempted": {scheduled + `"status":{"phase":"Failed","conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler","message":"preempting to\naccommodate"}],"containerStatuses":[{"name":"agent","state":{"terminated":{"exitCode":143,"reason":"Error"}}}]}`,
			pod{
				Worker: launcher.Worker{
					State: launcher.Exited, Code: 143, Reason: "PreemptionByScheduler: preempting to accommodate",
				},
			}},
		"not answering": {scheduled + `"status":{"phase":"Running","conditions":[{"type":"Ready","status":"False"},{"type":"ContainersReady","status":"True"}],"containerStatuses":[{"name":"agent","state":{"running":{}}}]}`,
			pod{Worker: launcher.Worker{State: launcher.Lost, Reason: "the node h1 does not answer the cluster"}}},
		"a sidecar is not ready": {scheduled + `"status":{"phase":"Running","conditions":[{"type":"Ready","status":"False","reason":"ContainersNotReady"},{"type":"ContainersReady","status":"False"}],"containerStatuses":[{"name":"agent","state":{"running":{}}}]}`,
			pod{Worker: launcher.Worker{State: launcher.Running}}},
		"deleted": {scheduled + `"status":{"phase":"Running","containerStatuses":[{"name":"agent","state":{"running":{}}}]}`,
			pod{Worker: launcher.Worker{State: launcher.Lost, Reason: "the pod is being deleted"}}},
		"deleted, and has ended": {scheduled + `"status":{"phase":"Failed","containerStatuses":[{"name":"agent","state":{"terminated":{"exitCode":143,"reason":"Error"}}}]}`,
			pod{Worker: launcher.Worker{State: launcher.Exited, Code: 143, Reason: "the pod is being deleted"}}},
	} {
		t.Run(name, func(t *testing.T) {
			deleted := ""
			if strings.HasPrefix(name, "deleted") {
				deleted = `"deletionTimestamp":"2026-01-01T00:00:00Z",`
			}
			text := fmt.Sprintf(`{"kind":"Pod","metadata":{%s"name":"p","annotations":{%q:"0"}},%s}`, deleted,
				indexMark, c.pod)
			var it kube.Item
			if err := json.Unmarshal([]byte(text), &it); err != nil {
				t.Fatal(err)
			}
			c.want.name, c.want.Node = "p", Node(session, 0)
			got := judge(session, 1, []kube.Item{it})[0]
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(pod{})); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestJudgeByIndex(t *testing.T) {
	at := func(name, index, created string) kube.Item {
		var it kube.Item
		it.Kind, it.Metadata.Name = "Pod", name
		it.Metadata.Annotations = map[string]string{indexMark: index}
		var err error
		if it.Metadata.CreationTimestamp, err = time.Parse(time.DateTime, created); err != nil {
			t.Fatal(err)
		}
		return it
	}
	pods := judge(session, 3, []kube.Item{
		at("late", "2", "2026-01-01 00:00:09"), at("early", "2", "2026-01-01 00:00:01"),
		at("first", "0", "2026-01-01 00:00:00"), at("foreign", "7", "2026-01-01 00:00:00"),
		at("odd", "x", "2026-01-01 00:00:00"),
	})
	var names []string
	for _, p := range pods {
		names = append(names, p.name+" on "+p.Node)
	}
	want := []string{"first on " + Node(session, 0), " on " + Node(session, 1), "late on " + Node(session, 2)}
	if d := cmp.Diff(want, names); d != "" {
		t.Error(d)
	}
	if p := pods[1]; p.State != launcher.Pending || !p.silent {
		t.Errorf("without a pod the node is %+v, want pending and to be asked about", p)
	}
}

func TestLatestEvent(t *testing.T) {
	var all []event
	err := json.Unmarshal([]byte(`[
		{"reason":"Old","message":"a","lastTimestamp":"2026-01-01T00:00:01Z"},
		{"reason":"New","message":"b\n c","eventTime":"2026-01-01T00:00:02Z","series":{"lastObservedTime":"2026-01-01T00:00:09Z"}},
		{"reason":"Middle","message":"d","eventTime":"2026-01-01T00:00:05Z"},
		{"reason":"Timeless","message":"e"}]`), &all)
	if err != nil {
		t.Fatal(err)
	}
	if got := latest(all); got != "New: b c" {
		t.Errorf("latest is %q", got)
	}
	if got := latest(nil); got != "" {
		t.Errorf("of no events the latest is %q", got)
	}
}

func TestSplitLogs(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	got := split(strings.NewReader("lost\n[pod/a/agent] one\n[pod/b/agent] two\n[pod/a/agent] \n[pod/a/agent] [pod/b/agent] quoted\n[pod/b/agent] " +
		long + "\n[pod/a/agent] last"))
	want := map[string]string{"a": "one\n\n[pod/b/agent] quoted\nlast", "b": "two\n" + long + "\n"}
	for pod, text := range want {
		if string(got[pod]) != text {
			t.Errorf("of %s: %.80q, want %.80q", pod, got[pod], text)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d pods, want %d", len(got), len(want))
	}
}

func TestLogsAreBounded(t *testing.T) {
	line := "[pod/a/agent] " + strings.Repeat("x", 60<<10) + "\n"
	if got := split(strings.NewReader(strings.Repeat(line, 400))); len(got["a"]) > mostLog ||
		len(got["a"]) < mostLog-100<<10 {
		t.Errorf("%d bytes are kept, want close to %d", len(got["a"]), mostLog)
	}
}
