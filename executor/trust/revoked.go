package trust

import (
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// revokedName is the file beside an authority's certificate that says what of it does
// not hold any more. Whoever can change it can change the certificate too, so it is not
// signed.
const revokedName = "revoked"

// mostRevoked is how long that file may be, in bytes.
const mostRevoked = 1 << 20

// revoked is what does not hold although it is signed and has not expired. What was made
// up to a time is meant, so that a node can join again.
type revoked struct {
	nodes  map[string]time.Time // certificates of their agents
	tokens time.Time            // all join tokens
}

// Revoke takes back, for sessions that begin from now on with the authority in dir, the
// certificates of the nodes' agents, and, as whoever had such a node may have read one,
// all join tokens unless they are to be kept. What is made later holds.
func Revoke(dir string, nodes []string, keepTokens bool, now time.Time) error {
	stamp := now.UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano) // as exact as tokens are
	text := ""
	for _, node := range nodes {
		if err := CheckName(node); err != nil {
			return fmt.Errorf("revoking a node: %w", err)
		}
		text += stamp + " node " + node + "\n"
	}
	if !keepTokens {
		text += stamp + " tokens\n"
	}
	path := filepath.Join(dir, revokedName)
	if _, err := readRevoked(dir); err != nil { // nothing is added to what nobody could read
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("revoking: %w", err)
	}
	_, err = f.WriteString(text) // at once, so that two who do it leave whole lines
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("revoking: %w", err)
	}
	return nil
}

// readRevoked reads what Revoke writes. No file is nothing; one that is not understood is
// an error, as it may say what must not be missed.
func readRevoked(dir string) (revoked, error) {
	path := filepath.Join(dir, revokedName)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return revoked{}, nil
	}
	if err != nil {
		return revoked{}, fmt.Errorf("reading what is revoked: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostRevoked+1))
	if err != nil {
		return revoked{}, fmt.Errorf("reading what is revoked: %w", err)
	}
	r, err := parseRevoked(text)
	if err != nil {
		return revoked{}, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// parseRevoked reads lines of TIME node NAME and TIME tokens.
func parseRevoked(text []byte) (revoked, error) {
	if len(text) > mostRevoked {
		return revoked{}, fmt.Errorf("longer than %d bytes", mostRevoked)
	}
	r := revoked{nodes: map[string]time.Time{}}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		stamp, rest, _ := strings.Cut(line, " ")
		what, name, _ := strings.Cut(rest, " ")
		at, err := time.Parse(time.RFC3339, stamp)
		switch {
		case err == nil && what == "node":
			err = CheckName(name)
			if at.After(r.nodes[name]) {
				r.nodes[name] = at
			}
		case err == nil && rest == "tokens":
			if at.After(r.tokens) {
				r.tokens = at
			}
		default:
			err = errors.New("a line is TIME node NAME or TIME tokens")
		}
		if err != nil {
			return revoked{}, fmt.Errorf("line %d: %w", number, err)
		}
	}
	return r, nil
}

// certificate says whether the certificate of a name is revoked.
func (r revoked) certificate(cert *x509.Certificate, name string) error {
	made := cert.NotBefore.Add(early) // in whole seconds: one of the second in which it is revoked is, too
	if at, ok := r.nodes[name]; ok && !made.After(at) {
		return fmt.Errorf("the certificate of node %q was revoked at %s; with a new join token it can join again", name,
			at.UTC().Format(time.RFC3339))
	}
	return nil
}

// token says whether a join token is revoked.
func (r revoked) token(t Token) error {
	if !r.tokens.IsZero() && !t.made().After(r.tokens) {
		return fmt.Errorf("the join token %s was revoked with all that were made until %s: \"weir cluster token\" makes another",
			t.ID, r.tokens.UTC().Format(time.RFC3339))
	}
	return nil
}

// made is when a token was made, with which its id begins; zero where it does not say.
func (t Token) made() time.Time {
	id, err := hex.DecodeString(t.ID)
	if err != nil || len(id) != 8+idLength {
		return time.Time{}
	}
	at, err := decodeTime(id[:8])
	if err != nil {
		return time.Time{}
	}
	return at
}
