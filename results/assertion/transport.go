package assertion

import "strings"

// Share selects all, any or none of a launch's transports.
type Share string

// The shares.
const (
	All  Share = "all"  // every transport that carried data is named
	Some Share = "some" // at least one is
	None Share = "none" // none is
)

// Transport is an assertion on the transports that carried the data of each launch, as the fabric's
// library names them.
type Transport struct {
	Of     Share    `json:"of" doc:"Whether all, some or none of the transports that carried data are named." schema:"enum=all|some|none"`
	Names  []string `json:"names" schema:"minItems=1,minLength=1"` // at least one
	Prefix bool     `json:"prefix,omitzero" doc:"The names are beginnings of names."`
}

// Matches reports whether a transport is named: by its name, by a layer of a name such as tcp;ofi_rxm, or
// by name/device. With Prefix a prefix of any of these suffices.
func (t *Transport) Matches(name, device string) bool {
	known := append(strings.Split(name, ";"), name)
	if device != "" {
		for _, n := range known[:len(known):len(known)] {
			known = append(known, n+"/"+device)
		}
	}
	for _, want := range t.Names {
		for _, n := range known {
			if n == want || t.Prefix && strings.HasPrefix(n, want) {
				return true
			}
		}
	}
	return false
}

// String is the assertion in words: "every transport is rc_mlx5".
func (t *Transport) String() string {
	verb := "is"
	if t.Prefix {
		verb = "starts with"
	}
	return map[Share]string{All: "every", Some: "some", None: "no"}[t.Of] + " transport " + verb + " " +
		strings.Join(t.Names, " or ")
}
