// Sbom writes the SPDX document of a program: the modules in it, which the Go linker recorded, with their licences of
// docs/licences.md.
//
//	sbom PROGRAM VERSION < docs/licences.md > weir.spdx.json
package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"strconv"
	"time"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

func main() {
	log.SetFlags(0)
	licences, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	doc, err := describe(os.Args[1], os.Args[2], licences, os.Getenv("SOURCE_DATE_EPOCH"))
	if err == nil {
		err = spdxjson.Write(doc, os.Stdout, spdxjson.Indent(" "))
	}
	if err != nil {
		log.Fatal(err)
	}
}

var row = regexp.MustCompile(`(?m)^\| \[([^]]+)\]\([^)]+\) \| \S+ \| ([\w.-]+) \|$`)

// describe makes the document of a program, created at epoch, in seconds.
func describe(program, version string, licences []byte, epoch string) (*spdx.Document, error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	licence := map[string]string{"stdlib": "BSD-3-Clause", info.Main.Path: "Apache-2.0"}
	for _, m := range row.FindAllSubmatch(licences, -1) {
		licence[string(m[1])] = string(m[2])
	}
	sum := sha256.Sum256(content)
	doc := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName:      "weir-" + version,
		DocumentNamespace: fmt.Sprintf("https://%s/spdx/%s-%x", info.Main.Path, version, sum),
		CreationInfo: &spdx.CreationInfo{
			Created:  time.Unix(seconds, 0).UTC().Format(time.RFC3339),
			Creators: []common.Creator{{CreatorType: "Tool", Creator: "weir-sbom"}},
		},
	}
	add := func(path, version, of string) error {
		if licence[path] == "" {
			return fmt.Errorf("%s has no licence in docs/licences.md: run scripts/licences", path)
		}
		id := common.ElementID(fmt.Sprintf("Package-%d", len(doc.Packages)))
		doc.Packages = append(doc.Packages, &spdx.Package{
			PackageName: path, PackageSPDXIdentifier: id, PackageVersion: version,
			PackageDownloadLocation: "NOASSERTION", PackageLicenseConcluded: licence[path],
			PackageLicenseDeclared: licence[path], PackageCopyrightText: "NOASSERTION",
			PackageExternalReferences: []*spdx.PackageExternalReference{{
				Category: "PACKAGE-MANAGER", RefType: "purl", Locator: "pkg:golang/" + path + "@" + version,
			}},
		})
		doc.Relationships = append(doc.Relationships, &spdx.Relationship{
			RefA: common.MakeDocElementID("", of), RefB: common.MakeDocElementID("", string(id)),
			Relationship: map[bool]string{true: "DESCRIBES", false: "DEPENDS_ON"}[of == "DOCUMENT"],
		})
		return nil
	}
	if err := add(info.Main.Path, version, "DOCUMENT"); err != nil {
		return nil, err
	}
	doc.Packages[0].PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: fmt.Sprintf("%x", sum)}}
	if err := add("stdlib", info.GoVersion, "Package-0"); err != nil {
		return nil, err
	}
	for _, d := range info.Deps {
		if err := add(d.Path, cmp.Or(d.Replace, d).Version, "Package-0"); err != nil {
			return nil, err
		}
	}
	return doc, nil
}
