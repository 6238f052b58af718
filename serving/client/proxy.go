package client

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"weir/serving"
)

// proxy is what the environment of this process names for an address.
type proxy struct {
	Name     string // its address, without a password; "": none is named
	Variable string
	url      *url.URL
}

// environmentProxy finds the proxy for an address, as most programs do: in http_proxy, https_proxy and
// all_proxy, in lower or upper case, unless no_proxy excepts the host. This host needs none.
func environmentProxy(at *url.URL) (p proxy, err error) {
	own := []string{"http_proxy", "HTTP_PROXY"}
	if at.Scheme == "https" {
		own = []string{"https_proxy", "HTTPS_PROXY"}
	}
	value := ""
	for _, name := range append(own, "all_proxy", "ALL_PROXY") {
		if value = os.Getenv(name); value != "" {
			p.Variable = name
			break
		}
	}
	config := httpproxy.Config{
		HTTPProxy: value, HTTPSProxy: value, NoProxy: cmp.Or(os.Getenv("no_proxy"), os.Getenv("NO_PROXY")),
	}
	p.url, err = config.ProxyFunc()(at)
	if !strings.Contains(value, "://") { // as a host and a port
		value = "http://" + value
	}
	if named, wrong := url.Parse(value); p.Variable != "" && (err != nil || wrong != nil || named.Host == "") {
		return proxy{}, fmt.Errorf("the value of %s is no address of a proxy", p.Variable) // it may have a password
	}
	if p.url != nil {
		p.Name = (&url.URL{Scheme: p.url.Scheme, Host: p.url.Host}).String()
	}
	return p, nil
}

// throughProxy sends requests through the proxy that the environment names, if they are to go there.
func (c *Client) throughProxy(at *url.URL) error {
	p, err := environmentProxy(at)
	switch {
	case err != nil && c.cfg.Proxy:
		return fmt.Errorf("proxy: environment: %w", err)
	case err != nil || p.Name == "":
	case c.cfg.Proxy:
		c.transport.Proxy, c.proxy = http.ProxyURL(p.url), p
	default:
		c.proxy = p
	}
	return nil
}

// AboutProxy says which proxy requests go through, or which they do not though the environment names it; "":
// it names none.
func (c *Client) AboutProxy() string {
	switch {
	case c.proxy.Name == "":
		return ""
	case c.cfg.Proxy:
		return fmt.Sprintf("requests went through the proxy %s of %s", c.proxy.Name, c.proxy.Variable)
	}
	return fmt.Sprintf("the proxy %s of %s was not used; proxy: environment uses it", c.proxy.Name, c.proxy.Variable)
}

// tellOfProxy names the proxy in an error that may be its.
func (c *Client) tellOfProxy(rec *serving.Record) {
	switch {
	case c.proxy.Name == "" || rec.Error == "":
	case c.cfg.Proxy:
		rec.Error += fmt.Sprintf(" (through the proxy %s of %s)", c.proxy.Name, c.proxy.Variable)
	case rec.Outcome == serving.Connect:
		rec.Error += " (" + c.AboutProxy() + ")"
	}
}
