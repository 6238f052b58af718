package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"weir/results"
)

// overFile has the sessions that ended in order: an invitation to one may still be put into etcd
// again by whoever can write there, also after this process was started anew.
const overFile = "sessions.json"

// mostOver is how many are remembered: those whose invitations hold longest.
const mostOver = 10_000

// readOver reads what an earlier process remembered.
func readOver(dir string) (map[string]time.Time, error) {
	over := map[string]time.Time{}
	text, err := os.ReadFile(filepath.Join(dir, overFile))
	if errors.Is(err, fs.ErrNotExist) {
		return over, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &over)
	}
	if err != nil {
		return nil, wrong("the sessions that are over, in %s: %w; remove the file to begin anew", dir, err)
	}
	return over, nil
}

// ended remembers a session that is over until its invitation has expired.
func (d *daemon) ended(session string, expires time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forget(time.Now())
	d.over[session] = expires
	if len(d.over) > mostOver {
		soonest := slices.SortedFunc(maps.Keys(d.over), func(a, b string) int { return d.over[a].Compare(d.over[b]) })
		for _, first := range soonest[:len(soonest)-mostOver] {
			delete(d.over, first)
		}
	}
	text, err := json.Marshal(d.over)
	if err == nil {
		err = results.WriteFile(filepath.Join(d.State, overFile), text)
	}
	if err != nil {
		d.Say(fmt.Sprintf("session %s is over, which the next process will not know: %v", session, err))
	}
}

// done says whether a session has ended in order here.
func (d *daemon) done(session string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forget(time.Now())
	_, done := d.over[session]
	return done
}

func (d *daemon) forget(now time.Time) {
	maps.DeleteFunc(d.over, func(_ string, until time.Time) bool { return now.After(until) })
}
