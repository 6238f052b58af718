package registry

import "testing"

func TestDeleteSessionDeletesOnlyThatSession(t *testing.T) {
	server := startServer(t)
	d := openDirectory(t, server)
	dead, other, s := openSession(t, server, "dead"), openSession(t, server, "dead.x"), openSession(t, server, "s")
	for _, each := range []*Session{dead, other} {
		for node, cpu := range map[string]int{"n1": 0, "n2": 1} {
			if each == other {
				cpu += 2
			}
			if err := each.Reserve(t.Context(), node, Reservation{CPUs: []int{cpu}}); err != nil {
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
	if err := s.Reserve(t.Context(), "n1", Reservation{CPUs: []int{0}}); err == nil {
		t.Fatal("what the dead session claims is free before it is deleted")
	}
	if err := s.DeleteSession(t.Context(), "dead"); err != nil {
		t.Fatal(err)
	}
	if err := s.Reserve(t.Context(), "n1", Reservation{CPUs: []int{0}}); err != nil {
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
		t.Errorf("keys: %d of the deleted one, %d of another", a, b)
	}
	for _, name := range []string{"", "claims", "a/b"} {
		if err := s.DeleteSession(t.Context(), name); err == nil {
			t.Errorf("deleted %q", name)
		}
	}
}
