package trust

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// damages are all texts that a text becomes when a bit of it flips or its end is lost.
func damages(whole []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for n := range whole {
			if !yield(whole[:n]) {
				return
			}
		}
		for bit := range 8 * len(whole) {
			changed := bytes.Clone(whole)
			changed[bit/8] ^= 1 << (bit % 8)
			if !yield(changed) {
				return
			}
		}
	}
}

var subject = Subject{"s", "n", "task"}

func TestWhatASessionSays(t *testing.T) {
	s, err := NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	v, err := NewVerifier(s.Public())
	if err != nil {
		t.Fatal(err)
	}
	sealed := s.Seal(subject, []byte("do this"))
	if body, err := v.Open(subject, sealed); err != nil || string(body) != "do this" {
		t.Fatalf("%q %v", body, err)
	}
	for d := range damages(sealed) {
		if body, err := v.Open(subject, d); err == nil {
			t.Errorf("%x is taken for %q", d, body)
		}
	}
	if _, err := v.Open(subject, append(sealed, 0)); err == nil {
		t.Error("a byte more is taken")
	}
	stranger, err := NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Open(subject, stranger.Seal(subject, []byte("do this"))); err == nil {
		t.Error("another session's key is taken")
	}
	for _, key := range [][]byte{nil, s.Public()[:31], append(s.Public(), 0)} {
		if _, err := NewVerifier(key); err == nil {
			t.Errorf("a key of %d bytes is taken", len(key))
		}
	}
}

// A signature is about one session, one node and one name, wherever their letters
// are divided, and of one kind.
func TestASignatureFitsNowhereElse(t *testing.T) {
	s, _ := NewSigner()
	v, _ := NewVerifier(s.Public())
	a := authority(t)
	coordinator := issued(t, a, Coordinator, "main")
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[ab/]{0,3}`)
		pick := func(what string) Subject {
			return Subject{word.Draw(t, what+" session"), word.Draw(t, what+" node"), word.Draw(t, what+" name")}
		}
		said, read := pick("said"), pick("read")
		body := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "body")
		sealed := s.Seal(said, body)
		got, err := v.Open(read, sealed)
		if (err == nil) != (said == read) || err == nil && !bytes.Equal(got, body) {
			t.Fatalf("said of %+v, read as of %+v: %q %v", said, read, got, err)
		}
		now := time.Now()
		invited, err := coordinator.Invite(said, body, now.Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		got, who, err := OpenInvitation(a.Certificate(), read, invited, now)
		if (err == nil) != (said == read) || err == nil && (!bytes.Equal(got, body) || who != "main") {
			t.Fatalf("invited %+v, read as %+v: %q %v", said, read, got, err)
		}
		if _, err := v.Open(said, invited); err == nil {
			t.Fatal("an invitation is taken for what a session says")
		}
		if _, _, err := OpenInvitation(a.Certificate(), said, sealed, now); err == nil {
			t.Fatal("what a session says is taken for an invitation")
		}
	})
}

func TestInvitations(t *testing.T) {
	a, now := authority(t), time.Now()
	coordinator := issued(t, a, Coordinator, "main")
	invite := func(i Identity, expires time.Time) []byte {
		sealed, err := i.Invite(subject, []byte("come"), expires)
		if err != nil {
			t.Fatal(err)
		}
		return sealed
	}
	good := invite(coordinator, now.Add(time.Minute))
	for d := range damages(good) {
		if body, _, err := OpenInvitation(a.Certificate(), subject, d, now); err == nil {
			t.Errorf("%x is taken for %q", d, body)
		}
	}
	for want, c := range map[string]struct {
		sealed []byte
		now    time.Time
	}{
		"expired at":              {good, now.Add(2 * time.Minute)},
		"expired or is not yet":   {invite(expired(t, a, Coordinator, "main"), now.Add(time.Minute)), now},
		"unknown authority":       {invite(issued(t, authority(t), Coordinator, "main"), now.Add(time.Minute)), now},
		"is the most":             {make([]byte, MaxInvitation+maxPEM+1), now},
		"cut short or damaged":    {append(bytes.Clone(good), 0), now},
		"cut short or damaged ":   {nil, now},
		"no PEM, nothing to open": {},
	} {
		ca := a.Certificate()
		if c.now.IsZero() {
			ca, c.sealed, want = nil, good, "one PEM block"
		}
		want = strings.Replace(strings.TrimSpace(want), "is the most", "are the most", 1)
		if _, _, err := OpenInvitation(ca, subject, c.sealed, c.now); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := issued(t, a, Agent, "n").Invite(subject, nil, now); err == nil ||
		!strings.Contains(err.Error(), "only a coordinator") {
		t.Errorf("an agent invites: %v", err)
	}
	if _, err := coordinator.Invite(subject, make([]byte, MaxInvitation+1), now); err == nil {
		t.Error("an invitation of any length")
	}
}

// An agent's certificate, made into what an invitation carries, signs none: its own
// program could leave out the check that Invite makes.
func TestAnAgentCannotForgeAnInvitation(t *testing.T) {
	a := authority(t)
	agent, coordinator := issued(t, a, Agent, "n"), issued(t, a, Coordinator, "main")
	sealed, err := coordinator.Invite(subject, []byte("come"), time.Now().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	fields, err := split(sealed, 5)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := parseCertificate(agent.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	fields[1] = cert.Raw
	if _, _, err := OpenInvitation(a.Certificate(), subject, join(fields...), time.Now()); err == nil ||
		!strings.Contains(err.Error(), "incompatible key usage") {
		t.Errorf("%v", err)
	}
}

// edit is what a fuzz target makes of a good text: keys are made anew in each of its
// processes, so a text of one of them is nothing to another, but a change of it is. Out
// of its range it is the new bytes alone.
func edit(good []byte, at, remove uint16, insert []byte) []byte {
	if int(at) > len(good) {
		return insert
	}
	end := min(int(at)+int(remove), len(good))
	return append(append(bytes.Clone(good[:at]), insert...), good[end:]...)
}

func seedEdits(f *testing.F) {
	f.Add(uint16(0), uint16(0), []byte{})
	f.Add(uint16(3), uint16(1), []byte{0xff})
	f.Add(uint16(70), uint16(4), []byte{0, 0, 0, 1})
	f.Add(uint16(0xffff), uint16(0), []byte("text"))
}

func FuzzOpenInvitation(f *testing.F) {
	a := authority(f)
	i := issued(f, a, Coordinator, "main")
	now := time.Now()
	good, err := i.Invite(subject, []byte("come"), now.Add(time.Minute))
	if err != nil {
		f.Fatal(err)
	}
	seedEdits(f)
	f.Fuzz(func(t *testing.T, at, remove uint16, insert []byte) {
		sealed := edit(good, at, remove, insert)
		if body, _, err := OpenInvitation(a.Certificate(), subject, sealed, now); (err == nil) != bytes.Equal(sealed,
			good) {
			t.Errorf("%x opens as %q, %v", sealed, body, err)
		}
	})
}

func FuzzOpen(f *testing.F) {
	s, err := NewSigner()
	if err != nil {
		f.Fatal(err)
	}
	v, err := NewVerifier(s.Public())
	if err != nil {
		f.Fatal(err)
	}
	good := s.Seal(subject, []byte("do this"))
	seedEdits(f)
	f.Fuzz(func(t *testing.T, at, remove uint16, insert []byte) {
		sealed := edit(good, at, remove, insert)
		if body, err := v.Open(subject, sealed); (err == nil) != bytes.Equal(sealed, good) {
			t.Errorf("%x opens as %q, %v", sealed, body, err)
		}
	})
}
