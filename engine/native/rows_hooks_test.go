//go:build weirtest

package native

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// words returns the finaliser of splitmix64 of seed + i, as testdata/rows/golden.py does.
func words(seed uint64, n int) []uint64 {
	list := make([]uint64, n)
	for i := range list {
		x := seed + uint64(i)
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		list[i] = x ^ x>>31
	}
	return list
}

func anyPatterns(seed uint64, n int) []uint16 {
	var list []uint16
	for _, w := range words(seed, (n+3)/4) {
		list = append(list, uint16(w), uint16(w>>16), uint16(w>>32), uint16(w>>48))
	}
	return list[:n]
}

func plainNumbers(seed uint64, n int) []uint16 {
	list := anyPatterns(seed, n)
	for i, p := range list {
		list[i] = p&0x8000 | (119+p>>7&15)<<7 | p&127
	}
	return list
}

// everyPattern returns all bit patterns, in groups of 127 with a largest value.
func everyPattern(most uint16) (list []uint16) {
	for p := range 1 << 16 {
		v, size := uint16(p), uint16(p)&0x7fff
		switch {
		case size == 0x7f80:
			v = 0
		case size > most && size < 0x7f80:
			v = most
		}
		if list = append(list, v); len(list)%128 == 127 {
			list = append(list, most)
		}
	}
	for len(list)%128 != 127 {
		list = append(list, 0)
	}
	return append(list, most)
}

// quantised quantises a row by one version, values and then scales, as the golden file digests them.
func quantised(v rowsVersion, x []uint16, scales string) []byte {
	values, stored := v.quantise(x, scales)
	return append(values, stored...)
}

// Rows equal those of numpy and ml_dtypes, bit for bit, with each instruction set.
func TestRowsAreThoseOfMLDtypes(t *testing.T) {
	content, err := os.ReadFile("testdata/rows/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string]string
	if err := json.Unmarshal(content, &golden); err != nil {
		t.Fatal(err)
	}
	for name, v := range rowsVersions() {
		got := map[string]string{}
		keep := func(key string, b []byte) { got[key] = fmt.Sprintf("%x", sha256.Sum256(b)) }
		for _, scales := range []string{"f32", "pow2", "ue8m0"} {
			for _, most := range []uint16{0x3f80, 0x43e0, 0x4000, 0x3eab, 0x477f, 0x7f7f} {
				keep(fmt.Sprintf("every %04x %s", most, scales), quantised(v, everyPattern(most), scales))
			}
			for _, channels := range []int{128, 512, 2048, 7168} {
				keep(fmt.Sprintf("any %d %s", channels, scales),
					quantised(v, anyPatterns(uint64(channels), 4*channels), scales))
				keep(fmt.Sprintf("plain %d %s", channels, scales),
					quantised(v, plainNumbers(uint64(channels), 4*channels), scales))
			}
		}
		keep("zeros", quantised(v, make([]uint16, 256), "f32"))
		for _, n := range []int{0, 1, 2, 8, 64} {
			all := plainNumbers(uint64(1000+n), max(n, 1)*512)
			weights := make([]float32, n)
			for i, w := range words(uint64(2000+n), n) {
				weights[i] = float32(w>>40) / (1 << 24)
			}
			keep(fmt.Sprintf("reduce %d", n), little16(v.reduce(512, slices.Collect(slices.Chunk(all, 512))[:n],
				weights)))
		}
		for key, want := range golden {
			if got[key] != want {
				t.Errorf("%s: %s is not what numpy has", name, key)
			}
		}
		if len(got) != len(golden) {
			t.Errorf("%d results, and the golden file has %d", len(got), len(golden))
		}
	}
}

func little16(list []uint16) (b []byte) {
	for _, v := range list {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	return b
}

// All versions agree, whatever the contents and the alignment of a row.
func TestVersionsOfRowsAgree(t *testing.T) {
	versions := rowsVersions()
	reference := versions["reference"]
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		channels := 128 * rapid.IntRange(1, 80).Draw(t, "groups")
		rows := make([][]uint16, rapid.IntRange(0, 9).Draw(t, "rows"))
		weights := make([]float32, len(rows))
		finite := rapid.Bool().Draw(t, "finite")
		for k := range rows {
			rows[k] = make([]uint16, channels)
			for i := range rows[k] {
				if rows[k][i] = uint16(rng.Uint32()); finite {
					rows[k][i] &= 0xbfff
				}
			}
			weights[k] = rng.Float32()
		}
		scales := rapid.SampledFrom([]string{"f32", "pow2", "ue8m0"}).Draw(t, "scales")
		for name, v := range versions {
			if len(rows) > 0 && !bytes.Equal(quantised(v, rows[0], scales), quantised(reference, rows[0], scales)) {
				t.Fatalf("%s quantises otherwise", name)
			}
			got, want := v.reduce(channels, rows, weights), reference.reduce(channels, rows, weights)
			for i := range got {
				// their bits differ with the order of operands
				bothNaN := got[i]&0x7fff > 0x7f80 && want[i]&0x7fff > 0x7f80
				if got[i] != want[i] && !bothNaN {
					t.Fatalf("%s: channel %d is %04x, should be %04x", name, i, got[i], want[i])
				}
			}
		}
	})
}

// Ties round to even.
func TestTiesOfFP8(t *testing.T) {
	bf16 := func(f float32) uint16 { return uint16(math.Float32bits(f) >> 16) }
	x := make([]uint16, 128)
	x[0] = bf16(448) // so that the scale is 1
	want := make([]byte, 128)
	want[0] = 0x7e
	for i, c := range []struct {
		value float32
		fp8   byte
	}{
		{1, 0x38}, {1.0625, 0x38}, {1.1875, 0x3a}, {-1.0625, 0xb8}, {17, 0x58}, {19, 0x5a}, {0x1p-9, 0x01},
		{0x1p-10, 0x00}, {0x1.8p-9, 0x02}, {0x1.4p-8, 0x02},
		{0x1.cp-7, 0x07}, {0x1.ep-7, 0x08}, {0x1p-6, 0x08}, {432, 0x7e}, {-0x1p-11, 0x80}, {240, 0x77}, {248, 0x78},
	} {
		x[i+1], want[i+1] = bf16(c.value), c.fp8
	}
	for name, v := range rowsVersions() {
		if got, _ := v.quantise(x, "f32"); !bytes.Equal(got, want) {
			t.Errorf("%s: got %x, want %x", name, got[:20], want[:20])
		}
	}
}

// BenchmarkRows measures the rates at which rows are read, and memcpy's at the same place.
func BenchmarkRows(b *testing.B) {
	for _, tokens := range []int{8, 4096} { // in the second-level cache, and in memory
		for name, v := range rowsVersions() {
			b.Run(fmt.Sprintf("%d/%s", tokens, name), func(b *testing.B) {
				quantise, reduce, copying := v.rates(7168, tokens)
				b.ReportMetric(quantise/1e9, "quantise-GB/s")
				b.ReportMetric(reduce/1e9, "reduce-GB/s")
				b.ReportMetric(reduce/copying, "reduce/memcpy")
			})
		}
	}
}
