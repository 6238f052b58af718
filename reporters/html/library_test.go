package html

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// libraryDigest is of charts/echarts.js as scripts/charts built it, which prints it: who changes the
// library changes this line, and nobody changes the file by hand.
const libraryDigest = "7c10f582868cc400cab3ba2caefa00bb7dfd71aa53a7b25d3b0be865c3e8feff"

// The library in the page is what scripts/charts made of the version in package.json, is small
// enough for a page, says whose it is, and its licences are beside it.
func TestLibrary(t *testing.T) {
	if got := fmt.Sprintf("%x", sha256.Sum256([]byte(library))); got != libraryDigest {
		t.Errorf("echarts.js has the digest %s, and not that of the build; run scripts/charts", got)
	}
	if len(library) >= 600e3 {
		t.Errorf("echarts.js has %d bytes", len(library))
	}
	if strings.Contains(library, "</script") || strings.Contains(library, "<!--") {
		t.Error("echarts.js would end its element")
	}
	b, err := os.ReadFile("charts/package.json")
	if err != nil {
		t.Fatal(err)
	}
	var of struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal(b, &of); err != nil {
		t.Fatal(err)
	}
	banner, _, _ := strings.Cut(library, "\n")
	if !strings.Contains(banner, "Apache ECharts "+of.Dependencies["echarts"]+" ") {
		t.Errorf("the file begins with %q and package.json has %v", banner, of.Dependencies)
	}
	licences, err := os.ReadFile("charts/LICENSES.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Apache License", "The Apache Software Foundation", "Copyright (c) 2017, Baidu Inc.",
		"Mike Bostock", "Microsoft Corporation"} {
		if !strings.Contains(string(licences), want) {
			t.Errorf("LICENSES.txt does not have %q", want)
		}
	}
}
