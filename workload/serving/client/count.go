package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/weir-bench/weir/workload/serving/stream"
)

// Count asks the server's /tokenize, as in vLLM, SGLang and llama.cpp, for the number of tokens of a text, which is not
// empty.
func (c *Client) Count(ctx context.Context, model, text string) (int, error) {
	if c.cfg.Total > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.cfg.Total)
		defer cancel()
	}
	body, err := json.Marshal(map[string]any{
		"model": model, "prompt": text, "content": text, // content: of llama.cpp
		"add_special_tokens": false,
	})
	if err != nil {
		return 0, err
	}
	base, _, _ := strings.Cut(c.url, "/v1/")
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/tokenize", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	c.address(post)
	answer, err := c.transport.RoundTrip(post)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("/tokenize: %s", answer.Status)
	}
	n, err := stream.Tokens(answer.Body)
	if err == nil && n == 0 { // it has read no text
		err = errors.New("it counts 0 tokens")
	}
	if err != nil {
		return 0, fmt.Errorf("/tokenize: %w", err)
	}
	return n, nil
}
