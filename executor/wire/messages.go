package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"weir/engine"
	"weir/redact"
	"weir/workload"
)

// Launch is the first message: what a rank is to do and who it is.
type Launch struct {
	Launch engine.Launch
	Self   engine.Identity
	// Hidden are values of secrets that the rank may not tell, not even its agent.
	Hidden redact.Values
}

// self is what a message says of a rank alone.
type self struct {
	engine.Identity
	Hidden [][]byte `json:"hidden,omitempty"` // any bytes
}

// EncodeSelf writes a KindLaunch body in two pieces: all ranks of a node are told one
// launch, as EncodeLaunch wrote it, and each who it is.
func EncodeSelf(who engine.Identity, hidden redact.Values, launch []byte) ([][]byte, error) {
	told := self{Identity: who}
	for _, value := range hidden {
		told.Hidden = append(told.Hidden, []byte(value))
	}
	head, err := json.Marshal(told)
	if err != nil {
		return nil, fmt.Errorf("encoding who a rank is: %w", err)
	}
	return [][]byte{append(binary.AppendUvarint(nil, uint64(len(head))), head...), launch}, nil
}

// DecodeSelf reads a KindLaunch body.
func DecodeSelf(body []byte) (Launch, error) {
	var l Launch
	n, used := binary.Uvarint(body)
	if used <= 0 || n > uint64(len(body)-used) {
		return l, errors.New("launch message: cut short")
	}
	body = body[used:]
	var own self
	if err := json.Unmarshal(body[:n], &own); err != nil {
		return l, fmt.Errorf("launch message: %w", err)
	}
	l.Self = own.Identity
	for _, value := range own.Hidden {
		l.Hidden = append(l.Hidden, string(value))
	}
	var err error
	if l.Launch, err = DecodeLaunch(body[n:]); err != nil {
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

// cutPeer takes the first address off a KindPeers body.
func cutPeer(body []byte) (address, rest []byte, ok bool) {
	n, used := binary.Uvarint(body)
	if used <= 0 || n > uint64(len(body)-used) {
		return nil, nil, false
	}
	body = body[used:]
	return body[:n:n], body[n:], true
}

// CheckPeers says whether a KindPeers body has the addresses of so many ranks.
func CheckPeers(body []byte, ranks int) error {
	known := 0
	for ; len(body) > 0; known++ {
		var ok bool
		if _, body, ok = cutPeer(body); !ok {
			return fmt.Errorf("peers message: address %d is cut short", known)
		}
	}
	if known != ranks {
		return fmt.Errorf("peers message: %d addresses for %d ranks", known, ranks)
	}
	return nil
}

// DecodePeers reads a KindPeers body with the addresses of so many ranks.
func DecodePeers(body []byte, ranks int) ([][]byte, error) {
	if err := CheckPeers(body, ranks); err != nil {
		return nil, err
	}
	all := make([][]byte, ranks)
	for i := range all {
		all[i], body, _ = cutPeer(body)
	}
	return all, nil
}

// EncodeResult writes a KindResult body: the length of the JSON part, that part,
// and the samples in the form in which they are stored.
func EncodeResult(p *workload.Part) ([]byte, error) {
	head, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encoding a result: %w", err)
	}
	b := binary.AppendUvarint(make([]byte, 0, len(head)+len(p.Samples)+binary.MaxVarintLen64), uint64(len(head)))
	return append(append(b, head...), p.Samples...), nil
}

// DecodeResult reads a KindResult body. Facts and samples stay as they are: they are
// parsed when no rank is measuring any more.
func DecodeResult(body []byte) (*workload.Part, error) {
	n, used := binary.Uvarint(body)
	if used <= 0 || n > uint64(len(body)-used) {
		return nil, fmt.Errorf("result message: cut short")
	}
	body = body[used:]
	p := &workload.Part{}
	if err := json.Unmarshal(body[:n], p); err != nil {
		return nil, fmt.Errorf("result message: %w", err)
	}
	if samples := body[n:]; len(samples) > 0 {
		p.Samples = samples
	}
	return p, nil
}

// EncodeFailure writes a KindFailure body, shortening the text if it must.
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

// DecodeFailure reads a KindFailure body.
func DecodeFailure(body []byte) (*engine.Error, error) {
	e := &engine.Error{}
	if err := json.Unmarshal(body, e); err != nil {
		return nil, fmt.Errorf("failure message: %w", err)
	}
	return e, nil
}
