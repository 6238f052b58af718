package results

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrChanged says that a document was modified after it was written.
var ErrChanged = errors.New("the document was changed after it was written")

// sealVersion is the prefix of seals. Seals of older versions have other prefixes and cannot be verified.
const sealVersion = "v2:"

// sealOf is the seal of an object: a digest of its canonical form (RFC 8785) without its own seal. It
// detects edits and is no signature: it can be recomputed. The text is modified.
func sealOf(text jsontext.Value, has string) (string, error) {
	if err := text.Canonicalize(); err != nil {
		return "", err
	}
	own := fmt.Appendf(nil, "\"seal\":%q,", has)
	if i := bytes.LastIndex(text, own); i >= 0 { // it is near the end
		text = slices.Delete(text, i, i+len(own))
	}
	sum := sha256.Sum256(text)
	return sealVersion + "sha256:" + hex.EncodeToString(sum[:]), nil
}

// sealOver is the seal of a document, given its text outside of the cases, without its end, and the cases'
// seals in any order.
func sealOver(frame jsontext.Value, has string, cases []string) (string, error) {
	list, err := json.Marshal(slices.Sorted(slices.Values(cases)))
	if err != nil {
		return "", err
	}
	return sealOf(slices.Concat(frame, []byte(`,"cases":`), list, []byte("}")), has)
}

// SealedEarlier reports a seal of an older version, which cannot be verified.
func (d *Document) SealedEarlier() bool {
	earlier := d.Seal != "" && !strings.HasPrefix(d.Seal, sealVersion)
	return earlier && !slices.ContainsFunc(d.Cases,
		func(c *Case) bool { return strings.HasPrefix(c.Seal, sealVersion) })
}

// Unsealed reports a document without a seal, as older versions wrote, which cannot be verified.
func (d *Document) Unsealed() bool { return d.ReadUnsealed }

// complete compares the cases with the plan, so that removed cases are detected.
func (d *Document) complete() error {
	if len(d.Cases) != d.Plan.Cases {
		return fmt.Errorf("%w: its plan has %d cases, but it contains %d", ErrChanged, d.Plan.Cases, len(d.Cases))
	}
	return nil
}

// verify compares the seals of a document with those computed from its text. Older documents have none.
func (d *Document) verify(cases []string, frame jsontext.Value) error {
	sealed := d.Seal != "" || slices.ContainsFunc(d.Cases, func(c *Case) bool { return c.Seal != "" })
	if !sealed && d.Quantiles != nil { // versions with this field always seal
		return fmt.Errorf("%w: it has no seal, although the version that wrote it seals", ErrChanged)
	}
	if !sealed || d.SealedEarlier() {
		return nil
	}
	for i, c := range d.Cases {
		if c.Seal != cases[i] {
			return fmt.Errorf("%w: case %s does not match its seal", ErrChanged, c.Key)
		}
	}
	if seal, err := sealOver(frame, d.Seal, cases); err != nil || d.Seal != seal {
		return fmt.Errorf("%w: the part outside of its cases does not match its seal", ErrChanged)
	}
	return nil
}
