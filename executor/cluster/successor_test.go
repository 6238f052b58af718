package cluster

import "testing"

func TestOnlyTheOneThatIsGoneIsDismissed(t *testing.T) {
	server := startServer(t)
	coordinator, old, next1 := openSession(t, server, "s"), openSession(t, server, "s"), openSession(t, server, "s")
	members, err := coordinator.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Join(t.Context(), "n1", []byte("old")); err != nil {
		t.Fatal(err)
	}
	gone := next(t, "the first agent", members)
	if err := coordinator.Dismiss(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	if m := next(t, "its end", members); !m.Gone {
		t.Errorf("%+v", m)
	}
	if err := next1.Join(t.Context(), "n1", []byte("new")); err != nil {
		t.Errorf("an agent in the place of one that was dismissed: %v", err)
	}
	if m := next(t, "the second agent", members); string(m.Inventory) != "new" {
		t.Errorf("%+v", m)
	}
	if err := coordinator.Dismiss(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	if n := keysOf(t, coordinator, "s"); n != 1 {
		t.Errorf("%d keys: the second agent went with the first", n)
	}
}

func TestBuryTakesOnlyThatSession(t *testing.T) {
	server := startServer(t)
	d := openDirectory(t, server)
	dead, other, s := openSession(t, server, "dead"), openSession(t, server, "dead.x"), openSession(t, server, "s")
	for _, each := range []*Session{dead, other} {
		for node, cpu := range map[string]int{"n1": 0, "n2": 1} {
			if each == other {
				cpu += 2
			}
			if err := each.Claim(t.Context(), node, Claim{CPUs: []int{cpu}}); err != nil {
				t.Fatal(err)
			}
			if err := each.Invite(t.Context(), node, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := each.Announce(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Claim(t.Context(), "n1", Claim{CPUs: []int{0}}); err == nil {
		t.Fatal("what the dead session claims is free before it is buried")
	}
	if err := s.Bury(t.Context(), "dead"); err != nil {
		t.Fatal(err)
	}
	if err := s.Claim(t.Context(), "n1", Claim{CPUs: []int{0}}); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{claimsDir, invitesDir} {
		names, err := d.names(t.Context(), d.root+dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"n1/dead.x", "n2/dead.x"} {
			found := false
			for _, name := range names {
				found = found || name == want
				if name == "n1/dead" || name == "n2/dead" {
					t.Errorf("%s%s is left", dir, name)
				}
			}
			if !found {
				t.Errorf("%s%s was another's", dir, want)
			}
		}
	}
	if a, b := keysOf(t, s, "dead"), keysOf(t, s, "dead.x"); a != 0 || b != 1 {
		t.Errorf("keys: %d of the one that was buried, %d of another", a, b)
	}
	for _, name := range []string{"", "claims", "a/b"} {
		if err := s.Bury(t.Context(), name); err == nil {
			t.Errorf("buried %q", name)
		}
	}
}
