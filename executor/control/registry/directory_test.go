package registry

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func openDirectory(t *testing.T, server *Server) *Directory {
	t.Helper()
	d, err := OpenDirectory(t.Context(), server.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(false); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestAgentsWaitForInvitations(t *testing.T) {
	server := startServer(t)
	daemon, watcher := openDirectory(t, server), openDirectory(t, server)
	alive, gone := func([]byte) bool { return false }, func(about []byte) bool { return string(about) == "me" }
	if err := daemon.Register(t.Context(), "n1", []byte("me"), alive); err != nil {
		t.Fatal(err)
	}
	if err := watcher.Register(t.Context(), "n1", []byte("me too"), alive); !errors.Is(err, ErrTaken) {
		t.Errorf("two agents of one node: %v", err)
	}
	if err := daemon.Register(t.Context(), "a/b", nil, alive); err == nil {
		t.Error("a node may have a slash in its name")
	}
	invitations, err := daemon.Invites(t.Context(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), server.Config(), "s")
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range []string{"n2", "n1"} {
		if err := s.Invite(t.Context(), node, []byte("come to "+node)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(Invitation{Session: "s", Body: []byte("come to n1")},
		next(t, "the invitation", invitations)); diff != "" {
		t.Error(diff)
	}
	if err := s.Reserve(t.Context(), "n1", Reservation{}); err != nil {
		t.Fatal(err)
	}
	all, err := watcher.Agents(t.Context())
	if diff := cmp.Diff([]Registered{{Node: "n1", About: []byte("me"), Sessions: []string{"s"}}}, all); diff != "" ||
		err != nil {
		t.Errorf("%s (%v)", diff, err)
	}
	if err := s.Close(false); err != nil {
		t.Fatal(err)
	}
	if gone := next(t, "the end of the session", invitations); !gone.Gone || gone.Session != "s" {
		t.Errorf("%+v", gone)
	}
	if all, err := watcher.Agents(t.Context()); err != nil || all[0].Sessions != nil {
		t.Errorf("the reservation outlived its session: %+v, %v", all, err)
	}
	if err := watcher.Register(t.Context(), "n1", []byte("the next"), gone); err != nil {
		t.Errorf("an agent with a dead predecessor: %v", err)
	}
	if err := daemon.Register(t.Context(), "n1", []byte("me"), gone); !errors.Is(err, ErrTaken) {
		t.Errorf("one with a live predecessor: %v", err)
	}
}

func TestSessionsAreListedAndOnlyDeadOnesRemoved(t *testing.T) {
	server := startServer(t)
	d := openDirectory(t, server)
	// which is no session
	if err := d.Register(t.Context(), "n1", nil, func([]byte) bool { return false }); err != nil {
		t.Fatal(err)
	}
	live, dead := openSession(t, server, "live"), openSession(t, server, "dead")
	about := AboutThis("v1")
	about.Scenario = "quickstart"
	if err := live.Announce(t.Context(), about.Encode()); err != nil {
		t.Fatal(err)
	}
	if err := openSession(t, server, "live").Announce(t.Context(), nil); err == nil {
		t.Error("two coordinators of one session")
	}
	lent := func(s *Session, keys ...string) {
		t.Helper()
		for _, key := range keys {
			if err := s.put(t.Context(), s.prefix+lentDir+"l/"+key, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, s := range []*Session{live, dead} {
		for _, node := range []string{"n1", "n2"} {
			if err := s.Reserve(t.Context(), node, Reservation{}); err != nil {
				t.Fatal(err)
			}
		}
		lent(s, "a", "b")
	}
	// one that begins as another does, and one that sorts between a name and its keys
	for _, id := range []string{"dead-too", "dead.x"} {
		lent(openSession(t, server, id), "a")
	}
	all, err := d.Sessions(t.Context())
	want := []SessionInfo{
		{ID: "dead", Keys: 2, Nodes: []string{"n1", "n2"}},
		{ID: "dead-too", Keys: 1}, {ID: "dead.x", Keys: 1}, {
			ID: "live", About: about.Encode(), Keys: 3, Nodes: []string{"n1", "n2"},
		},
	}
	if diff := cmp.Diff(want, all); diff != "" || err != nil {
		t.Errorf("%s (%v)", diff, err)
	}
	if got, err := ReadAbout(all[3].About); err != nil || got != about || got.Host == "" ||
		time.Since(got.Since) > time.Minute {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := d.Remove(t.Context(), "live"); !errors.Is(err, ErrLive) {
		t.Errorf("a live session: %v", err)
	}
	if n, err := d.Remove(t.Context(), "dead"); n != 2 || err != nil {
		t.Errorf("removed %d keys, %v", n, err)
	}
	if _, err := d.Remove(t.Context(), "agents"); err == nil {
		t.Error("the agents were removed as if they were a session")
	}
	if n := keysOf(t, live, "live"); n != 3 {
		t.Errorf("the live session has %d keys", n)
	}
	if n := keysOf(t, live, "dead-too"); n != 1 {
		t.Errorf("the session with the longer name has %d keys", n)
	}
}

func TestReservations(t *testing.T) {
	for name, test := range map[string]struct {
		first, second Reservation
		want          string
	}{
		"nothing of either": {},
		"disjoint": {Reservation{CPUs: []int{0, 1}, GPUs: []int{0}, NICs: []string{"a"}},
			Reservation{CPUs: []int{2}, GPUs: []int{1}, NICs: []string{"b"}}, ""},
		"the same kind only": {Reservation{CPUs: []int{1}}, Reservation{GPUs: []int{1}}, ""},
		"one processor": {Reservation{CPUs: []int{0, 1}}, Reservation{CPUs: []int{1, 2}},
			"session first has processor 1 of node n"},
		"two GPUs": {Reservation{GPUs: []int{0, 1, 2}}, Reservation{GPUs: []int{2, 1}},
			"session first has GPUs 2, 1 of node n"},
		"a NIC": {Reservation{NICs: []string{"mlx5_0"}}, Reservation{NICs: []string{"mlx5_0"}},
			"session first has NIC mlx5_0 of node n"},

		"all of what is used": {Reservation{}, Reservation{Exclusive: true}, "session first has a part of node n"},

		"of what is all claimed": {Reservation{Exclusive: true}, Reservation{}, "session first has all of node n"},
	} {
		t.Run(name, func(t *testing.T) {
			server := startServer(t)
			first, second := openSession(t, server, "first"), openSession(t, server, "second")
			if err := first.Reserve(t.Context(), "n", Reservation{Exclusive: true}); err != nil {
				t.Fatal(err)
			}
			if err := first.Reserve(t.Context(), "n", test.first); err != nil { // instead
				t.Fatal(err)
			}
			if err := second.Reserve(t.Context(), "nn", Reservation{Exclusive: true}); err != nil { // another node
				t.Fatal(err)
			}
			err := second.Reserve(t.Context(), "n", test.second)
			if test.want == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			claimed, ok := errors.AsType[*ReservedError](err)
			if !ok || claimed.Error() != test.want || !strings.HasPrefix(err.Error(), "reserving node n: ") {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// Of many sessions that want the same at once exactly one gets it.
func TestOneOfManyReservationsWins(t *testing.T) {
	server := startServer(t)
	const many = 8
	got := make(chan error, many)
	for i := range many {
		s := openSession(t, server, string(rune('a'+i)))
		go func() { got <- s.Reserve(t.Context(), "n", Reservation{GPUs: []int{3}}) }()
	}
	won := 0
	for range many {
		err := <-got
		if _, claimed := errors.AsType[*ReservedError](err); err != nil && !claimed {
			t.Error(err)
		} else if err == nil {
			won++
		}
	}
	if won != 1 {
		t.Errorf("%d sessions have GPU 3", won)
	}
}

// Why an agent does not come is there as long as the agent is, or until it takes it back.
func TestRefusals(t *testing.T) {
	server := startServer(t)
	coordinator := openDirectory(t, server)
	agent, err := OpenDirectory(t.Context(), server.Config())
	if err != nil {
		t.Fatal(err)
	}
	says := func(want string) {
		t.Helper()
		if got, err := coordinator.Refusal(t.Context(), "n1", "s"); err != nil || got != want {
			t.Errorf("it says %q (%v), want %q", got, err, want)
		}
	}
	says("")
	if err := agent.Refuse(t.Context(), "n1", "s", "too late"); err != nil {
		t.Fatal(err)
	}
	says("") // there is no invitation any more
	session := openSession(t, server, "s")
	if err := session.Invite(t.Context(), "n1", []byte("come")); err != nil {
		t.Fatal(err)
	}
	for _, why := range []string{"no way", strings.Repeat("x", mostRefusal-1) + "é", ""} {
		if err := agent.Refuse(t.Context(), "n1", "s", why); err != nil {
			t.Fatal(err)
		}
		says(strings.TrimSuffix(why, "é")) // which does not fit
	}
	if err := agent.Refuse(t.Context(), "n1", "s", "no"); err != nil {
		t.Fatal(err)
	}
	if all, err := coordinator.Sessions(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("a refusal is a session: %v (%v)", all, err)
	}
	if err := agent.Close(false); err != nil {
		t.Fatal(err)
	}
	says("")
	if err := coordinator.Refuse(t.Context(), "n1", "refusals", "x"); err == nil {
		t.Error("a session has a name that means something else")
	}
}

// A value that is longer than an invitation may be is dropped as it comes, whether it stands there
// already or is written later.
func TestInvitationsThatAreTooLongAreNotHeardOf(t *testing.T) {
	server := startServer(t)
	d := openDirectory(t, server)
	put := func(session string, size int) {
		t.Helper()
		if err := d.put(t.Context(), d.root+invitesDir+"n1/"+session, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	put("a-long", MostInvitation+1)
	put("b", MostInvitation)
	invitations, err := d.Invites(t.Context(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	if i := next(t, "the invitation that was there", invitations); i.Session != "b" {
		t.Errorf("%s with %d bytes", i.Session, len(i.Body))
	}
	put("c-long", MostInvitation+1)
	put("d", 1)
	if i := next(t, "the invitation that came", invitations); i.Session != "d" {
		t.Errorf("%s with %d bytes", i.Session, len(i.Body))
	}
}
