package command

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/weir-bench/weir/engine"
)

// hasKey reports whether a key exists in the launch's part of etcd.
func hasKey(ctx context.Context, key string) (bool, error) {
	text, err := given(engine.EtcdURL)
	if err != nil {
		return false, err
	}
	at, err := url.Parse(text)
	if err != nil {
		return false, err
	}
	at.Path = "/" + key
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return false, err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // without a proxy
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
