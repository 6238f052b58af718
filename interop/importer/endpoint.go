package importer

import (
	"net/url"
	"slices"
	"strings"

	"github.com/weir-bench/weir/workload/serving"
)

// setEndpoint sets the address of a server and the interface that a path or a word names.
func (c *call) setEndpoint(address, of string) {
	if unexpanded(address) {
		before, path, found := strings.Cut(address, "/v1")
		if found && strings.Contains(path, "/completions") {
			of = path
		}
		c.set("url", c.texted("the address", strings.TrimSuffix(before, "/")))
	} else {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" {
			c.fail("%q is no address of an endpoint", address)
			return
		}
		if strings.Contains(u.Path, "/completions") {
			of = u.Path
		}
		u.Path, _, _ = strings.Cut(u.Path, "/v1")
		c.set("url", literal(strings.TrimSuffix(u.String(), "/")))
	}
	isPath := strings.Contains(of, "/")
	switch {
	case isPath && strings.Contains(of, "chat"), slices.Contains(names("chat|chat_completions|chat-completions"), of):
	case isPath && strings.Contains(of, "completions"),
		slices.Contains(names("completions|text_completions|text-completions"), of):
		c.set("api", literal("completions"))
	default:
		c.fail("%q is neither chat nor completions, the interfaces that workload serving loads", of)
	}
}

// withScheme adds the scheme that the tools add to an address without one.
func withScheme(address string) string {
	if strings.Contains(address, "://") || shellVariable().FindStringIndex(address) != nil && address[0] == '$' {
		return address
	}
	return "http://" + address
}

// clientHeaders are set by the client, beside those that it refuses.
var clientHeaders = names("accept-encoding|user-agent")

// headers collects the headers of requests.
type headers struct {
	of    *call
	pairs inline
	plain bool // a value is in the scenario in clear text
}

// add adds a header, unless the client sets it itself.
func (h *headers) add(name, text string) {
	name, text = strings.TrimSpace(name), strings.TrimSpace(text)
	for _, own := range clientHeaders {
		if strings.EqualFold(own, name) {
			h.of.note("header %s: the client sets it itself", name)
			return
		}
	}
	for i, p := range h.pairs {
		if strings.EqualFold(p.key, name) {
			h.of.note("header %s: the last of several counts", name)
			h.pairs = append(h.pairs[:i:i], h.pairs[i+1:]...)
			break
		}
	}
	if serving.OwnHeader(name) {
		h.of.note("header %s: the client sets it itself", name)
		return
	}
	h.plain = h.plain || !unexpanded(text)
	h.pairs = append(h.pairs, pair{name, h.of.secretText("header "+name, text)})
}

// set sets the option.
func (h *headers) set() {
	if len(h.pairs) == 0 {
		return
	}
	if h.plain {
		h.of.warn("the headers are in the scenario in clear text: a secret belongs into env, see docs of headers")
	}
	h.of.set("headers", h.pairs)
}
