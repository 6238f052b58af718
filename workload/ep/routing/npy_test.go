package routing

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// npy is an array file as numpy.save writes it.
func npy(descr string, fortran bool, shape string, data []byte) []byte {
	order := "False"
	if fortran {
		order = "True"
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }", descr, order, shape)
	return npyOf(head, data)
}

// npyOf is an array file with a header.
func npyOf(head string, data []byte) []byte {
	head += strings.Repeat(" ", 63-(10+len(head))%64) + "\n"
	out := append([]byte("\x93NUMPY\x01\x00"), binary.LittleEndian.AppendUint16(nil, uint16(len(head)))...)
	return slices.Concat(out, []byte(head), data)
}

func little[T any](values ...T) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, values)
	return b.Bytes()
}

func TestReadNPY(t *testing.T) {
	want := [][]int32{{0, 3, -1, 7}, {1, 2, 3, 4}}
	for descr, data := range map[string][]byte{
		"<i8": little[int64](0, 3, -1, 7, 1, 2, 3, 4), "<i4": little[int32](0, 3, -1, 7, 1, 2, 3, 4),
		"<i2": little[int16](0, 3, -1, 7, 1, 2, 3, 4), "|i1": little[int8](0, 3, -1, 7, 1, 2, 3, 4),
	} {
		got, topK, err := ReadNPY(npy(descr, false, "2, 2, 2", data))
		if err != nil || topK != 2 || !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s: %v, %d, %v", descr, got, topK, err)
		}
		again, topK, err := ParseCompact(Compact(got, topK))
		if err != nil || topK != 2 || !slices.EqualFunc(again, want, slices.Equal) {
			t.Errorf("compact %s: %v, %d, %v", descr, again, topK, err)
		}
	}
	good := little[int32](1, 2, 3, 4)
	other := npyOf("{'shape':(1,2,2),'fortran_order':False,'descr':'<i4'}", good)
	if got, topK, err := ReadNPY(other); err != nil || topK != 2 || !slices.Equal(got[0], []int32{1, 2, 3, 4}) {
		t.Errorf("keys in another order: %v, %d, %v", got, topK, err)
	}
	for want, content := range map[string][]byte{
		"no array file":     []byte("routes"),
		"header is cut":     npy("<i4", false, "1, 2, 2", good)[:20],
		"other numbers":     npy("<f4", false, "1, 2, 2", good),
		"lacks descr":       npyOf("{'descr': '<i4', 'shape': (1, 2, 2), }", good),
		"Fortran":           npy("<i4", true, "1, 2, 2", good),
		"highest byte":      npy(">i4", false, "1, 2, 2", good),
		"routes are [ranks": npy("<i4", false, "2, 2", good),
		"the shape":         npy("<i4", false, "0, 2, 2", good),
		"cut short, or has": npy("<i4", false, "1, 2, 3", good),
		"expert 1073741824": npy("<i4", false, "1, 1, 1", little[int32](1<<30)),
		"expert -2":         npy("<i4", false, "1, 2, 2", little[int32](1, 2, -2, 4)),
	} {
		if got, _, err := ReadNPY(content); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, %v, want %q", got, err, want)
		}
	}
}

func TestRoutesOfAFile(t *testing.T) {
	s := Settings{Ranks: 2, PerRank: 4, TopK: 2, Kind: "file", Seed: 5}
	made, err := FromExperts(s, [][]int32{{0, 3, -1, 7}, {1, 2, 3, 4}})
	if err != nil || made.Tokens[0] != 2 || made.Selection(0, 1, 0) != Masked || made.Weights[0][2] != 0 ||
		made.Weights[0][3] != 1 {
		t.Errorf("%+v, %v", made, err)
	}
	if _, err := FromExperts(s, [][]int32{{0, 8}, {1, 2}}); err == nil ||
		!strings.Contains(err.Error(), "expert 8, and there are 8") {
		t.Error(err)
	}
	if _, err := FromExperts(s, [][]int32{{0, 1}}); err == nil ||
		!strings.Contains(err.Error(), "1 ranks, expected 2") {
		t.Error(err)
	}
}

// FuzzReadNPY searches in whole files, and in those with the frame that the first check asks for.
func FuzzReadNPY(f *testing.F) {
	f.Add("<", "i4", false, "1, 2, 2", little[int32](1, 2, 3, 4))
	f.Add("|", "u1", false, "1, 1, 1", []byte{1})
	f.Add("<", "i8", false, "2, 1, 1", little[int64](-1, 7))
	f.Add("<", "u8", false, "1, 2, 1", little[int64](1<<30-1, 1<<30))
	f.Add(">", "u2", true, "1, 1, 1,", npy("<i2", false, "1, 1, 2", little[int16](-1, 3)))
	f.Fuzz(func(t *testing.T, order, kind string, fortran bool, shape string, content []byte) {
		files := [][]byte{content}
		if len(order)+len(kind)+len(shape) < 1<<10 {
			files = append(files, npy(order+kind, fortran, shape, content))
		}
		for _, file := range files {
			experts, topK, err := ReadNPY(file)
			if err != nil {
				continue
			}
			again, k, err := ParseCompact(Compact(experts, topK))
			if err != nil || k != topK || !slices.EqualFunc(again, experts, slices.Equal) {
				t.Errorf("%v became %v, %d, %v", experts, again, k, err)
			}
		}
	})
}

func FuzzParseCompact(f *testing.F) {
	f.Add(Compact([][]int32{{0, 3, -1, 7}, {1, 2, 3, 4}}, 2))
	f.Fuzz(func(t *testing.T, content []byte) {
		experts, topK, err := ParseCompact(content)
		if err != nil {
			return
		}
		if again, k, err := ParseCompact(Compact(experts, topK)); err != nil || k != topK ||
			!slices.EqualFunc(again, experts, slices.Equal) {
			t.Errorf("%v became %v, %v", experts, again, err)
		}
	})
}
