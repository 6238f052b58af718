package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"time"
)

// About is what a session or an agent says of itself, for people.
type About struct {
	User     string    `json:"user"`
	Host     string    `json:"host"`
	PID      int       `json:"pid"`
	Since    time.Time `json:"since"`
	Weir     string    `json:"weir"`               // its version
	Scenario string    `json:"scenario,omitempty"` // of a session
}

// AboutThis is about this process, from now on.
func AboutThis(version string) About {
	a := About{PID: os.Getpid(), Since: time.Now().UTC().Truncate(time.Second), Weir: version}
	a.Host, _ = os.Hostname() // it is for people: what is not known is left out
	if u, err := user.Current(); err == nil {
		a.User = u.Username
	}
	return a
}

// Encode gives it the form that Announce and Register take.
func (a About) Encode() []byte {
	text, err := json.Marshal(a)
	if err != nil {
		panic(err) // strings, a number and a time of this century
	}
	return text
}

// ReadAbout reads what Encode wrote.
func ReadAbout(text []byte) (a About, err error) {
	if err := json.Unmarshal(text, &a); err != nil {
		return About{}, fmt.Errorf("reading what a process says of itself: %w", err)
	}
	return a, nil
}

// Announce says who runs the session. A session without this is one whose coordinator
// is gone.
func (s *Session) Announce(ctx context.Context, about []byte) error {
	fresh, err := s.putNew(ctx, s.prefix+announcementName, about)
	if err == nil && !fresh {
		err = errors.New("there is a session of that name already")
	}
	if err != nil {
		return fmt.Errorf("announcing session %s: %w", s.id, err)
	}
	return nil
}
