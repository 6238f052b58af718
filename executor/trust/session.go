package trust

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
)

// Signer signs what a session says to its agents, through whatever hands it goes. Its
// key lives as long as it does and is never stored.
type Signer struct{ key ed25519.PrivateKey }

// NewSigner makes a signer with a key of its own.
func NewSigner() (*Signer, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the session's key: %w", err)
	}
	return &Signer{key}, nil
}

// Public is the key by which agents know what this signer has signed: 32 bytes.
func (s *Signer) Public() []byte { return append([]byte(nil), s.key.Public().(ed25519.PublicKey)...) }

// sealedVersion is the first byte of what is sealed; the signature is behind it, and
// then the body.
const (
	sealedVersion = 1
	sealedHead    = 1 + ed25519.SignatureSize
)

// Seal gives a body with a signature that holds for the subject only. The body can be
// read by anybody.
func (s *Signer) Seal(about Subject, body []byte) []byte {
	sealed := make([]byte, 0, sealedHead+len(body))
	sealed = append(sealed, sealedVersion)
	sealed = append(sealed, ed25519.Sign(s.key, about.signedText(forSession, body))...)
	return append(sealed, body...)
}

// Verifier knows what one signer has signed.
type Verifier struct{ key ed25519.PublicKey }

// NewVerifier takes what Signer.Public gives.
func NewVerifier(public []byte) (*Verifier, error) {
	if len(public) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("a session's key of %d bytes: must have %d", len(public), ed25519.PublicKeySize)
	}
	return &Verifier{append(ed25519.PublicKey(nil), public...)}, nil
}

// Open gives the body of what was sealed about a subject. An error means that this
// session did not say it, or not about this. The body is a part of sealed.
func (v *Verifier) Open(about Subject, sealed []byte) ([]byte, error) {
	if len(sealed) < sealedHead || sealed[0] != sealedVersion {
		return nil, errors.New("checking a signature: the text bears none of this session")
	}
	body := sealed[sealedHead:]
	if !ed25519.Verify(v.key, about.signedText(forSession, body), sealed[1:sealedHead]) {
		return nil, fmt.Errorf("checking a signature: session %q has not said this of %q on node %q", about.Session,
			about.Name, about.Node)
	}
	return body, nil
}
