package faults

import (
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

// ask asks etcd for something and reads the answer.
func (w *cluster) ask(path, query string, answer any) error {
	client := http.Client{Timeout: 2 * time.Second, Transport: w.secure.transport(w.at)}
	r, err := client.Post(w.etcdURL+path, "application/json", strings.NewReader(query))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, r.Status)
	}
	if err := json.NewDecoder(r.Body).Decode(answer); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// keys are those in etcd below weir's prefix, sorted, without it.
func (w *cluster) keys() ([]string, error) {
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	query := fmt.Sprintf(`{"key":%q,"range_end":%q,"keys_only":true}`, b64(prefix),
		b64(strings.TrimSuffix(prefix, "/")+"0"))
	var body struct {
		Kvs []struct{ Key []byte } `json:"kvs"`
	}
	if err := w.ask("/v3/kv/range", query, &body); err != nil {
		return nil, err
	}
	var keys []string
	for _, kv := range body.Kvs {
		keys = append(keys, strings.TrimPrefix(string(kv.Key), prefix))
	}
	slices.Sort(keys)
	return keys, nil
}

// leases is how many etcd has.
func (w *cluster) leases() (int, error) {
	var body struct {
		Leases []struct{} `json:"leases"`
	}
	err := w.ask("/v3/lease/leases", "{}", &body)
	return len(body.Leases), err
}

// invited are the nodes that sessions have asked for.
func (w *cluster) invited() (all []*node) {
	keys, _ := w.keys() // none: nobody was asked
	for _, n := range w.nodes {
		if slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(key, "invites/"+n.name+"/") }) {
			all = append(all, n)
		}
	}
	return all
}

// idle says whether etcd has the agents' registrations and nothing else, each on the one
// lease that there is of its agent; where not, what.
func (w *cluster) idle() (string, bool) {
	keys, err := w.keys()
	if err != nil {
		return err.Error(), false
	}
	var want []string
	for _, n := range w.nodes {
		want = append(want, "agents/"+n.name)
	}
	slices.Sort(want)
	if !slices.Equal(keys, want) {
		return fmt.Sprintf("keys in etcd: %q", keys), false
	}
	leases, err := w.leases()
	if err != nil {
		return err.Error(), false
	}
	return fmt.Sprintf("leases in etcd: %d of %d agents", leases, len(want)), leases == len(want)
}
