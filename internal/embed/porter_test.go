package embed

import "testing"

// The words cover each step of the algorithm.
func TestPorter(t *testing.T) {
	for _, test := range [][2]string{
		{"caresses", "caress"}, {"ponies", "poni"}, {"ties", "ti"}, {"caress", "caress"}, {"cats", "cat"},
		{"feed", "feed"}, {"plastered", "plaster"}, {"bled", "bled"}, {"motoring", "motor"}, {"sing", "sing"},
		{"conflated", "conflat"}, {"troubled", "troubl"}, {"sized", "size"}, {"hopping", "hop"}, {"tanned", "tan"},
		{"falling", "fall"}, {"hissing", "hiss"}, {"fizzed", "fizz"}, {"failing", "fail"}, {"filing", "file"},
		{"happy", "happi"}, {"sky", "sky"}, {"toying", "toi"},
		{"relational", "relat"}, {"conditional", "condit"}, {"rational", "ration"}, {"digitizer", "digit"}, {"radically", "radic"},
		{"analogously", "analog"}, {"vietnamization", "vietnam"}, {"operator", "oper"}, {"feudalism", "feudal"},
		{"decisiveness", "decis"}, {"hopefulness", "hope"}, {"formality", "formal"}, {"sensitivity", "sensit"}, {"sensibility", "sensibl"},
		{"possibly", "possibl"}, {"archaeology", "archaeolog"},
		{"triplicate", "triplic"}, {"formative", "form"}, {"formalize", "formal"}, {"electrical", "electr"}, {"goodness", "good"},
		{"revival", "reviv"}, {"allowance", "allow"}, {"adjustable", "adjust"}, {"replacement", "replac"}, {"adoption", "adopt"},
		{"communism", "commun"}, {"effective", "effect"}, {"opinion", "opinion"},
		{"probate", "probat"}, {"rate", "rate"}, {"cease", "ceas"}, {"controlling", "control"}, {"roll", "roll"},
		{"is", "is"}, {"ing", "ing"}, {"eed", "eed"}, {"yyy", "yyi"}, {"ss", "ss"}, {"ion", "ion"},
	} {
		if got := string(porter([]byte(test[0]))); got != test[1] {
			t.Errorf("%s: %s, want %s", test[0], got, test[1])
		}
	}
}
