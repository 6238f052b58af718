package trust

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

const (
	certificateBlock = "CERTIFICATE"
	keyBlock         = "PRIVATE KEY"
	requestBlock     = "CERTIFICATE REQUEST"
)

// maxPEM is the longest PEM text that is read, far above what any is that is made here.
const maxPEM = 16 << 10

func encodePEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// decodePEM reads a text that is one block of a kind and nothing else: what stands
// before and after blocks would be in no signature.
func decodePEM(kind string, text []byte) ([]byte, error) {
	if len(text) > maxPEM {
		return nil, fmt.Errorf("%d bytes of PEM: %d are the most", len(text), maxPEM)
	}
	block, rest := pem.Decode(text)
	if block == nil || block.Type != kind || len(block.Headers) > 0 || len(bytes.TrimSpace(rest)) > 0 ||
		!bytes.HasPrefix(bytes.TrimSpace(text), []byte("-----BEGIN")) {
		return nil, fmt.Errorf("must be one PEM block %q and nothing else", kind)
	}
	return block.Bytes, nil
}

func parseCertificate(text []byte) (*x509.Certificate, error) {
	der, err := decodePEM(certificateBlock, text)
	var cert *x509.Certificate
	if err == nil {
		cert, err = x509.ParseCertificate(der)
	}
	if err != nil {
		return nil, fmt.Errorf("reading a certificate: %w", err)
	}
	return cert, nil
}

// parseAuthority reads the certificate of an authority as NewAuthority makes them.
func parseAuthority(text []byte) (*x509.Certificate, error) {
	cert, err := parseCertificate(text)
	if err == nil {
		err = checkAuthority(cert)
	}
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	return cert, nil
}

func checkAuthority(cert *x509.Certificate) error {
	if !cert.IsCA || !cert.BasicConstraintsValid {
		return errors.New("the certificate is no authority's")
	}
	if err := checkCurve(cert.PublicKey); err != nil {
		return err
	}
	return cert.CheckSignatureFrom(cert)
}

// checkCurve holds keys to the one kind that is made here.
func checkCurve(public any) error {
	key, ok := public.(*ecdsa.PublicKey)
	if !ok || key.Curve != elliptic.P256() {
		return errors.New("the key must be one of ECDSA over P-256")
	}
	return nil
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding a key: %w", err)
	}
	return encodePEM(keyBlock, der), nil
}

// parseKey reads a private key. Its errors show nothing of it.
func parseKey(text []byte) (*ecdsa.PrivateKey, error) {
	der, err := decodePEM(keyBlock, text)
	if err != nil {
		return nil, fmt.Errorf("reading a key: %w", err)
	}
	any, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, errors.New("reading a key: it is damaged or of an unknown kind")
	}
	key, ok := any.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("reading a key: it must be one of ECDSA over P-256")
	}
	if err := checkCurve(&key.PublicKey); err != nil {
		return nil, fmt.Errorf("reading a key: %w", err)
	}
	return key, nil
}
