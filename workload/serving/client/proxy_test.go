package client

import (
	"net/url"
	"strings"
	"testing"

	"github.com/weir-bench/weir/test/testserver"
	"github.com/weir-bench/weir/workload/serving/load"
)

var proxyVariables = []string{
	"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
}

func setProxies(t *testing.T, set map[string]string) {
	t.Helper()
	for _, name := range proxyVariables {
		t.Setenv(name, set[name])
	}
}

// A proxy of the environment is used only on request, and errors name it either way.
func TestProxy(t *testing.T) {
	proxy := testserver.New(t, func(a *testserver.Answer) { a.Steady(2, 0, 0) })
	user := strings.Replace(proxy.URL, "http://", "http://user:hidden@", 1)
	for name, c := range map[string]struct {
		env     map[string]string
		cfg     Config
		outcome load.Outcome
		text    string // of an error
		about   string
	}{
		"used": {
			map[string]string{"http_proxy": user}, Config{URL: "http://model.invalid", Proxy: true}, load.OK, "",
			"requests went through the proxy " + proxy.URL + " of http_proxy",
		},
		"for all schemes": {
			map[string]string{"ALL_PROXY": user}, Config{URL: "http://model.invalid", Proxy: true}, load.OK, "",
			"requests went through the proxy " + proxy.URL + " of ALL_PROXY",
		},
		"not used": {
			map[string]string{"HTTP_PROXY": user}, Config{URL: "http://model.invalid"}, load.Connect,
			"there is no host model.invalid (the proxy " + proxy.URL +
				" of HTTP_PROXY was not used; proxy: environment uses it)",
			"the proxy " + proxy.URL + " of HTTP_PROXY was not used; proxy: environment uses it",
		},
		"excepted": {
			map[string]string{"http_proxy": user, "no_proxy": ".invalid"},
			Config{URL: "http://model.invalid", Proxy: true}, load.Connect, "there is no host model.invalid", "",
		},
		"of another scheme": {
			map[string]string{"https_proxy": user}, Config{URL: "http://model.invalid", Proxy: true}, load.Connect,
			"there is no host model.invalid", "",
		},
		"this host": {
			map[string]string{"http_proxy": "http://127.0.0.1:9"}, Config{URL: proxy.URL, Proxy: true},
			load.OK, "", "",
		},
		"nothing listens": {
			map[string]string{"http_proxy": "http://127.0.0.1:9"}, Config{URL: "http://192.0.2.2:80", Proxy: true},
			load.Connect, "the connection was refused: nothing listens there (through the proxy http://127.0.0.1:9 of http_proxy)",
			"requests went through the proxy http://127.0.0.1:9 of http_proxy",
		},
		"it refuses": { // the test server has no CONNECT
			map[string]string{"https_proxy": user}, Config{URL: "https://192.0.2.2", Proxy: true}, load.Connect,
			"(through the proxy " + proxy.URL + " of https_proxy)",
			"requests went through the proxy " + proxy.URL + " of https_proxy",
		},
	} {
		t.Run(name, func(t *testing.T) {
			setProxies(t, c.env)
			c.cfg.Stream = true
			client := newClient(t, c.cfg)
			rec := client.Send(t.Context(), request(0), nil)
			if rec.Outcome != c.outcome || !strings.HasSuffix(rec.Error, c.text) ||
				(rec.Error == "") != (c.text == "") ||
				strings.Contains(rec.Error, "hidden") {
				t.Errorf("%+v", rec)
			}
			if about := client.AboutProxy(); about != c.about {
				t.Errorf("%q, want %q", about, c.about)
			}
		})
	}
}

// An invalid proxy address is an error when it would be used; the error does not show the value.
func TestInvalidProxy(t *testing.T) {
	setProxies(t, map[string]string{"http_proxy": "http://user:hidden@[x"})
	at := &url.URL{Scheme: "http", Host: "192.0.2.2"}
	if _, err := New(Config{URL: at.String(), Proxy: true}); err == nil || strings.Contains(err.Error(), "hidden") ||
		!strings.Contains(err.Error(), "proxy: environment: the value of http_proxy is no address of a proxy") {
		t.Error(err)
	}
	newClient(t, Config{URL: at.String()})
}
