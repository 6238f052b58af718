package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/redact"
	"github.com/weir-bench/weir/workload"
)

// Launch is the first message to a rank: the launch, and the rank's identity.
type Launch struct {
	Launch engine.Launch
	Self   engine.Identity
	Hidden redact.Values // secrets to redact from all that the rank reports
}

// encodedSelf is the part of a Launch that is the rank's own.
type encodedSelf struct {
	engine.Identity
	Hidden [][]byte `json:"hidden,omitempty"` // any bytes
}

// EncodeSelf encodes a KindLaunch body in two pieces: the rank's identity, and the launch from EncodeLaunch, which all
// ranks of a node share.
func EncodeSelf(identity engine.Identity, hidden redact.Values, launch []byte) ([][]byte, error) {
	own := encodedSelf{Identity: identity}
	for _, value := range hidden {
		own.Hidden = append(own.Hidden, []byte(value))
	}
	head, err := json.Marshal(own)
	if err != nil {
		return nil, fmt.Errorf("encoding a rank's identity: %w", err)
	}
	return [][]byte{append(binary.AppendUvarint(nil, uint64(len(head))), head...), launch}, nil
}

// DecodeSelf decodes a KindLaunch body.
func DecodeSelf(body []byte) (Launch, error) {
	var l Launch
	head, text, ok := cutPrefixed(body)
	if !ok {
		return l, errors.New("launch message: cut short")
	}
	var own encodedSelf
	if err := json.Unmarshal(head, &own); err != nil {
		return l, fmt.Errorf("launch message: %w", err)
	}
	l.Self = own.Identity
	for _, value := range own.Hidden {
		l.Hidden = append(l.Hidden, string(value))
	}
	var err error
	if l.Launch, err = DecodeLaunch(text); err != nil {
		return l, fmt.Errorf("launch message: %w", err)
	}
	if l.Self.Rank < 0 || l.Self.Rank >= l.Launch.Ranks {
		return l, fmt.Errorf("launch message: rank %d of %d", l.Self.Rank, l.Launch.Ranks)
	}
	if life := l.Self.Life; life != nil && (life.First < 0 || life.Last < life.First ||
		life.Last >= len(l.Launch.Cases)) {
		return l, fmt.Errorf("launch message: cases %d to %d of %d", life.First, life.Last, len(l.Launch.Cases))
	}
	return l, nil
}

// AppendPeer adds the next rank's address to a KindPeers body.
func AppendPeer(body, address []byte) []byte {
	return append(binary.AppendUvarint(body, uint64(len(address))), address...)
}

// cutPrefixed splits a body after a part that begins with its length.
func cutPrefixed(body []byte) (part, rest []byte, ok bool) {
	n, used := binary.Uvarint(body)
	if used <= 0 || n > uint64(len(body)-used) {
		return nil, nil, false
	}
	body = body[used:]
	return body[:n:n], body[n:], true
}

// CheckPeers checks that a KindPeers body has this number of addresses.
func CheckPeers(body []byte, ranks int) error {
	known := 0
	for ; len(body) > 0; known++ {
		var ok bool
		if _, body, ok = cutPrefixed(body); !ok {
			return fmt.Errorf("peers message: address %d is cut short", known)
		}
	}
	if known != ranks {
		return fmt.Errorf("peers message: %d addresses for %d ranks", known, ranks)
	}
	return nil
}

// DecodePeers decodes a KindPeers body with this number of addresses.
func DecodePeers(body []byte, ranks int) ([][]byte, error) {
	if err := CheckPeers(body, ranks); err != nil {
		return nil, err
	}
	all := make([][]byte, ranks)
	for i := range all {
		all[i], body, _ = cutPrefixed(body)
	}
	return all, nil
}

// EncodeResult encodes a KindResult body: the length of the JSON part, that part, and the samples as they are stored.
func EncodeResult(p *workload.Part) ([]byte, error) {
	head, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encoding a result: %w", err)
	}
	b := binary.AppendUvarint(make([]byte, 0, len(head)+len(p.Samples)+binary.MaxVarintLen64), uint64(len(head)))
	return append(append(b, head...), p.Samples...), nil
}

// DecodeResult decodes a KindResult body, except facts and samples, which are parsed after the launch.
func DecodeResult(body []byte) (*workload.Part, error) {
	head, samples, ok := cutPrefixed(body)
	if !ok {
		return nil, errors.New("result message: cut short")
	}
	p := &workload.Part{}
	if err := json.Unmarshal(head, p); err != nil {
		return nil, fmt.Errorf("result message: %w", err)
	}
	if len(samples) > 0 {
		p.Samples = samples
	}
	return p, nil
}

// EncodeFailure encodes a KindFailure body with a limited text.
func EncodeFailure(e *engine.Error) []byte {
	short := *e
	const most = 8 << 10
	if len(short.Text) > most {
		short.Text = short.Text[:most] + "…"
	}
	b, err := json.Marshal(short)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return b
}

// DecodeFailure decodes a KindFailure body.
func DecodeFailure(body []byte) (*engine.Error, error) {
	e := &engine.Error{}
	if err := json.Unmarshal(body, e); err != nil {
		return nil, fmt.Errorf("failure message: %w", err)
	}
	return e, nil
}
