package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"weir/executor/agent"
	"weir/executor/cluster"
	"weir/executor/trust"
	"weir/test/phase"
)

// An agent goes on with the certificate that it has, and joins anew with a token when that
// is another's or has ended.
func TestWhoseCertificateIsTaken(t *testing.T) {
	ca, err := trust.NewAuthority("test", 30*24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	i, err := ca.Issue(trust.Agent, "n1", 10*24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	token, err := ca.Token(20*24*time.Hour, "")
	if err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	if err := writeIdentity(state, i); err != nil {
		t.Fatal(err)
	}
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		node, join, state string
		in                time.Duration
		own               bool
		want              string // in the error
	}{
		"its own":                   {"n1", "", state, day, true, ""},
		"its own, and a token":      {"n1", token, state, day, true, ""},
		"another's":                 {"n2", "", state, day, false, "is that of node n1"},
		"another's, and a token":    {"n2", token, state, day, false, ""},
		"ended":                     {"n1", "", state, 11 * day, false, "ended at"},
		"ended, and a token":        {"n1", token, state, 11 * day, false, ""},
		"ended, and so has a token": {"n1", token, state, 21 * day, false, "join token: it ended at"},
		"none":                      {"n1", "", t.TempDir(), day, false, "has joined no cluster"},
		"none, and a token":         {"n1", token, t.TempDir(), day, false, ""},
		"none, and half of a token": {"n1", token[:40], t.TempDir(), day, false, "join token"},
	} {
		d := &daemon{Options: Options{Node: test.node, Join: test.join, State: test.state}}
		err := d.credentials(time.Now().Add(test.in))
		if _, setup := errors.AsType[*SetupError](err); test.want == "" && err != nil ||
			test.want != "" && (!setup || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if own := d.identity.Certificate != nil; own != test.own {
			t.Errorf("%s: it goes on with a certificate: %v", name, own)
		}
	}
}

// An invitation that is put back when its session has ended in order is refused as long as
// it could be believed.
func TestASessionThatIsOverIsNotServedAgain(t *testing.T) {
	d := &daemon{over: map[string]time.Time{"ended": time.Now().Add(time.Hour), "long ago": time.Now().Add(-time.Hour)}}
	for session, want := range map[string]bool{"ended": true, "long ago": false, "another": false} {
		if got := d.done(session); got != want {
			t.Errorf("%s: %v", session, got)
		}
	}
}

// Whoever has the state directory that a registered agent had on this boot knows that the
// agent is gone; nobody else does.
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
	d := &daemon{id: id, Options: Options{Node: "n1"}}
	if !d.predecessor(about.Encode()) {
		t.Error("the process before is not known")
	}
	booted, other := about, about
	booted.Machine, other.State = "another boot", "another directory"
	for name, text := range map[string][]byte{
		"another boot": booted.Encode(), "another directory": other.Encode(), "no state": []byte("{}"),
		"garbage": []byte("{"),
	} {
		if d.predecessor(text) {
			t.Errorf("%s: taken for the process before", name)
		}
	}
	if (&daemon{Options: Options{Node: "n1"}}).predecessor(About{Node: "n1", Machine: agent.HostID()}.Encode()) {
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
	nowhere := cluster.Config{Endpoints: []string{"http://127.0.0.1:1"}}
	for _, known := range []bool{false, true} {
		d := &daemon{known: known, Options: Options{Node: "n1", Etcd: nowhere}}
		if err := d.registered(t.Context()); err == nil || errors.Is(err, errAway) != known {
			t.Errorf("registered before: %v: %v", known, err)
		}
	}
	d := &daemon{known: true}
	if err := d.unregistered(cluster.ErrTaken); errors.Is(err, errAway) {
		t.Error("it waits for an etcd where another agent has its name")
	}
}

// A session that has ended is over for the next process with this state directory, too, until
// its invitation has expired.
func TestSessionsThatAreOverAreRemembered(t *testing.T) {
	dir := t.TempDir()
	begin := func() *daemon {
		over, err := readOver(dir)
		if err != nil {
			t.Fatal(err)
		}
		return &daemon{over: over, Options: Options{State: dir, Say: func(text string) { t.Error(text) }}}
	}
	d := begin()
	d.ended("long", time.Now().Add(time.Hour))
	d.ended("short", time.Now().Add(-time.Second))
	if next := begin(); !next.done("long") || next.done("short") || next.done("other") {
		t.Errorf("remembered are %v", next.over)
	}
	for i := range mostOver + 5 {
		d.over[strconv.Itoa(i)] = time.Now().Add(time.Minute)
	}
	d.ended("last", time.Now().Add(time.Hour))
	if len(d.over) > mostOver || !d.done("long") || !d.done("last") {
		t.Errorf("%d are remembered", len(d.over))
	}
	if err := os.WriteFile(filepath.Join(dir, overFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readOver(dir); err == nil {
		t.Error("a damaged file is read")
	}
}

// Refusals that strangers can cause are logged a few times, and then counted.
func TestRefusalsAreSaidAtALimitedRate(t *testing.T) {
	var l limit
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

// However many invitations there are, so many are attended to at once, and the others refused.
func TestSessionsAttendedToAtOnceAreBounded(t *testing.T) {
	said := ""
	d := &daemon{
		sessions: map[string]context.CancelFunc{}, refused: map[string]bool{}, answer: func(string, string) {},
		Options: Options{Say: func(text string) { said += text + "\n" }},
	}
	for i := range mostSessions {
		d.sessions[strconv.Itoa(i)] = func() {}
	}
	d.invited(t.Context(), cluster.Invitation{Session: "one-more"})
	d.wg.Wait()
	if _, taken := d.sessions["one-more"]; taken || !d.refused["one-more"] ||
		!strings.Contains(said, "session one-more: this agent attends to 32 sessions at a time") {
		t.Errorf("it is attended to: %v, and the agent says %q", taken, said)
	}
}
