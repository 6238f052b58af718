package routing

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func settings(ranks, perRank, topK, tokens int, kind string) Settings {
	return Settings{
		Ranks: ranks, PerRank: perRank, TopK: topK, Tokens: Tokens{tokens, tokens}, Kind: kind, Seed: 1,
		MaxVio: 1, Exponent: 1, Hot: 1, HotShare: 0.05, Groups: 4,
	}
}

func table(t testing.TB, s Settings) *Table {
	t.Helper()
	made, err := Make(s)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// The mean number of different ranks that a token goes to, with 8 of 256 experts chosen without
// replacement, is R (1 - C(256-256/R, 8) / C(256, 8)).
func TestRanksOfAToken(t *testing.T) {
	for ranks, want := range map[int]float64{8: 5.30, 4: 3.61} {
		got := table(t, settings(ranks, 256/ranks, 8, 4096, TopK)).Amounts().Passed
		if math.Abs(got-want) > 0.02 {
			t.Errorf("%d ranks: %.3f, want %v", ranks, got, want)
		}
	}
}

// NIXL EP's test selects with replacement: of 64 experts twice the same in 1/64 of the tokens.
func TestUniformSelectsTwice(t *testing.T) {
	made, twice := table(t, settings(8, 8, 2, 8192, Uniform)), 0
	for _, list := range made.Experts {
		for i := 0; i < len(list); i += 2 {
			if list[i] == list[i+1] {
				twice++
			}
		}
	}
	if share := float64(twice) / (8 * 8192); math.Abs(share-1./64) > 0.002 {
		t.Errorf("%.4f of the tokens select an expert twice, want 0.0156", share)
	}
}

func drawSettings(t *rapid.T) Settings {
	s := settings(rapid.IntRange(2, 9).Draw(t, "ranks"), rapid.IntRange(1, 12).Draw(t, "experts"), 1, 0,
		rapid.SampledFrom(Kinds).Draw(t, "kind"))
	s.TopK = rapid.IntRange(1, min(8, s.Ranks*s.PerRank)).Draw(t, "top_k")
	s.Tokens.Most = rapid.IntRange(1, 60).Draw(t, "tokens")
	s.Tokens.Least = rapid.IntRange(0, s.Tokens.Most).Draw(t, "least")
	s.Seed = rapid.Uint64().Draw(t, "seed")
	s.MaxVio = rapid.Float64Range(0, float64(s.Ranks*s.PerRank)/float64(s.TopK)-1).Draw(t, "maxvio")
	s.Exponent = rapid.Float64Range(0, 4).Draw(t, "exponent")
	s.Hot = rapid.IntRange(1, max(1, s.Ranks*s.PerRank-1)).Draw(t, "hot")
	s.HotShare = rapid.Float64Range(0, 1).Draw(t, "share")
	s.Groups = rapid.IntRange(1, s.Ranks*s.PerRank).Draw(t, "groups")
	s.Masked = rapid.SampledFrom([]float64{0, 0, 0.3, 1}).Draw(t, "masked")
	return s
}

// For any settings: equal settings give equal routes; a token's experts exist and, except with uniform, differ; weights
// add up to 1; the requested share of selections is masked.
func TestAnyTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSettings(t)
		if s.Check() != nil {
			t.Skip("refused")
		}
		made, err := Make(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Make(s)
		if err != nil || made.Digest() != again.Digest() {
			t.Fatalf("another table of the same settings, %v", err)
		}
		for rank, n := range made.Tokens {
			if n < s.Tokens.Least || n > s.Tokens.Most || len(made.Experts[rank]) != n*s.TopK {
				t.Fatalf("rank %d: %d tokens, %d selections", rank, n, len(made.Experts[rank]))
			}
			masked := 0
			for token := range n {
				masked += checkToken(t, made, rank, token, s)
			}
			if want := int(math.Round(s.Masked * float64(n*s.TopK))); masked != want {
				t.Fatalf("rank %d: %d masked, want %d", rank, masked, want)
			}
		}
	})
}

func checkToken(t *rapid.T, made *Table, rank, token int, s Settings) (masked int) {
	seen, sum := map[int]bool{}, 0.
	for k := range s.TopK {
		e, w := made.Selection(rank, token, k), made.Weights[rank][token*s.TopK+k]
		sum += float64(w)
		if e == Masked {
			masked++
			if w != 0 {
				t.Fatalf("a masked selection weighs %v", w)
			}
			continue
		}
		if e < 0 || e >= made.All() || w <= 0 || seen[e] && s.Kind != Uniform {
			t.Fatalf("rank %d, token %d: expert %d of %d, weight %v, twice %v", rank, token, e, made.All(), w, seen[e])
		}
		seen[e] = true
	}
	if masked < s.TopK && math.Abs(sum-1) > 1e-5 {
		t.Fatalf("weights of token %d add up to %v", token, sum)
	}
	return masked
}

