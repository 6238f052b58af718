package faults

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// prefix is where weir has its keys in etcd.
const prefix = "/weir/v1/"

// keys are those in etcd below weir's prefix, sorted, without it.
func (w *world) keys() ([]string, error) {
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	query := fmt.Sprintf(`{"key":%q,"range_end":%q,"keys_only":true}`, b64(prefix), b64(strings.TrimSuffix(prefix, "/")+"0"))
	client := http.Client{Timeout: 2 * time.Second}
	answer, err := client.Post(w.etcdURL+"/v3/kv/range", "application/json", bytes.NewReader([]byte(query)))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var body struct {
		Kvs []struct{ Key []byte } `json:"kvs"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		return nil, fmt.Errorf("listing keys: %s: %w", answer.Status, err)
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("listing keys: %s", answer.Status)
	}
	var keys []string
	for _, kv := range body.Kvs {
		keys = append(keys, strings.TrimPrefix(string(kv.Key), prefix))
	}
	slices.Sort(keys)
	return keys, nil
}

// idle says whether etcd has the agents' registrations and nothing else; where not, what.
func (w *world) idle() (string, bool) {
	keys, err := w.keys()
	if err != nil {
		return err.Error(), false
	}
	var want []string
	for _, n := range w.nodes {
		want = append(want, "agents/"+n.name)
	}
	slices.Sort(want)
	return fmt.Sprintf("keys in etcd: %q", keys), slices.Equal(keys, want)
}
