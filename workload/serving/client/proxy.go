package client

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/weir-bench/weir/workload/serving/load"
)

// proxy is the environment's proxy for an address.
type proxy struct {
	Name     string // its address, without a password; "": there is none
	Variable string
	url      *url.URL
}

// environmentProxy finds the proxy for an address as most programs do: in http_proxy, https_proxy and all_proxy, in
// lower or upper case, unless no_proxy excludes the host. An address of this host needs none.
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
	if !strings.Contains(value, "://") { // HOST:PORT
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

// throughProxy sends requests through the environment's proxy, if the settings say so.
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

// AboutProxy says which proxy was used, or was set but not used; "": none is set.
func (c *Client) AboutProxy() string {
	switch {
	case c.proxy.Name == "":
		return ""
	case c.cfg.Proxy:
		return fmt.Sprintf("requests went through the proxy %s of %s", c.proxy.Name, c.proxy.Variable)
	}
	return fmt.Sprintf("the proxy %s of %s was not used; proxy: environment uses it", c.proxy.Name, c.proxy.Variable)
}

// tellOfProxy names the proxy in an error that it may have caused.
func (c *Client) tellOfProxy(rec *load.Record) {
	switch {
	case c.proxy.Name == "" || rec.Error == "":
	case c.cfg.Proxy:
		rec.Error += fmt.Sprintf(" (through the proxy %s of %s)", c.proxy.Name, c.proxy.Variable)
	case rec.Outcome == load.Connect:
		rec.Error += " (" + c.AboutProxy() + ")"
	}
}
