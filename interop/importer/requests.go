package importer

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// objectives are the names in --goodput, in ms, with the objective of slo that each is.
var objectives = map[string]string{
	"ttft": "ttft", "tpot": "itl", "e2el": "latency",
	"time_to_first_token": "ttft", "inter_token_latency": "itl", "request_latency": "latency",
}

// setRequests maps what further flags ask of each request: objectives, headers and fields of its body. The key is that
// of the tool's environment; "": there is none.
func (c *call) setRequests(key string) {
	slo, head, body := inline{}, headers{of: c}, map[string]any{}
	if key != "" {
		head.add("Authorization", "Bearer "+key)
	}
	for _, s := range c.given {
		values := s.words[min(1, len(s.words)-1):]
		if len(s.words) == 1 { // --name=value
			values = []string{s.value}
		}
		switch s.flag.Names[0] {
		case "goodput":
			for _, promise := range strings.FieldsFunc(s.value, func(r rune) bool { return r == ' ' || r == ',' }) {
				name, limit, _ := strings.Cut(promise, ":")
				ms, err := strconv.ParseFloat(limit, 64)
				switch known := objectives[name]; {
				case known == "" || err != nil || ms <= 0:
					known := strings.Join(sortedKeys(objectives), ", ")
					c.unmappedFlag("--goodput %s: slo has %s in ms", promise, known)
				case known != "latency" && c.run.options["stream"] == truth(false):
					c.unmappedFlag("--goodput %s: without --streaming there is no %s", promise, known)
				default:
					slo = append(slo, pair{known, literal(limit + "ms")})
				}
			}
		case "header", "headers":
			for _, text := range values {
				separator := ":"
				if slices.Contains([]string{"vllm-bench", ofSglang, "evalscope"}, c.tool.name) {
					separator = "="
				}
				name, value, found := strings.Cut(text, separator)
				if !found || name == "" {
					c.fail("%s: %q is no NAME%sVALUE", s.flag.shown(), text, separator)
				}
				head.add(name, value)
			}
		case "api-key":
			head.add("Authorization", "Bearer "+s.value)
		case "temperature", "top-p", "top-k", "min-p", "presence-penalty", "frequency-penalty", "repetition-penalty",
			"min-tokens":
			if _, err := strconv.ParseFloat(s.value, 64); err != nil || !json.Valid([]byte(s.value)) {
				c.fail("%s: %q is no number", c.shown(s.flag), s.value)
				return
			}
			body[strings.ReplaceAll(s.flag.Names[0], "-", "_")] = json.RawMessage(s.value)
		}
	}
	for _, s := range c.given {
		if slices.Contains(fieldFlags, s.flag.Names[0]) {
			each := []string{s.value}
			if c.tool.name == "aiperf" && !strings.HasPrefix(s.value, "{") {
				each = strings.Split(s.value, ",")
			}
			for _, text := range each {
				maps.Copy(body, c.fieldsOf(s.flag, text))
			}
		}
	}
	c.setOutput(body)
	if len(slo) > 0 {
		c.set("slo", slo)
	}
	head.set()
	c.setBody(body)
}

// fieldFlags are the flags with further fields of requests. Those of aiperf and genai-perf have NAME:VALUE too.
var fieldFlags = names("extra-inputs|extra-body|extra-request-body|extra-args|additional-sampling-params")

// fieldsOf reads the fields of requests in the value of a flag.
func (c *call) fieldsOf(f *flag, text string) map[string]any {
	var all map[string]json.RawMessage
	name, value, found := strings.Cut(text, ":")
	switch {
	case json.Unmarshal([]byte(text), &all) == nil:
	case f.Names[0] != "extra-inputs":
		c.fail("%s: %q is no JSON object of fields", c.shown(f), text)
	case !found || strings.HasPrefix(text, "{"):
		c.fail("%s: %q is neither NAME:VALUE nor a JSON object of fields", c.shown(f), text)
	case json.Valid([]byte(value)):
		return map[string]any{name: json.RawMessage(value)}
	default:
		return map[string]any{name: value}
	}
	fields := map[string]any{}
	for name, text := range all {
		fields[name] = text
	}
	return fields
}

// setOutput moves what fields of requests ask of the length of answers into option output.
func (c *call) setOutput(body map[string]any) {
	output, _ := c.run.options["output"].(inline)
	for _, name := range names("max_tokens|max_completion_tokens") {
		if text, ok := body[name].(json.RawMessage); ok && isWhole(string(text)) {
			output = append(inline{{"tokens", literal(text)}}, output[min(1, len(output)):]...)
			c.set("output", output)
			delete(body, name)
		}
	}
	if slices.ContainsFunc(output, func(p pair) bool { return p.key == "exact" }) {
		delete(body, "ignore_eos")
		delete(body, "min_tokens")
	}
}

// setBody sets further fields of requests.
func (c *call) setBody(of map[string]any) {
	if len(of) == 0 {
		return
	}
	text, _ := json.Marshal(of) // it was JSON
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var all map[string]any
	if err := d.Decode(&all); err != nil {
		c.fail("fields of a request: %w", err)
	}
	c.set("body", fields(all))
}
