package prompt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// words are 256 short English words that most tokenizers encode as one token each, with the preceding space.
var words = strings.Fields(`
able acid also area army away baby back ball bank base bath bear beat been beer bell belt best bill
bird blow blue boat body bond bone book born boss both bowl bulk burn bush busy call calm came camp
card care case cash cast cell chat chip city club coal coat code cold come cook cool cope copy core
cost crew crop dark data date dawn days dead deal dean dear debt deep deny desk dial diet disc disk
does done door dose down draw drew drop drug dual duke dust duty each earn ease east easy edge else
even ever evil exit face fact fail fair fall farm fast fate fear feed feel feet fell felt file fill
film find fine fire firm fish five flat flow food foot ford form fort four free from fuel full fund
gain game gate gave gear gene gift girl give glad goal goes gold golf gone good gray grew grey grow
gulf hair half hall hand hang hard harm hate have head hear heat held hell help here hero high hill
hire hold hole holy home hope host hour huge hung hunt hurt idea inch into iron item jean
john join jump jury just keen keep kept kick kill kind king knee knew know lack lady laid lake
land lane last late lead left less life lift like line link list live load loan lock logo long look
lord lose loss lost love luck made mail main make male many mark mass meal mean meat meet menu
`)

// appendWords appends n words with spaces between them. Fewer words are a prefix of more.
func appendWords(b []byte, rng *rand.Rand, n int) []byte {
	drawn := uint64(0)
	for i := range n {
		if i%8 == 0 {
			drawn = rng.Uint64()
		}
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, words[drawn&255]...)
		drawn >>= 8
	}
	return b
}

// Calibration is the number of tokens that a tokenizer makes of a word, and of the rest of a prompt: its nonce and the
// server's template.
type Calibration struct{ PerWord, Base float64 }

// Uncalibrated is the default calibration.
var Uncalibrated = Calibration{PerWord: 1, Base: 12}

// Probe is the usage.prompt_tokens of a request of Set.Probe.
type Probe struct{ Words, Tokens int }

// Calibrate fits a calibration to probes (least squares). Probes of a single length determine only the tokens per word;
// the rest is the default.
func Calibrate(probes []Probe) (Calibration, error) {
	n, x, y, xx, xy := 0., 0., 0., 0., 0.
	for _, p := range probes {
		if p.Words < 1 || p.Tokens < 1 || p.Words > MaxTokens || p.Tokens > MaxTokens {
			return Calibration{}, fmt.Errorf("cannot calibrate by %d tokens in %d words", p.Tokens, p.Words)
		}
		w, t := float64(p.Words), float64(p.Tokens)
		n, x, y, xx, xy = n+1, x+w, y+t, xx+w*w, xy+w*t
	}
	if n == 0 {
		return Calibration{}, fmt.Errorf("there are no probes to calibrate by")
	}
	c := Calibration{Base: Uncalibrated.Base}
	if d := n*xx - x*x; d > 0 {
		c.PerWord = (n*xy - x*y) / d
		c.Base = max(0, (y-c.PerWord*x)/n)
	} else {
		if y <= n*c.Base {
			c.Base = 0
		}
		c.PerWord = (y - n*c.Base) / x
	}
	if !(c.PerWord >= 0.1 && c.PerWord <= 100) {
		return Calibration{}, fmt.Errorf("the server counts %.3g tokens for each word: does it report prompt_tokens?",
			c.PerWord)
	}
	return c, nil
}

// words returns the number of words for a prompt of this many tokens with a nonce.
func (c Calibration) words(tokens int) int { return c.plain(float64(tokens) - c.Base) }

// plain returns the number of words for this many tokens, without a nonce.
func (c Calibration) plain(tokens float64) int { return max(1, int(math.Round(tokens/c.PerWord))) }