// The requested imbalance is met within 2 %, or to the nearest token.
func TestMaxVioIsMet(t *testing.T) {
	for _, want := range []float64{0, 0.05, 0.5, 1, 2, 4} {
		for _, tokens := range []int{16, 128, 512, 4096} {
			s := settings(8, 36, 8, tokens, Lognormal)
			s.MaxVio = want
			a := table(t, s).Amounts()
			mean := float64(8*tokens*8) / 288
			if off := math.Abs(a.MaxVio - want); off > 0.02*want && off*mean > 1 {
				t.Errorf("%d tokens, maxvio %v: got %.4f", tokens, want, a.MaxVio)
			}
		}
	}
}

// The popularity of experts follows the settings.
func TestPopularity(t *testing.T) {
	s := settings(4, 16, 2, 4096, Zipf)
	counts := table(t, s).Amounts().Experts
	slices.Sort(counts)
	first, tenth := counts[len(counts)-1], counts[len(counts)-10]
	if ratio := float64(first) / float64(tenth); math.Abs(ratio-10) > 0.1 {
		t.Errorf("the first expert is selected %.2f times as often as the tenth, want 10", ratio)
	}
	s.Kind, s.Hot, s.HotShare = Hot, 3, 0.6
	counts = table(t, s).Amounts().Experts
	slices.Sort(counts)
	hot := 0
	for _, n := range counts[len(counts)-3:] {
		hot += n
	}
	if share := float64(hot) / (4 * 4096 * 2); math.Abs(share-0.6) > 0.001 {
		t.Errorf("3 hot experts have %.4f of the selections, want 0.6", share)
	}
	s.Kind, s.Groups = Group, 8
	made := table(t, s)
	for token := range made.Tokens[0] {
		groups := map[int]bool{}
		for k := range s.TopK {
			groups[made.Selection(0, token, k)/8] = true
		}
		if len(groups) > 4 {
			t.Fatalf("token %d selects from %d groups of 8", token, len(groups))
		}
	}
}

// Plans depend on routes: this test detects any change of them.
func TestDigests(t *testing.T) {
	for kind, want := range map[string]string{
		Uniform: "3b09235d20cfb47d", TopK: "b9ceebf35ad49340", Lognormal: "d069941e216bf6cd", Zipf: "cec5bfa60b999554",
		Hot: "b4f144d2837b3b8f", Group: "ce08bfd98ad67069",
	} {
		if got := table(t, settings(8, 36, 8, 128, kind)).Digest(); got != want {
			t.Errorf("routing %s has digest %s, want %s", kind, got, want)
		}
	}
}

func TestInvalidSettings(t *testing.T) {
	for want, change := range map[string]func(*Settings){
		"there is no routing":             func(s *Settings) { s.Kind = "x" },
		"selects 9 different experts":     func(s *Settings) { s.TopK = 9 },
		"has at most 4 times the mean":    func(s *Settings) { s.Kind, s.MaxVio = Lognormal, 3.1 },
		"at least one must be hot":        func(s *Settings) { s.Kind, s.Hot = Hot, 8 },
		"which allows 50%":                func(s *Settings) { s.Kind, s.HotShare = Hot, 0.6 },
		"cannot be divided into 3 groups": func(s *Settings) { s.Kind, s.Groups = Group, 3 },
		"from 2 groups of 1, which have too f": func(s *Settings) {
			s.Kind, s.Groups, s.Ranks, s.PerRank, s.TopK = Group, 4, 4, 1, 3
		},
	} {
		s := settings(4, 2, 2, 16, TopK)
		change(&s)
		if _, err := Make(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestParseTokens(t *testing.T) {
	for text, want := range map[string]Tokens{"512": {512, 512}, "uniform:0,40": {0, 40}, "uniform: 3, 9": {3, 9}} {
		if got, err := ParseTokens(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "x", "-1", "0", "uniform:", "uniform:3", "uniform:9,3", "uniform:0,0", "1,2", "1048577",
	} {
		if got, err := ParseTokens(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func BenchmarkMake(b *testing.B) {
	for _, kind := range Kinds {
		b.Run(kind, func(b *testing.B) {
			for b.Loop() {
				if _, err := Make(settings(8, 32, 8, 4096, kind)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ExampleTable_Amounts() {
	made, _ := Make(settings(4, 4, 2, 100, TopK))
	a := made.Amounts()
	fmt.Printf("%.2f ranks a token, maxvio %.2f\n", a.Passed, a.MaxVio)
	// Output: 1.78 ranks a token, maxvio 0.18
}
