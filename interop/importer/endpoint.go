package importer

import (
	"net/url"
	"strings"

	"github.com/weir-bench/weir/workload/serving"
)

// setEndpoint sets the address of a server and the interface that a path after the address or a word names.
func (c *call) setEndpoint(address, of string) {
	if unexpanded(address) {
		before, api := c.splitPath(address, of)
		c.set("url", c.texted("the address", before))
		of = api
	} else {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" {
			c.fail("%q is no address of an endpoint", address)
			return
		}
		u.Path, of = c.splitPath(u.Path, of)
		c.set("url", literal(u.String()))
	}
	switch apiOf(of) {
	case "chat":
	case "completions":
		c.set("api", literal("completions"))
	default:
		c.fail("%q is neither chat nor completions, the interfaces that workload serving loads", of)
	}
}

// apiOf returns the interface that a word of a tool names; "": none that workload serving loads.
func apiOf(word string) string {
	switch strings.ReplaceAll(word, "_", "-") {
	case "chat", "chat-completions":
		return "chat"
	case "completions", "text-completions":
		return "completions"
	}
	return ""
}

// splitPath splits a path, to which a tool appends another path or that of an interface, into what is before /v1 and
// the interface.
func (c *call) splitPath(path, of string) (before, api string) {
	path = strings.TrimRight(path, "/")
	base, named, whole := cutInterface(path)
	if at, its, is := cutInterface(of); is && !whole {
		if at = "/" + strings.Trim(at, "/"); at == "/v1" {
			path = strings.TrimSuffix(path, at) // which is not sent twice
		}
		base, named, whole = strings.TrimRight(path+at, "/"), its, true
	}
	if !whole {
		return strings.TrimSuffix(path, "/v1"), of
	}
	before, found := strings.CutSuffix(base, "/v1")
	switch {
	case found:
	case unexpanded(base) && shellVariable().ReplaceAllString(base, "") == "":
		c.note("requests go to /v1 below the address %s, or to it if it ends in /v1", base)
	default:
		const sent = "requests go to %s/%s, and workload serving sends them to /v1/chat/completions or /v1/completions below `url`"
		c.fail(sent, base, strings.Replace(named, "chat", "chat/completions", 1))
	}
	return before, named
}

// cutInterface cuts the end of a path that names an interface.
func cutInterface(path string) (before, api string, found bool) {
	path = strings.TrimRight(path, "/")
	if before, found = strings.CutSuffix(path, "/chat/completions"); found {
		return before, "chat", true
	}
	before, found = strings.CutSuffix(path, "/completions")
	return before, "completions", found
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
