package trust

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// tokenPrefix is how a join token begins, so that a person, and a scanner for
// secrets, knows one.
const tokenPrefix = "weir-join-1."

// idLength is how many bytes of a token's id are random; before them stands when it was
// made.
const idLength = 8

// maxToken is the longest text that is read as a join token.
const maxToken = 8 << 10

var tokenText = base64.RawURLEncoding.Strict()

// Token is what a join token says. Whoever has its text can enrol until it expires,
// as often as they like: it is a secret.
type Token struct {
	CA      []byte // the authority's certificate, PEM: the newcomer knows the coordinator by it
	ID      string // of this token, to tell it from others
	Node    string // the only node that may enrol with it; "": any
	Expires time.Time
}

// Token makes a join token: one printable line with which a node, or any node if that
// is "", can get an agent's certificate until ttl is over.
func (a *Authority) Token(ttl time.Duration, node string) (string, error) {
	if ttl <= 0 {
		return "", fmt.Errorf("making a join token: a life of %s has ended already", ttl)
	}
	if node != "" {
		if err := CheckName(node); err != nil {
			return "", fmt.Errorf("making a join token: %w", err)
		}
	}
	expires := time.Now().Add(ttl)
	if expires.After(a.cert.NotAfter) {
		return "", fmt.Errorf("making a join token: it would expire at %s, but the certificate authority expires at %s already",
			expires.UTC().Format(time.RFC3339), a.cert.NotAfter.Format(time.RFC3339))
	}
	return a.token(expires, node)
}

func (a *Authority) token(expires time.Time, node string) (string, error) {
	id := append(encodeTime(time.Now()), make([]byte, idLength)...)
	_, _ = rand.Read(id[len(id)-idLength:]) // never fails
	body := join(a.cert.Raw, id, []byte(node), encodeTime(expires))
	digest := sha256.Sum256(join([]byte(forToken), body))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, digest[:])
	if err != nil {
		return "", fmt.Errorf("signing a join token: %w", err)
	}
	return tokenPrefix + tokenText.EncodeToString(join(body, signature)), nil
}

// ReadToken reads a join token, white space around it aside. That it is whole says
// nothing about whose it is and whether it has expired: Authority.Enrol does. Its errors
// show nothing of the text.
func ReadToken(text string) (Token, error) {
	t, _, err := readToken(text)
	if err != nil {
		return Token{}, fmt.Errorf("reading a join token: %w", err)
	}
	return t, nil
}

func readToken(text string) (Token, *x509.Certificate, error) {
	text = strings.TrimSpace(text)
	encoded, ok := strings.CutPrefix(text, tokenPrefix)
	if !ok || len(text) > maxToken || strings.ContainsAny(encoded, "\r\n") { // which the decoder passes over
		return Token{}, nil, fmt.Errorf("it must be one line that begins with %s", tokenPrefix)
	}
	whole, err := tokenText.DecodeString(encoded)
	if err != nil {
		return Token{}, nil, errCut
	}
	outer, err := split(whole, 2)
	if err != nil {
		return Token{}, nil, err
	}
	fields, err := split(outer[0], 4)
	if err != nil {
		return Token{}, nil, err
	}
	ca, err := x509.ParseCertificate(fields[0])
	if err == nil {
		err = checkAuthority(ca)
	}
	if err != nil {
		return Token{}, nil, errCut
	}
	digest := sha256.Sum256(join([]byte(forToken), outer[0]))
	if !ecdsa.VerifyASN1(ca.PublicKey.(*ecdsa.PublicKey), digest[:], outer[1]) {
		return Token{}, nil, errors.New("it is damaged or forged: its signature is not that of its authority")
	}
	t := Token{CA: encodePEM(certificateBlock, fields[0]), ID: hex.EncodeToString(fields[1]), Node: string(fields[2])}
	if t.Expires, err = decodeTime(fields[3]); err != nil {
		return Token{}, nil, errCut
	}
	if t.Node != "" {
		err = CheckName(t.Node)
	}
	return t, ca, err
}

// TLS is how an agent without a certificate talks to the coordinator: it knows it by
// the token's authority and shows nothing itself.
func (t Token) TLS() (*tls.Config, error) {
	ca, err := parseAuthority(t.CA)
	if err != nil {
		return nil, fmt.Errorf("reading a join token: %w", err)
	}
	return clientOf(ca, Coordinator, revoked{}), nil
}
