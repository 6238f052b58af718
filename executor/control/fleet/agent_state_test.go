package fleet

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/control/link"
	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/test/phase"
)

// An agent that coordinators could not know is told so before it registers.
func TestAgentsWithoutACertificateOfTheirOwn(t *testing.T) {
	a := authority(t)
	old, err := a.Issue(link.Agent, "n1", 1) // certificates count whole seconds: this one has expired
	if err != nil {
		t.Fatal(err)
	}
	other := issued(t, a, link.Agent, "n1")
	other.CA = issued(t, authority(t), link.Agent, "n1").CA
	for want, i := range map[string]link.Identity{
		"":                                  issued(t, a, link.Agent, "n1"),
		"is for \"n2\", and the node is":    issued(t, a, link.Agent, "n2"),
		"certificate has expired":           old,
		"no agent's":                        issued(t, a, link.Coordinator, "n1"),
		"unknown authority":                 other,
		"reading a certificate and its key": {},
	} {
		d := &daemon{AgentOptions: AgentOptions{Options: agent.Options{Node: "n1"}, Credentials: i.Fixed()}}
		err := d.checkCredentials()
		if _, setup := errors.AsType[*SetupError](err); want == "" && err != nil ||
			want != "" && (!setup || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Only a process with the state directory of a registered agent, on the same boot, knows that the agent is
// dead.
func TestOnlyTheNextProcessWithTheStateIsASuccessor(t *testing.T) {
	dir := t.TempDir()
	lock, id, err := lockState(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := lockState(dir); err == nil {
		t.Error("two processes have the state directory")
	}
	about := About{Node: "n1", Machine: agent.HostID(), State: id}
	if err := lock.Close(); err != nil { // as the kernel does with what is killed
		t.Fatal(err)
	}
	if lock, id, err = lockState(dir); err != nil || id != about.State {
		t.Fatalf("the directory is called %s, and was %s (%v)", id, about.State, err)
	}
	defer lock.Close()
	d := &daemon{id: id, AgentOptions: AgentOptions{Options: agent.Options{Node: "n1"}}}
	if !d.isPredecessor(about.Encode()) {
		t.Error("the process before is not known")
	}
	booted, other := about, about
	booted.Machine, other.State = "another boot", "another directory"
	for name, text := range map[string][]byte{
		"another boot": booted.Encode(), "another directory": other.Encode(), "no state": []byte("{}"),
		"garbage": []byte("{"),
	} {
		if d.isPredecessor(text) {
			t.Errorf("%s: taken for the process before", name)
		}
	}
	nameless := &daemon{AgentOptions: AgentOptions{Options: agent.Options{Node: "n1"}}}
	if nameless.isPredecessor(About{Node: "n1", Machine: agent.HostID()}.Encode()) {
		t.Error("without a name of the directory everybody is the process before")
	}
	if _, other, err := lockState(t.TempDir()); err != nil || other == id {
		t.Errorf("two directories are called %s (%v)", other, err)
	}
}

// An etcd that is away when the agent starts is a mistake; one that goes later may come back,
// however long it takes.
func TestAnEtcdThatWasThereIsWaitedFor(t *testing.T) {
	phase.Long(t)
	t.Parallel()
	nowhere := registry.Config{Endpoints: []string{"http://127.0.0.1:1"}}
	for _, known := range []bool{false, true} {
		d := &daemon{known: known, AgentOptions: AgentOptions{Options: agent.Options{Node: "n1"}, Etcd: nowhere}}
		if err := d.registered(t.Context()); err == nil || errors.Is(err, errAway) != known {
			t.Errorf("registered before: %v: %v", known, err)
		}
	}
	d := &daemon{known: true}
	if err := d.unregistered(registry.ErrTaken); errors.Is(err, errAway) {
		t.Error("it waits for an etcd where another agent has its name")
	}
}

// Refusals that strangers can cause are logged a few times, and then counted.
func TestRefusalsAreRateLimited(t *testing.T) {
	var l rateLimit
	now, said := time.Now(), 0
	for range 1000 {
		if ok, skipped := l.take(now); ok {
			if said++; skipped != 0 {
				t.Errorf("%d skipped at once", skipped)
			}
		}
	}
	if ok, skipped := l.take(now.Add(limitSpan)); said != limitMost || !ok || skipped != 1000-limitMost {
		t.Errorf("said %d times, then %v with %d skipped", said, ok, skipped)
	}
}

// The number of sessions at a time is limited; further invitations are refused.
func TestSessionsAttendedToAtOnceAreBounded(t *testing.T) {
	said := ""
	d := &daemon{
		sessions: map[string]context.CancelFunc{}, refused: map[string]bool{}, answer: func(string, string) {},
		AgentOptions: AgentOptions{Say: func(text string) { said += text + "\n" }},
	}
	for i := range mostSessions {
		d.sessions[strconv.Itoa(i)] = func() {}
	}
	d.invited(t.Context(), registry.Invitation{Session: "one-more"})
	d.wg.Wait()
	if _, taken := d.sessions["one-more"]; taken || !d.refused["one-more"] ||
		!strings.Contains(said, "session one-more: this agent already serves 32 sessions") {
		t.Errorf("it is attended to: %v, and the agent says %q", taken, said)
	}
}
