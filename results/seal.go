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

// ErrChanged says that a document is not as it was written.
var ErrChanged = errors.New("the document was changed after it was written")

// sealVersion begins a seal. Seals of older versions have another beginning; what they
// were made of is no longer known.
const sealVersion = "v2:"

// sealOf is the seal of an object: a digest of its canonical form by RFC 8785 without the
// seal that it has. It shows that something was edited or is gone; it is no signature: who
// makes all seals anew passes. The text is changed.
func sealOf(text jsontext.Value, has string) (string, error) {
	if err := text.Canonicalize(); err != nil {
		return "", err
	}
	own := fmt.Appendf(nil, "\"seal\":%q,", has)
	if i := bytes.LastIndex(text, own); i >= 0 { // little comes after it
		text = slices.Delete(text, i, i+len(own))
	}
	sum := sha256.Sum256(text)
	return sealVersion + "sha256:" + hex.EncodeToString(sum[:]), nil
}

// sealOver is the seal of a document, given as the text of all that stands outside of its
// cases, without its end. The seals of the cases stand for them, in whatever order these are.
func sealOver(frame jsontext.Value, has string, cases []string) (string, error) {
	list, err := json.Marshal(slices.Sorted(slices.Values(cases)))
	if err != nil {
		return "", err
	}
	return sealOf(slices.Concat(frame, []byte(`,"cases":`), list, []byte("}")), has)
}

// SealedEarlier says that an older version sealed the document in a way that this one
// does not know, so that nobody can tell whether it was changed.
func (d *Document) SealedEarlier() bool {
	earlier := d.Seal != "" && !strings.HasPrefix(d.Seal, sealVersion)
	return earlier && !slices.ContainsFunc(d.Cases,
		func(c *Case) bool { return strings.HasPrefix(c.Seal, sealVersion) })
}

// Unsealed says that the document was read and had no seal at all, as those of older versions
// have none: nobody can tell whether it was changed.
func (d *Document) Unsealed() bool { return d.ReadUnsealed }

// complete holds the cases against the plan that the document names: what was taken out
// must not count as what never failed.
func (d *Document) complete() error {
	if len(d.Cases) != d.Plan.Cases {
		return fmt.Errorf("%w: its plan has %d cases and it holds %d", ErrChanged, d.Plan.Cases, len(d.Cases))
	}
	return nil
}

// verify holds the seals of a document against those that its text has by itself.
// Documents of versions without seals have none.
func (d *Document) verify(cases []string, frame jsontext.Value) error {
	sealed := d.Seal != "" || slices.ContainsFunc(d.Cases, func(c *Case) bool { return c.Seal != "" })
	if !sealed && d.Quantiles != nil { // which versions write that seal all that they write
		return fmt.Errorf("%w: it has no seal, and the version that wrote it seals", ErrChanged)
	}
	if !sealed || d.SealedEarlier() {
		return nil
	}
	for i, c := range d.Cases {
		if c.Seal != cases[i] {
			return fmt.Errorf("%w: case %s is not what its seal says", ErrChanged, c.Key)
		}
	}
	if seal, err := sealOver(frame, d.Seal, cases); err != nil || d.Seal != seal {
		return fmt.Errorf("%w: what stands outside of its cases is not what its seal says", ErrChanged)
	}
	return nil
}
