package structure

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/internal/quantity"
)

type endpoint struct {
	Name string        `key:"*"`
	Port int           `key:"port,min=1,max=65535,required"`
	Wait time.Duration `key:"wait,max=1m"`
}

type machine struct {
	Args  []string            `key:"args,late,program"`
	After []string            `key:"after,single"`
	Env   []Named             `key:"env"`
	Size  quantity.Size       `key:"size"`
	Kind  string              `key:"kind,one=a|b"`
	Match string              `key:"match,regexp"`
	Fast  bool                `key:"fast"`
	Idle  time.Duration       `key:"idle,zero"`
	Ends  []endpoint          `key:"endpoints"`
	Proxy *struct{ endpoint } `key:"proxy"`
}

func (m *machine) Check(d *Decoder) {
	if m.Fast && d.Given("idle") {
		d.At("idle").Fail("a fast one is never idle")
	}
}

var codec = Codec{Names: func(text string) error {
	if strings.Contains(text, "${unknown}") {
		return errors.New("there is no name unknown")
	}
	return nil
}}

func decode(t *testing.T, text string) (m machine, err error) {
	t.Helper()
	v, err := Read(text)
	if err != nil {
		t.Fatal(err)
	}
	m.Idle = time.Second
	return m, codec.Decode(v, &m)
}

func TestStructsAreWrittenAsTheyWereRead(t *testing.T) {
	for _, text := range []string{
		`{}`,
		`{"args":["x","${launch.id}"],"after":["a","b"],"env":{"B":"1","A":""},"size":"4KiB","kind":"b"}`,
		`{"match":"^a+","fast":"true","endpoints":{"b":{"port":"80","wait":"1s"},"a":{"port":"1"}}}`,
		`{"idle":"0s","proxy":{"port":"8080"}}`,
	} {
		m, err := decode(t, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := codec.Encode(m, machine{Idle: time.Second}).JSON(); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
	m, err := decode(t, `{"after":"a"}`)
	if diff := cmp.Diff([]string{"a"}, m.After); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestWhatIsWrongIsToldAtItsPlace(t *testing.T) {
	for text, want := range map[string]string{
		`"x"`:                              ": it is a text, not a mapping with the keys args, after, ",
		`{"size":"1","nothing":"1"}`:       "nothing: there is no such key",
		`{"args":[]}`:                      "args: it has no program",
		`{"args":["a",["b"]]}`:             "args.1: it is a list, not a text",
		`{"args":["${unknown}"]}`:          "args.0: there is no name unknown",
		`{"kind":"${launch.id}"}`:          "kind: it is needed before the launch",
		`{"kind":"c"}`:                     `kind: "c" is not one of a, b`,
		`{"match":"("}`:                    "match: error parsing regexp",
		`{"fast":"yes"}`:                   `fast: "yes" is neither true nor false`,
		`{"size":"much"}`:                  "size: ",
		`{"idle":"-1s"}`:                   `idle: "-1s" is not a time, as 30s`,
		`{"env":["A"]}`:                    "env: it is a list, not a mapping from names to texts",
		`{"endpoints":{"a":{}}}`:           "endpoints.a: it has no port",
		`{"fast":"true","idle":"1s"}`:      "idle: a fast one is never idle",
		`{"endpoints":{"a":{"port":"0"}}}`: `endpoints.a.port: "0" is not a whole number from 1 to 65535`,
		`{"endpoints":{"a":{"port":"1","wait":"0s"}}}`:      `endpoints.a.wait: "0s" is not a time above zero, as 30s`,
		`{"endpoints":{"a":{"port":"1","wait":"2m"}}}`:      "endpoints.a.wait: 2m0s is more than 1m",
		`{"proxy":{"port":"1","wiat":"2m"},"kind":"c"}`:     `kind: "c" is not one of`,
		`{"proxy":{"port":"1","wiat":"2m"},"fast":"false"}`: "proxy.wiat: there is no such key; there are port, wait",
	} {
		_, err := decode(t, text)
		wrong, ok := errors.AsType[*Error](err)
		if !ok {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := strings.Join(wrong.Path, ".") + ": " + strings.TrimPrefix(wrong.Error(),
			strings.Join(wrong.Path, ".")+": "); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", text, got)
		}
	}
}
