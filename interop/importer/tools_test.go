package importer

import "testing"

// Mistakes in a file of tools/ are errors.
func TestFileOfTool(t *testing.T) {
	for name, text := range map[string]string{
		"an unknown key":   "style: getopt\nflagz: []\n",
		"an unknown style": "style: posix\n",
		"no fate":          "style: getopt\nflags: [{flag: a}]\n",
		"two fates":        "style: getopt\nflags: [{flag: a, option: b, ignored: c}]\n",
		"an unknown kind":  "style: getopt\nflags: [{flag: a, takes: real, ignored: c}]\n",
	} {
		if (&tool{}).load([]byte(text)) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
