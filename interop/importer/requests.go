package importer

import (
	"bytes"
	"encoding/json"
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
		case "extra-inputs", "extra-body", "extra-args", "additional-sampling-params":
			c.addField(s.value, body)
		case "temperature", "top-p", "top-k", "frequency-penalty", "repetition-penalty":
			c.addField(strings.ReplaceAll(s.flag.Names[0], "-", "_")+":"+s.value, body)
		}
	}
	if len(slo) > 0 {
		c.set("slo", slo)
	}
	head.set()
	c.setBody(body)
}

// addField reads NAME:VALUE or a JSON object. What asks for the length of answers is option output.
func (c *call) addField(text string, body map[string]any) {
	more := map[string]any{}
	if name, value, found := strings.Cut(text, ":"); !strings.HasPrefix(text, "{") && found {
		if more[name] = value; json.Valid([]byte(value)) {
			more[name] = json.RawMessage(value)
		}
	} else if json.Unmarshal([]byte(text), &more) != nil {
		c.fail("%q is neither NAME:VALUE nor a JSON object of fields", text)
	}
	for name, value := range more {
		switch name {
		case "ignore_eos", "min_tokens", "max_tokens":
		default:
			body[name] = value
		}
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
