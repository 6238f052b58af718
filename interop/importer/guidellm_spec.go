package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/datafile"
)

// guidellmFields are the members of specifications of guidellm from 0.7 on, as kind=constant,rate=10, with the flags of
// earlier versions that say the same; "": it changes no load.
var guidellmFields = map[string]string{
	"backend openai_http": "target=target model=model request_format=request-type timeout= timeout_connect= http2= " +
		"follow_redirects= verify= validate_backend=",
	"profile synchronous":              "",
	"profile concurrent":               "streams=rate",
	"profile throughput":               "max_concurrency=rate",
	"profile constant":                 "rate=rate",
	"profile async":                    "rate=rate",
	"profile poisson":                  "rate=rate",
	"constraint max_duration":          "seconds=max-seconds",
	"constraint max_requests":          "count=max-requests",
	"constraint max_errors":            "count=max-errors",
	"constraint max_error_rate":        "rate=max-error-rate window=",
	"constraint max_global_error_rate": "rate=max-global-error-rate minimum=",
	"seed static":                      "value=random-seed",
}

// guidellmSpecs returns the settings of earlier versions that say what specifications do, and leaves their kinds.
func guidellmSpecs(c *call, o Options) (all []setting, err error) {
	if o.AsCommand {
		return nil, nil
	}
	for i := range c.given {
		s := &c.given[i]
		name := s.flag.Names[0]
		if name == "override" {
			field, values, _ := strings.Cut(s.value, " ")
			if field != "profile.streams" && field != "profile.rate" {
				c.unmappedFlag("--override %s: weir knows profile.streams and profile.rate", field)
			}
			all = append(all, setting{flag: c.tool.flag("rate"), value: values})
			continue
		}
		spec := specOf(s.value)
		kind := spec["kind"]
		if kind == "" || !slices.Contains(names("backend|profile|constraint|data|seed"), name) {
			continue
		}
		delete(spec, "kind")
		s.value = kind
		if name == "data" && kind == "synthetic_text" {
			s.value = joinedSpec(spec)
			continue
		}
		more, err := c.guidellmSpec(name, kind, spec)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// guidellmSpec returns the settings of one specification.
func (c *call) guidellmSpec(name, kind string, spec map[string]string) (all []setting, err error) {
	fields, known := guidellmFields[name+" "+kind]
	if !known {
		if name != "profile" && name != "data" { // those are refused by their kind
			c.unmappedFlag("--%s kind=%s has no equivalent", name, kind)
		}
		return nil, nil
	}
	to := map[string]string{}
	for field := range strings.FieldsSeq(fields) {
		from, flag, _ := strings.Cut(field, "=")
		to[from] = flag
	}
	for _, field := range sortedKeys(spec) {
		flag, known := to[field]
		switch {
		case known && flag == "":
		case known:
			s := setting{flag: c.tool.flag(flag), value: spec[field]}
			if err := s.check("--" + name + " " + field); err != nil {
				return nil, err
			}
			all = append(all, s)
		case name == "profile" && field == "max_concurrency" && isWhole(spec[field]):
			c.set("max_in_flight", literal(spec[field]))
		case name == "backend" && field == "stream" && strings.EqualFold(spec[field], "false"):
			c.set("stream", truth(false))
		case name == "backend" && field == "stream":
		default:
			c.unmappedFlag("--%s %s=%s has no equivalent", name, field, spec[field])
		}
	}
	return all, nil
}

// specOf reads NAME=VALUE,…, or a mapping in JSON or YAML; nil: it is neither.
func specOf(text string) map[string]string {
	spec := map[string]string{}
	var fields map[string]any
	if datafile.Decode([]byte(text), &fields) == nil {
		for name, v := range fields {
			spec[name] = strings.ReplaceAll(strings.Trim(fmt.Sprint(v), "[]"), " ", ",")
		}
		return spec
	}
	for field := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(field, "=")
		if !found {
			return nil
		}
		spec[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return spec
}

// joinedSpec formats a specification.
func joinedSpec(spec map[string]string) string {
	var fields []string
	for _, name := range sortedKeys(spec) {
		fields = append(fields, name+"="+spec[name])
	}
	return strings.Join(fields, ",")
}

// guidellmSince04 are flags that guidellm has from 0.4 on; before, it sent text completions by default.
var guidellmSince04 = names("profile|backend|backend-kwargs|request-type|request-format|request-formatter-kwargs|" +
	"data-samples|data-column-mapper|data-num-workers|dataloader-kwargs|output-dir|outputs|disable-console|" +
	"disable-console-interactive|warmup|cooldown|rampup|sample-requests|max-errors|max-error-rate|" +
	"max-global-error-rate|over-saturation|detect-saturation|default-over-saturation|constraint|override")

// guidellmInterface returns the interface that guidellm loads.
func (c *call) guidellmInterface() string {
	route := c.taken("GUIDELLM__PREFERRED_ROUTE")
	if of := c.first("request-type"); of != "" {
		return of
	}
	since04 := !slices.Contains(c.whole, "benchmark")
	for _, s := range c.given {
		since04 = since04 || s.words != nil && slices.Contains(guidellmSince04, s.written())
	}
	switch {
	case route != "":
		return route
	case since04:
		return "chat"
	}
	if !c.has("output-extras") {
		c.warn("requests go to /v1/completions, as of guidellm up to 0.3; later versions send them to " +
			"/v1/chat/completions, and their --request-type says which")
	}
	return "completions"
}

// written is the name of a flag as written, without dashes.
func (s *setting) written() string {
	name, _, _ := strings.Cut(strings.TrimLeft(s.words[0], "-"), "=")
	return strings.ReplaceAll(name, "_", "-")
}

// refuseVariables fails for variables by which guidellm is told what flags say.
func (c *call) refuseVariables() {
	for _, v := range c.run.env {
		if strings.HasPrefix(v.Name, "GUIDELLM_") && !strings.HasPrefix(v.Name, "GUIDELLM__LOGGING") {
			c.unmappedFlag("variable %s: write what it sets as a flag", v.Name)
		}
	}
}
