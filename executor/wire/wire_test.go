package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/workload"
)

func TestFramesComeOutAsTheyWentIn(t *testing.T) {
	var b bytes.Buffer
	frames := []Frame{
		{KindAddress, []byte("blob")},
		{KindConnected, []byte{}},
		{KindResult, bytes.Repeat([]byte("x"), 3<<20)},
	}
	for _, f := range frames {
		if err := Write(&b, f.Kind, f.Body); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range frames {
		got, err := Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		if got.Kind != want.Kind || !bytes.Equal(got.Body, want.Body) {
			t.Errorf("%s of %d bytes came as %s of %d", want.Kind, len(want.Body), got.Kind, len(got.Body))
		}
	}
	if _, err := Read(&b); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

func TestGarbageIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"text of a library":    "[1234] UCX ERROR something\n",
		"a frame cut short":    "a\x00\x00\x00\x09blob",
		"a header cut short":   "a\x00\x00",
		"a length over limits": "a\xff\xff\xff\xff",
	} {
		if _, err := Read(strings.NewReader(text)); !errors.Is(err, ErrGarbage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Write(io.Discard, KindAddress, make([]byte, 1<<20)); err == nil {
		t.Error("an address of 1 MiB was written")
	}
}

func TestResultKeepsItsSamples(t *testing.T) {
	for name, want := range map[string]*workload.Part{
		"samples": {
			Key: "b[block_size=4KiB]", Rank: 1, Facts: json.RawMessage(`{"transport":"shm"}`),
			Samples: []byte("WEIRSMP1…"),
		},
		"none":    {Key: "b", Facts: json.RawMessage(`{"verified":true}`)},
		"nothing": {Key: "b"},
	} {
		body, err := EncodeResult(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeResult(body)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for name, body := range map[string]string{
		"cut short": "\x09{}", "no length": "", "no JSON": "\x02{]", "facts that are no JSON": "\x0d{\"facts\": ]]}",
	} {
		if got, err := DecodeResult([]byte(body)); err == nil {
			t.Errorf("%s is read as %+v", name, got)
		}
	}
}

func TestPeersMustBeAll(t *testing.T) {
	var body []byte
	for _, address := range []string{"one", "", "three"} {
		body = AppendPeer(body, []byte(address))
	}
	got, err := DecodePeers(body, 3)
	if err != nil || len(got) != 3 || string(got[2]) != "three" || len(got[1]) != 0 {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := DecodePeers(body, 4); err == nil {
		t.Error("three addresses are enough for four ranks")
	}
	if _, err := DecodePeers(body[:len(body)-1], 3); err == nil {
		t.Error("a cut address was accepted")
	}
}

func FuzzRead(f *testing.F) {
	for _, kind := range []Kind{KindLaunch, KindPeers, KindResult, KindFailure, KindBye} {
		var b bytes.Buffer
		body := []byte(`{"rank":1}`)
		if limits[kind] == 0 {
			body = nil
		}
		if err := Write(&b, kind, body); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	self, err := EncodeSelf(engine.Identity{Rank: 1, CPUs: []int{3}}, nil,
		[]byte(`{"ranks":2,"cases":[{"key":"c","spec":{"Ranks":2},"large":{"Matrix":"2: 0>1=5"}}]}`))
	if err != nil {
		f.Fatal(err)
	}
	var message bytes.Buffer
	if err := Write(&message, KindLaunch, self...); err != nil {
		f.Fatal(err)
	}
	f.Add(message.Bytes())
	result, err := EncodeResult(&workload.Part{
		Key: "k", Facts: json.RawMessage(`{"initiator":true}`), Samples: []byte("s"),
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append([]byte{'r', 0, 0, 0, byte(len(result))}, result...))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bytes.NewReader(in)
		for {
			frame, err := Read(r)
			if err != nil {
				return
			}
			var again bytes.Buffer
			if err := Write(&again, frame.Kind, frame.Body); err != nil {
				t.Fatalf("read a frame that cannot be written: %v", err)
			}
			// whatever the body is, reading it ends in a value or an error
			if l, err := DecodeSelf(frame.Body); err == nil && l.Self.Rank >= l.Launch.Ranks {
				t.Fatal("accepted a rank outside of its launch")
			}
			if peers, err := DecodePeers(frame.Body, 2); err == nil && len(peers) != 2 {
				t.Fatal("accepted too few peers")
			}
			if p, err := DecodeResult(frame.Body); err == nil && len(p.Samples) > len(frame.Body) {
				t.Fatal("samples longer than the message")
			}
			if e, err := DecodeFailure(frame.Body); err == nil && e == nil {
				t.Fatal("no failure and no error")
			}
		}
	})
}
