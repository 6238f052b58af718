package readiness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"
)

// bodyMost is how many bytes of a response are searched for Contains.
const bodyMost = 4 << 20

// answerMost is the time limit of one request: a server that is starting may accept a connection
// and never answer.
const answerMost = 2 * time.Second

func exists(path string) func(context.Context) error {
	return func(context.Context) error {
		_, err := os.Stat(path)
		return err
	}
}

// logs checks whether a line of the output has matched.
func logs(pattern string, logged func() bool) (func(context.Context) error, error) {
	if _, err := regexp.Compile(pattern); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	return func(context.Context) error {
		if logged() {
			return nil
		}
		return errors.New("no line of its output matches")
	}, nil
}

func registered(key string, has func(context.Context, string) (bool, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		found, err := has(ctx, key)
		if err == nil && !found {
			err = errors.New("there is no such key")
		}
		return err
	}
}

// answers ignores the proxy of the environment, since a service is on this host or on the cluster's
// network.
func answers(url, contains string) func(context.Context) error {
	client := &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true}, Timeout: answerMost,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		answer, err := client.Do(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(io.LimitReader(answer.Body, bodyMost))
		switch {
		case err != nil:
			return err
		case answer.Header.Get("Location") != "":
			return fmt.Errorf("it answers %s to %.200q, which is not followed", answer.Status,
				answer.Header.Get("Location"))
		case answer.StatusCode < 200 || answer.StatusCode > 299:
			return fmt.Errorf("it answers %s", answer.Status)
		case !strings.Contains(string(body), contains):
			return fmt.Errorf("its answer does not contain %q", contains)
		}
		return nil
	}
}
