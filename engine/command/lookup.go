package command

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"weir/engine"
)

// hasKey asks the agent whether there is a key in the part of etcd that is lent to the launch.
func hasKey(ctx context.Context, key string) (bool, error) {
	socket, err := given(engine.EtcdLookup)
	if err != nil {
		return false, err
	}
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}}
	at := url.URL{Scheme: "http", Host: "etcd", Path: "/" + key}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return false, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return false, err
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK:
		return true, nil
	case http.StatusNotFound:
		return false, nil
	}
	why, _ := io.ReadAll(io.LimitReader(answer.Body, 1000))
	return false, fmt.Errorf("etcd: %s", why)
}
