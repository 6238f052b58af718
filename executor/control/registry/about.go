package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"time"
)

// About describes the process of a session or an agent.
type About struct {
	User     string    `json:"user"`
	Host     string    `json:"host"`
	PID      int       `json:"pid"`
	Since    time.Time `json:"since"`
	Weir     string    `json:"weir"`               // its version
	Scenario string    `json:"scenario,omitempty"` // of a session
}

// AboutThis describes this process, with the present time as Since.
func AboutThis(version string) About {
	a := About{PID: os.Getpid(), Since: time.Now().UTC().Truncate(time.Second), Weir: version}
	a.Host, _ = os.Hostname() // "" if unknown
	if u, err := user.Current(); err == nil {
		a.User = u.Username
	}
	return a
}

// Encode is the JSON of a, for Announce and Register.
func (a About) Encode() []byte {
	text, err := json.Marshal(a)
	if err != nil {
		panic(err) // strings, a number and a time of this century
	}
	return text
}

// ReadAbout decodes the output of Encode.
func ReadAbout(text []byte) (a About, err error) {
	if err := json.Unmarshal(text, &a); err != nil {
		return About{}, fmt.Errorf("reading the description of a process: %w", err)
	}
	return a, nil
}

// Announce writes the session's About. A session without this key has no coordinator.
func (s *Session) Announce(ctx context.Context, about []byte) error {
	fresh, err := s.putNew(ctx, s.prefix+announcementName, about)
	if err == nil && !fresh {
		err = errors.New("a session of that name exists already")
	}
	if err != nil {
		return fmt.Errorf("announcing session %s: %w", s.id, err)
	}
	return nil
}
