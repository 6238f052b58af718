package assertion

import "strings"

// Provider is an assertion on a fact of the fabric's provider, as the fabric's library reports it in each
// launch.
type Provider struct {
	Fact   string   `json:"fact" doc:"As the library names it: hmem_p2p." schema:"minLength=1"`
	Not    bool     `json:"not,omitzero" doc:"None of the values, rather than one of them."`
	Values []string `json:"values" schema:"minItems=1,minLength=1"` // at least one
}

// String is the assertion in words: "provider.hmem_p2p is enabled".
func (p *Provider) String() string {
	verb := " is "
	if p.Not {
		verb = " is not "
	}
	return "provider." + p.Fact + verb + strings.Join(p.Values, " or ")
}
